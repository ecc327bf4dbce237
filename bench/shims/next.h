/* What the shims share: the C library's functions, found at the first call, and a little memory for those who call
 * before they are found (dlsym may). */
#ifndef NEXT_H
#define NEXT_H

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static void *(*next_malloc)(size_t);
static void *(*next_calloc)(size_t, size_t);
static void *(*next_realloc)(void *, size_t);
static void *(*next_memalign)(size_t, size_t);
static void (*next_free)(void *);

static char early[1 << 14] __attribute__((aligned(16)));
static size_t early_used;

static void *take_early(size_t size) {
    void *object = early + early_used;
    early_used += (size + 15) & ~(size_t)15;
    if (early_used > sizeof early) __builtin_trap();
    return object;
}

static inline int is_early(const void *object) { return (const char *)object >= early && (const char *)object < early + sizeof early; }

__attribute__((cold, noinline)) static int find(void) {
    static int finding;
    if (finding) return 0;
    finding = 1;
    next_free = (void (*)(void *))dlsym(RTLD_NEXT, "free");
    next_calloc = (void *(*)(size_t, size_t))dlsym(RTLD_NEXT, "calloc");
    next_realloc = (void *(*)(void *, size_t))dlsym(RTLD_NEXT, "realloc");
    next_memalign = (void *(*)(size_t, size_t))dlsym(RTLD_NEXT, "memalign");
    next_malloc = (void *(*)(size_t))dlsym(RTLD_NEXT, "malloc");
    finding = 0;
    return 1;
}

/* False while the functions are being found. */
static inline int ready(void) { return __builtin_expect(next_malloc != 0, 1) || find(); }

#endif
