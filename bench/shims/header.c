/* The least that a profiler can do that knows each object again: a header of 16 bytes, and counts by the caller's
 * address. No chains. */
#include "next.h"

struct header {
    uint32_t offset, site; /* from the block to the object; counter */
    size_t size;
};

enum { SITES = 4096 };
static struct { unsigned long allocs, bytes, frees, freed_bytes; } counts[SITES];

#define CALLER ((uint32_t)((uintptr_t)__builtin_return_address(0) >> 2) % SITES)

static inline void add(unsigned long *count, unsigned long more) { __atomic_fetch_add(count, more, __ATOMIC_RELAXED); }

static inline void *put(char *block, size_t offset, size_t size, uint32_t site) {
    if (!block) return 0;
    struct header *header = (struct header *)(block + offset) - 1;
    header->offset = (uint32_t)offset;
    header->site = site;
    header->size = size;
    add(&counts[site].allocs, 1);
    add(&counts[site].bytes, size);
    return header + 1;
}

static inline void count_free(uint32_t site, size_t size) {
    add(&counts[site].frees, 1);
    add(&counts[site].freed_bytes, size);
}

void *malloc(size_t size) { return ready() ? put(next_malloc(size + 16), 16, size, CALLER) : take_early(size); }

void *calloc(size_t count, size_t size) {
    size_t all;
    if (!ready()) return take_early(count * size);
    if (__builtin_mul_overflow(count, size, &all) || all > SIZE_MAX - 16) {
        errno = ENOMEM;
        return 0;
    }
    return put(next_calloc(1, all + 16), 16, all, CALLER);
}

void free(void *object) {
    if (!object || is_early(object)) return;
    struct header *header = (struct header *)object - 1;
    count_free(header->site, header->size);
    next_free((char *)object - header->offset);
}

static inline void *aligned(size_t alignment, size_t size, uint32_t site) {
    if (!ready()) return take_early(size);
    if (alignment < 16) alignment = 16;
    return put(next_memalign(alignment, size + alignment), alignment, size, site);
}

void *memalign(size_t alignment, size_t size) { return aligned(alignment, size, CALLER); }
void *aligned_alloc(size_t alignment, size_t size) { return aligned(alignment, size, CALLER); }

int posix_memalign(void **object, size_t alignment, size_t size) {
    void *made = aligned(alignment, size, CALLER);
    if (!made) return ENOMEM;
    *object = made;
    return 0;
}

void *realloc(void *object, size_t size) {
    uint32_t site = CALLER;
    if (!ready()) return take_early(size);
    if (!object) return put(next_malloc(size + 16), 16, size, site);
    struct header *header = (struct header *)object - 1, old = *header;
    if (!is_early(object) && old.offset == 16) {
        void *made = put(next_realloc(header, size + 16), 16, size, site);
        if (made) count_free(old.site, old.size);
        return made;
    }
    void *made = put(next_malloc(size + 16), 16, size, site);
    if (made) memcpy(made, object, is_early(object) || old.size > size ? size : old.size);
    free(object);
    return made;
}

size_t malloc_usable_size(void *object) { return object && !is_early(object) ? ((struct header *)object - 1)->size : 0; }
