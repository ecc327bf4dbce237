/* malloc_trim, mallinfo2, malloc_info, mallopt and malloc_stats are the C library's, and go on working; an object may be
 * used as far as malloc_usable_size says, and grow into that in place. 100 objects of 50 bytes kept by hold. */
#include <malloc.h>
#include "check.h"

FRAME static void hold(void) {
    for (int i = 0; i < 100; i++) {
        char *object = keep(malloc(50));
        size_t usable = malloc_usable_size(object);
        CHECK(usable >= 50);
        memset(object, 0x5a, usable);
        CHECK(malloc_usable_size(object) == usable);
    }
}

int main(void) {
    CHECK(mallopt(M_MMAP_THRESHOLD, 1 << 20) == 1);
    hold();
    struct mallinfo2 info = mallinfo2();
    CHECK(info.uordblks >= 5000);
    malloc_trim(0);
    FILE *file = fopen("info.xml", "w");
    CHECK(file && malloc_info(0, file) == 0 && ftell(file) > 100 && fclose(file) == 0 && unlink("info.xml") == 0);
    for (int i = 0; i < 100; i++) {
        char *object = malloc(10);
        size_t usable = malloc_usable_size(object);
        memset(object, i, usable);
        char *grown = realloc(object, usable);
        CHECK(grown && malloc_usable_size(grown) >= usable);
        for (size_t n = 0; n < usable; n++) CHECK(grown[n] == (char)i);
        free(grown);
    }
    CHECK(malloc_usable_size(0) == 0);
    say("passed on");
    return 0;
}
