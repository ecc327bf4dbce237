/* malloc_usable_size says how much of an object may be written: all of it is, for objects of every kind, and neighbours
 * and the heap stay whole. The report must count the sizes asked for, not the usable ones. */
#define _GNU_SOURCE
#include <malloc.h>
#include "check.h"

static void fill(unsigned char *object, size_t asked, int value) {
    size_t usable = malloc_usable_size(object);
    CHECK(usable >= asked);
    memset(object, value, usable);
}

static void holds(unsigned char *object, int value) {
    size_t usable = malloc_usable_size(object);
    for (size_t i = 0; i < usable; i++) CHECK(object[i] == (unsigned char)value);
}

int main(void) {
    enum { COUNT = 60 };
    unsigned char *objects[COUNT];
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < COUNT; i++) {
            size_t size = (size_t)(i * round * 13 + i);
            void *aligned;
            switch (i % 5) {
            case 0: objects[i] = malloc(size); break;
            case 1: objects[i] = calloc(size, 1); break;
            case 2: objects[i] = realloc(malloc(5), size + 1); break;
            case 3: objects[i] = memalign(4096, size); break;
            default:
                CHECK(posix_memalign(&aligned, 64, size) == 0);
                objects[i] = aligned;
            }
            fill(objects[i], size, i);
        }
        for (int i = 0; i < COUNT; i++) holds(objects[i], i);
        for (int i = 0; i < COUNT; i++) free(objects[i]);
    }
    say("all usable");
    return 0;
}
