/* What interposing costs by itself: each call is handed on. */
#include "next.h"

void *malloc(size_t size) { return ready() ? next_malloc(size) : take_early(size); }
void *calloc(size_t count, size_t size) { return ready() ? next_calloc(count, size) : take_early(count * size); }
void *realloc(void *object, size_t size) { return ready() ? next_realloc(object, size) : take_early(size); }
void *memalign(size_t alignment, size_t size) { return ready() ? next_memalign(alignment, size) : take_early(size); }
void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

void free(void *object) {
    if (object && !is_early(object) && ready()) next_free(object);
}

int posix_memalign(void **object, size_t alignment, size_t size) {
    void *made = memalign(alignment, size);
    if (!made) return ENOMEM;
    *object = made;
    return 0;
}
