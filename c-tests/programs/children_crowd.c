/* Children in a crowd, in the way that the argument says:
 *
 *   short     1000 children, 8 at a time, each of which keeps an object of 36 bytes
 *   outlive   children that live on after their parent has ended: 3, with 37 bytes each, and grandchildren
 *   prefork   4 workers that take 50 requests each from a pipe, 38 bytes a request kept; then SIGTERM, on which a
 *             worker leaves by exit(3)
 *   raw       children by the system call itself, of threads that have allocated, have not, and are about to end: 39 bytes
 *   exec      children that exec at once while two threads allocate: nothing is theirs */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include "check.h"

FRAME static void in_child(size_t size) { keep(malloc(size)); }

static void wait_for(pid_t child) {
    int status;
    CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
}

static void short_ones(void) {
    pid_t children[8] = {0};
    for (int i = 0; i < 1000; i++) {
        if (children[i % 8]) wait_for(children[i % 8]);
        if ((children[i % 8] = fork()) == 0) {
            in_child(36);
            if (i % 2) exit(0);
            _exit(0);
        }
    }
    for (int i = 0; i < 8; i++) wait_for(children[i]);
}

static void outlive(void) {
    for (int i = 0; i < 3; i++)
        if (fork() == 0) {
            while (getppid() == (pid_t)strtol(getenv("PARENT"), 0, 10)) usleep(1000);
            in_child(37);
            if (fork() == 0) {
                usleep(20000);
                in_child(37);
            }
            exit(0);
        }
}

static void leave(int number) {
    (void)number;
    exit(0);
}

FRAME static void serve(int requests, int done) {
    char byte;
    while (read(requests, &byte, 1) == 1) keep(malloc(38));
    CHECK(write(done, "d", 1) == 1);
    for (;;) pause();
}

static void prefork(void) {
    int requests[2], done[2];
    pid_t workers[4];
    signal(SIGTERM, leave);
    CHECK(pipe(requests) == 0 && pipe(done) == 0);
    for (int i = 0; i < 4; i++)
        if ((workers[i] = fork()) == 0) {
            close(requests[1]);
            serve(requests[0], done[1]);
        }
    close(requests[0]);
    for (int i = 0; i < 200; i++) CHECK(write(requests[1], "r", 1) == 1);
    close(requests[1]);
    char byte;
    for (int i = 0; i < 4; i++) CHECK(read(done[0], &byte, 1) == 1);
    for (int i = 0; i < 4; i++) kill(workers[i], SIGTERM);
    for (int i = 0; i < 4; i++) wait_for(workers[i]);
}

static void raw_child(void) {
    pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (child == 0) {
        void *first = malloc(40);
        in_child(39);
        free(first);
        _exit(0);
    }
    wait_for(child);
}

static pthread_key_t key;
static void at_end(void *round) {
    /* In the last round: after whatever the monitor does. */
    if ((long)round < 4) pthread_setspecific(key, (void *)((long)round + 1));
    else raw_child();
}
FRAME static void *fresh(void *unused) {
    raw_child();
    return unused;
}
FRAME static void *ending(void *unused) {
    free(malloc(41));
    pthread_setspecific(key, (void *)1);
    return unused;
}

static void raw(void) {
    pthread_t thread;
    raw_child();
    CHECK(pthread_create(&thread, 0, fresh, 0) == 0 && pthread_join(thread, 0) == 0);
    CHECK(pthread_key_create(&key, at_end) == 0);
    CHECK(pthread_create(&thread, 0, ending, 0) == 0 && pthread_join(thread, 0) == 0);
}

static int stop;
FRAME static void *busy(void *unused) {
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) free(malloc(42));
    return unused;
}

static void exec(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) CHECK(pthread_create(&threads[i], 0, busy, 0) == 0);
    for (int i = 0; i < 100; i++) {
        pid_t child = fork();
        if (child == 0) {
            execle("/bin/true", "true", (char *)0, (char *[]){0});
            _exit(9);
        }
        wait_for(child);
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
}

int main(int argc, char **argv) {
    char text[16];
    CHECK(argc == 2);
    snprintf(text, sizeof text, "%d", (int)getpid());
    setenv("PARENT", text, 1);
    say("%s", argv[1]);
    if (!strcmp(argv[1], "short")) short_ones();
    if (!strcmp(argv[1], "outlive")) outlive();
    if (!strcmp(argv[1], "prefork")) prefork();
    if (!strcmp(argv[1], "raw")) raw();
    if (!strcmp(argv[1], "exec")) exec();
    return 0;
}
