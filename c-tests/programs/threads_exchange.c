/* Four threads that take objects out of one table and put new ones in, so that most objects are freed by a thread that
 * did not make them, while all allocate along two chains. Counts are fixed: each thread makes 30 000 objects of 40 and
 * as many of 400 bytes, of which the last ones in the table, 256, are kept. */
#include <pthread.h>
#include <stdint.h>
#include "check.h"

enum { THREADS = 4, ROUNDS = 30000, SLOTS = 256 };

static void *table[SLOTS];

FRAME void *small(void) { return malloc(40); }
FRAME void *large(void) { return malloc(400); }

FRAME void exchange(unsigned slot, void *object) {
    void *old = __atomic_exchange_n(&table[slot % SLOTS], object, __ATOMIC_ACQ_REL);
    free(old);
}

FRAME void *worker(void *argument) {
    unsigned state = (unsigned)(uintptr_t)argument * 2654435761u + 1;
    for (int i = 0; i < ROUNDS; i++) {
        state = state * 1664525u + 1013904223u;
        exchange(state >> 12, small());
        state = state * 1664525u + 1013904223u;
        exchange(state >> 12, large());
    }
    return 0;
}

int main(void) {
    pthread_t threads[THREADS];
    for (uintptr_t i = 0; i < THREADS; i++) pthread_create(&threads[i], 0, worker, (void *)i);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], 0);
    int full = 0;
    for (int i = 0; i < SLOTS; i++) full += table[i] != 0;
    say("kept %d", full);
    return 0;
}
