/* Four threads that allocate and free without pause; every eighth object is freed by the next thread. argv[1]:
 * allocations, all threads together. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 4, SLOTS = 64 };
static long each;
static void *passed[THREADS][SLOTS];

__attribute__((noinline)) static void *make(size_t size) { return malloc(size); }

static void *work(void *argument) {
    uintptr_t self = (uintptr_t)argument;
    for (long i = 0; i < each; i++) {
        void *object = make(16 + (size_t)(i % 50) * 8);
        if (i % 8 == 0) object = __atomic_exchange_n(&passed[(self + 1) % THREADS][i / 8 % SLOTS], object, __ATOMIC_ACQ_REL);
        free(object);
    }
    return 0;
}

int main(int argc, char **argv) {
    pthread_t threads[THREADS];
    each = (argc > 1 ? atol(argv[1]) : 1000000) / THREADS;
    for (uintptr_t i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], 0, work, (void *)i)) return 1;
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], 0);
    printf("%ld each\n", each);
    return 0;
}
