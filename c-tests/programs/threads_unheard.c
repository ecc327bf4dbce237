/* Threads that end by the system call itself, so that no one hears of it: 600, each of which keeps an object of 26
 * bytes. The monitor's memory must be that of a few threads (the program watches its own size). */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/syscall.h>
#include "check.h"

static volatile int ended;

FRAME static void *worker(void *unused) {
    void *volatile object = malloc(26);
    CHECK(object);
    ended++;
    syscall(SYS_exit, 0);
    return unused;
}

static long resident_kilobytes(void) {
    FILE *status = fopen("/proc/self/statm", "r");
    long size, resident;
    CHECK(status && fscanf(status, "%ld %ld", &size, &resident) == 2);
    fclose(status);
    return resident * (getpagesize() / 1024);
}

int main(void) {
    static char stacks[600][32768] __attribute__((aligned(4096)));
    long early = 0;
    for (int i = 0; i < 600; i++) {
        pthread_attr_t attributes;
        pthread_t thread;
        pthread_attr_init(&attributes);
        CHECK(pthread_attr_setstack(&attributes, stacks[i], sizeof stacks[i]) == 0);
        CHECK(pthread_create(&thread, &attributes, worker, 0) == 0);
        CHECK(pthread_join(thread, 0) == 0); /* the kernel clears the thread's id */
        if (i == 200) early = resident_kilobytes();
    }
    CHECK(ended == 600 && resident_kilobytes() - early < 12000);
    say("600 ended");
    return 0;
}
