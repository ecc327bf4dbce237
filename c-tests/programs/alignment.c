/* Every entry point keeps its promise of alignment: 16 bytes where none is asked for, and each power of two up to
 * 1 MiB where one is. Objects are written whole, reallocated and freed; contents must survive. All is freed, so the
 * report must show nothing kept. */
#define _GNU_SOURCE
#include <malloc.h>
#include <stdint.h>
#include "check.h"

static void use(unsigned char *object, size_t alignment, size_t size) {
    CHECK(object);
    CHECK((uintptr_t)object % alignment == 0);
    CHECK(malloc_usable_size(object) >= size);
    memset(object, 0x5a, size);
    object = realloc(object, size * 2 + 1);
    CHECK((uintptr_t)object % 16 == 0);
    for (size_t i = 0; i < size; i++) CHECK(object[i] == 0x5a);
    memset(object, 0x77, size * 2 + 1);
    free(object);
}

int main(void) {
    static const size_t sizes[] = {1, 8, 15, 16, 17, 24, 100, 1000, 4096, 5000, 200000};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        size_t size = sizes[s];
        use(malloc(size), 16, size);
        use(calloc(1, size), 16, size);
        use(realloc(0, size), 16, size);
        use(reallocarray(0, 1, size), 16, size);
        use(valloc(size), (size_t)getpagesize(), size);
        use(pvalloc(size), (size_t)getpagesize(), size);
        for (size_t alignment = 1; alignment <= 1 << 20; alignment *= 2) {
            void *object;
            use(memalign(alignment, size), alignment, size);
            use(aligned_alloc(alignment, size), alignment, size);
            if (alignment < sizeof(void *)) continue;
            CHECK(posix_memalign(&object, alignment, size) == 0);
            use(object, alignment, size);
        }
    }
    say("all aligned");
    return 0;
}
