/* A child made by fork allocates, frees two of the objects that it inherited, and ends by exit. Each process must have
 * its own file: the parent's shows 5 of 100 bytes from before and 2 of 300 from after, all kept; the child's shows its
 * own 3 of 200 bytes alone, no inherited object and no free. */
#include <sys/wait.h>
#include "check.h"

FRAME void before(void) {
    for (int i = 0; i < 5; i++) keep(malloc(100));
}

FRAME void in_child(void) {
    for (int i = 0; i < 3; i++) keep(malloc(200));
    free(kept[0]);
    free(kept[1]);
}

FRAME void after(void) {
    for (int i = 0; i < 2; i++) keep(malloc(300));
}

int main(void) {
    before();
    pid_t child = fork();
    if (child == 0) {
        in_child();
        exit(7);
    }
    after();
    int status;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    say("child ended");
    return 0;
}
