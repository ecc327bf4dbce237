/* A program that defines malloc itself: the library's is never called. Where the monitor runs at all it must say so, in
 * one line, and write no empty profile. */
#include <stddef.h>
#include <string.h>
#include <unistd.h>

static _Alignas(16) char arena[1 << 20];
static size_t used;

void *malloc(size_t size) {
    size_t at = used;
    used += (size + 31) & ~(size_t)15;
    if (used > sizeof arena) return 0;
    *(size_t *)(arena + at) = size;
    return arena + at + 16;
}

void free(void *object) { (void)object; }

void *calloc(size_t count, size_t size) {
    void *object = malloc(count * size);
    return object ? memset(object, 0, count * size) : 0;
}

void *realloc(void *object, size_t size) {
    void *now = malloc(size);
    if (object && now) {
        size_t old = *(size_t *)((char *)object - 16);
        memcpy(now, object, old < size ? old : size);
    }
    return now;
}

int main(void) {
    void *volatile object = malloc(100);
    free(object);
    return write(1, "my own\n", 7) == 7 ? 0 : 1;
}
