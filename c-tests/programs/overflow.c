/* Sizes that nobody can have: products that overflow and sums that overflow once a header or padding is added. Every
 * entry point must give NULL (or ENOMEM) and set errno as the C library does; the report must count nothing. */
#define _GNU_SOURCE
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include "check.h"

static void *volatile object;

#define FAILS(call)              \
    do {                         \
        errno = 0;               \
        object = (call);         \
        CHECK(object == 0);      \
        CHECK(errno == ENOMEM);  \
    } while (0)

int main(void) {
    static const size_t huge[] = {SIZE_MAX, SIZE_MAX - 1, SIZE_MAX - 15, SIZE_MAX - 16, SIZE_MAX - 31, SIZE_MAX - 64,
                                  SIZE_MAX - 4096, SIZE_MAX / 2 + 1, (size_t)PTRDIFF_MAX, (size_t)PTRDIFF_MAX - 15};
    for (size_t i = 0; i < sizeof huge / sizeof *huge; i++) {
        volatile size_t size = huge[i];
        FAILS(malloc(size));
        FAILS(calloc(1, size));
        FAILS(calloc(size, 1));
        FAILS(realloc(0, size));
        FAILS(reallocarray(0, size, 1));
        FAILS(aligned_alloc(64, size));
        FAILS(memalign(4096, size));
        FAILS(valloc(size));
        FAILS(pvalloc(size));
        void *out = &out;
        errno = 5;
        CHECK(posix_memalign(&out, 128, size) == ENOMEM);
        CHECK(out == &out);
    }
    volatile size_t half = (size_t)1 << 32, third = SIZE_MAX / 3;
    FAILS(calloc(half, half));
    FAILS(calloc(half + 1, half));
    FAILS(calloc(third, 4));
    FAILS(reallocarray(0, half, half));
    say("all failed");
    return 0;
}
