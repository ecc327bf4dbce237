/* The program starts itself again by posix_spawn, posix_spawnp, system and popen. Each child keeps 100 + n bytes and
 * must have a file of its own; the first process's shows 6 objects of 500 bytes kept by keep_six. */
#define _GNU_SOURCE
#include <spawn.h>
#include <sys/wait.h>
#include "check.h"

extern char **environ;

FRAME void in_child(size_t n) { keep(malloc(100 + n)); }

FRAME void keep_six(void) {
    for (int i = 0; i < 6; i++) keep(malloc(500));
}

int main(int argc, char **argv) {
    if (argc > 1) {
        in_child((size_t)atoi(argv[1]));
        return 3;
    }
    static char own[4096], command[4200];
    CHECK(readlink("/proc/self/exe", own, sizeof own - 1) > 0);
    int status;
    pid_t child;
    CHECK(posix_spawn(&child, own, 0, 0, (char *[]){own, "1", 0}, environ) == 0);
    CHECK(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 3);
    CHECK(posix_spawnp(&child, own, 0, 0, (char *[]){own, "2", 0}, environ) == 0);
    CHECK(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 3);
    CHECK(posix_spawn(&child, "/nonexistent/program", 0, 0, (char *[]){own, 0}, environ) != 0);
    snprintf(command, sizeof command, "'%s' 3", own);
    CHECK(WEXITSTATUS(system(command)) == 3);
    snprintf(command, sizeof command, "'%s' 4", own);
    FILE *pipe = popen(command, "r");
    CHECK(pipe && getc(pipe) == EOF);
    CHECK(WEXITSTATUS(pclose(pipe)) == 3);
    keep_six();
    say("four children");
    return 0;
}
