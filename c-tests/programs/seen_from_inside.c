/* What a program can see of itself must be what it would be without the monitor: its threads, its descriptors, its signal
 * handlers and mask, its children, its timers, its alternate stack, its stdio. After warming up, 100000 allocations
 * and frees need no system call (strict seccomp ends it if they do). */
#include <dirent.h>
#include <errno.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include "check.h"

static int entries(const char *path) {
    DIR *folder = opendir(path);
    int count = 0;
    CHECK(folder);
    while (readdir(folder)) count++;
    closedir(folder);
    return count;
}

FRAME static void work(void) {
    void *objects[50];
    for (int i = 0; i < 50; i++) objects[i] = malloc(48);
    for (int i = 0; i < 50; i++) objects[i] = realloc(objects[i], 60);
    for (int i = 0; i < 50; i++) free(objects[i]);
}

int main(void) {
    CHECK(errno == 0);
    say("%d threads, %d descriptors", entries("/proc/self/task") - 2, entries("/proc/self/fd") - 3);
    for (int number = 1; number < 65; number++) {
        struct sigaction action;
        if (sigaction(number, 0, &action) == 0 && action.sa_handler != SIG_DFL) say("handler for %d", number);
    }
    sigset_t mask, pending;
    CHECK(sigprocmask(0, 0, &mask) == 0 && sigpending(&pending) == 0);
    for (int number = 1; number < 65; number++)
        if (sigismember(&mask, number) == 1 || sigismember(&pending, number) == 1) say("signal %d", number);
    stack_t stack;
    CHECK(sigaltstack(0, &stack) == 0 && stack.ss_flags == SS_DISABLE);
    CHECK(waitpid(-1, 0, WNOHANG) == -1 && errno == ECHILD);
    char status[4096];
    FILE *file = fopen("/proc/self/status", "r");
    size_t length = file ? fread(status, 1, sizeof status - 1, file) : 0;
    status[length] = 0;
    fclose(file);
    for (char *line = strtok(status, "\n"); line; line = strtok(0, "\n"))
        if (!strncmp(line, "Sig", 3) || !strncmp(line, "Threads", 7) || !strncmp(line, "Seccomp", 7) || !strncmp(line, "NoNewPrivs", 10)) {
            if (strncmp(line, "SigQ", 4)) say("%s", line);
        }
    errno = 77;
    for (int i = 0; i < 20; i++) work();
    CHECK(errno == 77);
    CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) == 0);
    for (int i = 0; i < 1000; i++) work();
    write(1, "as without\n", 11);
    syscall(SYS_exit, 0);
    return 0;
}
