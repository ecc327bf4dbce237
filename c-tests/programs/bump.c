/* An allocator that may be called and left at any moment, also from a signal handler that interrupts it: a pointer that
 * is only ever added to, and a free that does nothing. Programs are linked with it as a shared library where they do to
 * malloc what the C library's could not stand. Its functions do not call each other by their public names, which are the
 * monitor's. */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static _Alignas(4096) char arena[256 << 20];
static size_t used;

static void *take(size_t alignment, size_t size) {
    if (alignment < 16) alignment = 16;
    size_t room = size + alignment + 16;
    if (room < size || room > sizeof arena / 2) return errno = ENOMEM, (void *)0;
    size_t at = __atomic_fetch_add(&used, (room + 15) & ~(size_t)15, __ATOMIC_RELAXED);
    if (at + room > sizeof arena) return errno = ENOMEM, (void *)0;
    uintptr_t object = ((uintptr_t)arena + at + 16 + alignment - 1) & ~(uintptr_t)(alignment - 1);
    ((size_t *)object)[-1] = size;
    return (void *)object;
}

static size_t size_of(void *object) { return object ? ((size_t *)object)[-1] : 0; }

static void *change(void *object, size_t size) {
    if (object && size == 0) return 0;
    void *now = take(16, size);
    size_t old = size_of(object);
    if (object && now) memcpy(now, object, old < size ? old : size);
    return now;
}

void *malloc(size_t size) { return take(16, size); }
void *memalign(size_t alignment, size_t size) { return take(alignment, size); }
void *aligned_alloc(size_t alignment, size_t size) { return take(alignment, size); }
void *valloc(size_t size) { return take(4096, size); }
void *pvalloc(size_t size) { return take(4096, size + 4095 < size ? size : (size + 4095) & ~(size_t)4095); }
void *realloc(void *object, size_t size) { return change(object, size); }
void free(void *object) { (void)object; }
size_t malloc_usable_size(void *object) { return size_of(object); }

int posix_memalign(void **out, size_t alignment, size_t size) {
    if (alignment % sizeof(void *) || alignment & (alignment - 1) || !alignment) return EINVAL;
    void *object = take(alignment, size);
    if (!object) return ENOMEM;
    *out = object;
    return 0;
}

void *calloc(size_t count, size_t size) {
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes)) return errno = ENOMEM, (void *)0;
    return take(16, bytes); /* the arena begins as zeros and is never used twice */
}

void *reallocarray(void *object, size_t count, size_t size) {
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes)) return errno = ENOMEM, (void *)0;
    return change(object, bytes);
}
