/* vfork children share their parent's memory and its files' offsets: one ends by _exit, one fails to exec, one execs.
 * None may end the parent's recording nor write a file of its own before it has exec'd. The parent keeps 3 objects of
 * 111 bytes before and 4 of 222 after; what a child allocates and frees is the parent's. */
#define _GNU_SOURCE
#include <sys/wait.h>
#include "check.h"

static char *nothing[] = {0};

FRAME void before(void) {
    for (int i = 0; i < 3; i++) keep(malloc(111));
}

FRAME void after(void) {
    for (int i = 0; i < 4; i++) keep(malloc(222));
}

static void ended(pid_t child, int wanted) {
    int status;
    CHECK(child > 0);
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == wanted);
}

int main(void) {
    before();
    pid_t child = vfork();
    if (child == 0) {
        free(malloc(33));
        _exit(5);
    }
    ended(child, 5);
    child = vfork();
    if (child == 0) {
        execve("/nonexistent/program", nothing, nothing);
        _exit(6);
    }
    ended(child, 6);
    child = vfork();
    if (child == 0) {
        execve("/bin/true", (char *[]){"true", 0}, nothing); /* without LD_PRELOAD: it writes nothing */
        _exit(8);
    }
    ended(child, 0);
    after();
    say("three children");
    return 0;
}
