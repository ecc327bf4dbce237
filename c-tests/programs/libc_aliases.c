/* glibc exports its allocator a second time, as __libc_malloc and so on. Objects cross both ways: from the alias to
 * free and realloc, and from malloc to the aliases. The report must show the objects of plain malloc. */
#include "check.h"

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

FRAME char *plain(size_t size) { return malloc(size); }

FRAME void from_alias(size_t size) {
    free(__libc_malloc(size));
    free(__libc_memalign(4096, size));
    unsigned char *zero = __libc_calloc(size, 3);
    for (size_t i = 0; i < size * 3; i++) CHECK(zero[i] == 0);
    free(zero);
    char *object = __libc_malloc(size);
    memset(object, 'x', size);
    object = realloc(object, size * 3);
    for (size_t i = 0; i < size; i++) CHECK(object[i] == 'x');
    free(object);
}

FRAME void to_alias(size_t size) {
    __libc_free(plain(size));
    char *object = plain(size);
    memset(object, 'y', size);
    object = __libc_realloc(object, size * 5);
    for (size_t i = 0; i < size; i++) CHECK(object[i] == 'y');
    free(object);
}

int main(void) {
    for (size_t size = 1; size <= 2000; size += 7) {
        from_alias(size);
        to_alias(size);
    }
    say("crossed both ways");
    return 0;
}
