/* Threads in a crowd: 10000 one after the other (detached, every tenth cancelled), then 1000 at once, all of which
 * allocate, wait for each other, and free what their neighbour allocated. The short ones allocate 10000 objects of 21
 * bytes and free them; the others 3000 of 22 bytes, of which 1000 are kept. */
#include <pthread.h>
#include <semaphore.h>
#include "check.h"

enum { SHORT = 10000, CROWD = 1000 };

static sem_t ended;
static pthread_barrier_t barrier;
static void *passed[CROWD];

FRAME static void *brief(void *unused) {
    void *volatile object = malloc(21);
    free(object);
    sem_post(&ended);
    return unused;
}

FRAME static void *member(void *number) {
    long n = (long)number;
    void *volatile kept_here = malloc(22);
    CHECK(kept_here);
    passed[n] = malloc(22);
    pthread_barrier_wait(&barrier);
    free(passed[(n + 1) % CROWD]);
    free(malloc(22));
    pthread_barrier_wait(&barrier);
    return 0;
}

int main(void) {
    pthread_attr_t small;
    pthread_t thread, threads[CROWD];
    pthread_attr_init(&small);
    CHECK(pthread_attr_setstacksize(&small, 65536) == 0);
    CHECK(sem_init(&ended, 0, 0) == 0);
    for (int i = 0; i < SHORT; i++) {
        CHECK(pthread_create(&thread, &small, brief, 0) == 0);
        if (i % 2) pthread_detach(thread);
        sem_wait(&ended);
        if (i % 2 == 0) CHECK(pthread_join(thread, 0) == 0);
    }
    CHECK(pthread_barrier_init(&barrier, 0, CROWD) == 0);
    for (long i = 0; i < CROWD; i++) CHECK(pthread_create(&threads[i], &small, member, (void *)i) == 0);
    for (int i = 0; i < CROWD; i++) CHECK(pthread_join(threads[i], 0) == 0);
    say("%d and %d", SHORT, CROWD);
    return 0;
}
