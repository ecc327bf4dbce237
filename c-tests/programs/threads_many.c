/* 3000 threads, 30 at a time, each of which allocates three objects and keeps one of 50 bytes; all have ended long
 * before the program does. The report must lose nothing: 3000 kept by worker > work, 6000 freed, and the monitor's
 * memory must be that of 30 threads, not of 3000 (the program watches its own size). */
#include <pthread.h>
#include "check.h"

enum { AT_ONCE = 30, ROUNDS = 100 };

FRAME void work(void) {
    void *volatile object = malloc(50); /* kept: nobody will know where it was */
    free(malloc(20));
    free(malloc(500));
    CHECK(object);
}

FRAME void *worker(void *unused) {
    work();
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
    pthread_t threads[AT_ONCE];
    long early = 0;
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < AT_ONCE; i++) CHECK(pthread_create(&threads[i], 0, worker, 0) == 0);
        for (int i = 0; i < AT_ONCE; i++) CHECK(pthread_join(threads[i], 0) == 0);
        if (round == 9) early = resident_kilobytes();
    }
    long grown = resident_kilobytes() - early;
    CHECK(grown < 8000); /* 2700 threads later */
    say("%d threads", AT_ONCE * ROUNDS);
    return 0;
}
