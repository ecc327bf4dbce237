/* A program with libgc, the Boehm collector, run with MPROF_GC=1. The report of the collector's half must show
 *
 *     main > nodes      100 objects,  2400 bytes
 *     main > texts       50 objects,  5000 bytes, and 10 copies of a string of 6 bytes
 *     main > grow         3 objects,  4100 bytes: one of 100, made 1000, made 3000
 *     main > many        as many objects of 16 bytes as the collector gives in one list, which the program prints
 *
 * and C's half one object of 24 bytes, which is freed. */
#include <gc.h>

#include "check.h"

FRAME void nodes(void) {
    for (int i = 0; i < 100; i++) keep(GC_malloc(24));
}

FRAME void texts(void) {
    for (int i = 0; i < 50; i++) keep(GC_malloc_atomic(100));
    for (int i = 0; i < 10; i++) keep(GC_strdup("hello"));
}

FRAME void grow(void) {
    void *object = GC_malloc(100);
    object = GC_realloc(object, 1000);
    object = GC_realloc(object, 3000);
    keep(object);
}

FRAME int many(void) {
    int count = 0;
    for (void *list = GC_malloc_many(16); list; list = GC_NEXT(list)) count++;
    return count;
}

int main(void) {
    GC_INIT();
    void *volatile object = malloc(24);
    nodes();
    texts();
    grow();
    GC_gcollect();
    int count = many();
    CHECK(count > 0);
    free(object);
    say("%d", count);
    return 0;
}
