/* A realloc that fails gives NULL, sets ENOMEM, and leaves the old object as it was, to be used, reallocated and freed.
 * Sizes that overflow once a header is added must fail like the ones before them. The report must count failures
 * neither as allocations nor as frees. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdint.h>
#include "check.h"

static void *volatile result;

FRAME char *make(void) { return malloc(64); }

FRAME void fail(char *object, size_t size) {
    errno = 0;
    result = realloc(object, size);
    CHECK(result == 0);
    CHECK(errno == ENOMEM);
    for (int i = 0; i < 64; i++) CHECK(object[i] == 'a' + i % 26);
}

FRAME void fail_array(char *object, size_t count, size_t size) {
    errno = 0;
    result = reallocarray(object, count, size);
    CHECK(result == 0);
    CHECK(errno == ENOMEM);
}

int main(void) {
    char *object = make();
    for (int i = 0; i < 64; i++) object[i] = (char)('a' + i % 26);
    fail(object, SIZE_MAX);
    fail(object, SIZE_MAX - 8);
    fail(object, SIZE_MAX - 15);
    fail(object, SIZE_MAX - 16);
    fail(object, SIZE_MAX / 2);
    fail(object, (size_t)PTRDIFF_MAX);
    fail(object, (size_t)PTRDIFF_MAX - 15);
    fail_array(object, SIZE_MAX / 2, 4);
    object = realloc(object, 128);
    for (int i = 0; i < 64; i++) CHECK(object[i] == 'a' + i % 26);
    free(object);
    say("object kept");
    return 0;
}
