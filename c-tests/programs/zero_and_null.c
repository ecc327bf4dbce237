/* Objects of 0 bytes are objects: distinct, freeable, and a leak when kept. free(NULL) does nothing. The report must
 * show 100 objects of 0 bytes kept by nothing_kept, 60 freed by nothing_freed, and no free besides. */
#define _GNU_SOURCE
#include <malloc.h>
#include "check.h"

FRAME void nothing_kept(void) {
    for (int i = 0; i < 100; i++) keep(malloc(0));
    for (int i = 0; i < 100; i++)
        for (int k = 0; k < i; k++) CHECK(kept[i] && kept[i] != kept[k]);
}

FRAME void nothing_freed(void) {
    void *object;
    for (int i = 0; i < 10; i++) {
        free(malloc(0));
        free(calloc(0, 8));
        free(calloc(8, 0));
        free(realloc(0, 0));
        free(aligned_alloc(64, 0));
        CHECK(posix_memalign(&object, 64, 0) == 0);
        free(object);
    }
}

int main(void) {
    nothing_kept();
    nothing_freed();
    for (int i = 0; i < 10; i++) free(0);
    CHECK(malloc_usable_size(0) == 0);
    say("nothing is something");
    return 0;
}
