/* The same size asked of each allocation function: the bin must count the program's bytes, not an allocator's size
 * class nor a padding. 77 bytes from each; calloc and reallocarray as 7 times 11. valloc and pvalloc round to pages
 * inside, which is none of the bin's business. */
#define _GNU_SOURCE
#include <malloc.h>
#include "check.h"

int main(void) {
    void *object;
    keep(malloc(77));
    keep(calloc(7, 11));
    keep(realloc(0, 77));
    keep(reallocarray(0, 7, 11));
    CHECK(posix_memalign(&object, 256, 77) == 0);
    keep(object);
    keep(aligned_alloc(64, 77));
    keep(memalign(32, 77));
    keep(memalign(8, 77));
    keep(valloc(77));
    return 0;
}
