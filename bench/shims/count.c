/* Not measured: counts allocations and the most objects that there were at once, and writes both to the file that
 * COUNT_FILE names. */
#include "next.h"

#include <stdio.h>
#include <stdlib.h>

static unsigned long allocs;
static long live, most;

static void *counted(void *object) {
    if (!object) return 0;
    __atomic_fetch_add(&allocs, 1, __ATOMIC_RELAXED);
    long now = __atomic_add_fetch(&live, 1, __ATOMIC_RELAXED), seen = __atomic_load_n(&most, __ATOMIC_RELAXED);
    while (now > seen && !__atomic_compare_exchange_n(&most, &seen, now, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {}
    return object;
}

static void gone(void) { __atomic_fetch_sub(&live, 1, __ATOMIC_RELAXED); }

void *malloc(size_t size) { return ready() ? counted(next_malloc(size)) : take_early(size); }
void *calloc(size_t count, size_t size) { return ready() ? counted(next_calloc(count, size)) : take_early(count * size); }

void *realloc(void *object, size_t size) {
    if (!ready()) return take_early(size);
    void *made = next_realloc(object, size);
    if (object && (made || !size)) gone();
    return counted(made);
}

void *memalign(size_t alignment, size_t size) { return ready() ? counted(next_memalign(alignment, size)) : take_early(size); }
void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

int posix_memalign(void **object, size_t alignment, size_t size) {
    void *made = memalign(alignment, size);
    if (!made) return ENOMEM;
    *object = made;
    return 0;
}

void free(void *object) {
    if (!object || is_early(object) || !ready()) return;
    gone();
    next_free(object);
}

__attribute__((destructor)) static void report(void) {
    const char *name = getenv("COUNT_FILE");
    unsigned long made = allocs;
    long at_once = most;
    FILE *file = name ? fopen(name, "w") : 0;
    if (!file) return;
    fprintf(file, "%lu %ld\n", made, at_once);
    fclose(file);
}
