/* Runs a program and says what it took: runner RESULT LIBRARY PROGRAM [ARGUMENT…]. LIBRARY is preloaded into the program
 * alone (empty for none). RESULT gets a line: exit status as wait4 gives it, seconds elapsed, processor seconds, and
 * kilobytes resident at most.
 *
 * It is a program of its own because a process's largest size is that of whoever it was forked from, until it is larger
 * itself; a small parent does not show. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static double seconds(struct timeval time) { return (double)time.tv_sec + (double)time.tv_usec / 1e6; }

int main(int argc, char **argv) {
    if (argc < 4) return 2;
    double begin = now();
    pid_t child = fork();
    if (child == 0) {
        if (argv[2][0]) setenv("LD_PRELOAD", argv[2], 1);
        execv(argv[3], argv + 3);
        _exit(127);
    }
    int status;
    struct rusage usage;
    if (child < 0 || wait4(child, &status, 0, &usage) != child) return 1;
    double took = now() - begin;
    FILE *result = fopen(argv[1], "w");
    if (!result) return 1;
    fprintf(result, "%d %.6f %.6f %ld\n", status, took, seconds(usage.ru_utime) + seconds(usage.ru_stime), usage.ru_maxrss);
    return fclose(result) ? 1 : 0;
}
