/* A program that overwrites and clears its environment, its arguments and its name. The profile must be in the usual
 * place, with 2 objects of 170 bytes kept; a child forked later still has a file of its own, with 1 of 180. */
#define _GNU_SOURCE
#include <sys/prctl.h>
#include <sys/wait.h>
#include "check.h"

extern char **environ;

FRAME void in_parent(void) {
    keep(malloc(170));
    keep(malloc(170));
}

FRAME void in_child(void) { keep(malloc(180)); }

int main(int argc, char **argv) {
    in_parent();
    for (char **variable = environ; *variable; variable++) memset(*variable, 'z', strlen(*variable));
    clearenv();
    environ = 0;
    for (int i = 0; i < argc; i++) memset(argv[i], 'y', strlen(argv[i]));
    prctl(PR_SET_NAME, "renamed) S 1 (");
    pid_t child = fork();
    if (child == 0) {
        in_child();
        exit(0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    say("bare of environment");
    return 0;
}
