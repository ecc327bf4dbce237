/* Each function of the exec family in a child of its own, which keeps one object of 100 + n bytes before and becomes
 * /bin/true in an environment without the monitor. What was recorded must have been written before: one file a child,
 * with its object, and the first process's with nothing kept. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/wait.h>
#include "check.h"

enum { FUNCTIONS = 9 };
static char *arguments[] = {"true", 0}, *environment[] = {"PATH=/usr/bin:/bin", 0};

FRAME void keep_one(int n) { keep(malloc(100 + (size_t)n)); }

static void become(int n) {
    unsetenv("LD_PRELOAD"); /* for those that pass the environment on */
    switch (n) {
    case 0: execve("/bin/true", arguments, environment); break;
    case 1: execv("/bin/true", arguments); break;
    case 2: execvp("true", arguments); break;
    case 3: execvpe("true", arguments, environment); break;
    case 4: execl("/bin/true", "true", (char *)0); break;
    case 5: execlp("true", "true", (char *)0); break;
    case 6: execle("/bin/true", "true", (char *)0, environment); break;
    case 7: fexecve(open("/bin/true", O_RDONLY | O_CLOEXEC), arguments, environment); break;
    case 8: execveat(AT_FDCWD, "/bin/true", arguments, environment, 0); break;
    }
}

int main(void) {
    free(malloc(1));
    for (int n = 0; n < FUNCTIONS; n++) {
        pid_t child = fork();
        if (child == 0) {
            keep_one(n);
            become(n);
            _exit(1);
        }
        int status;
        CHECK(waitpid(child, &status, 0) == child && status == 0);
    }
    say("%d functions", FUNCTIONS);
    return 0;
}
