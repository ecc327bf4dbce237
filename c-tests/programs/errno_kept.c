/* free leaves errno alone (POSIX.1-2024), also where it gives memory back to the kernel; so do the allocation functions
 * where they succeed. The first calls of a run, which set the profiler up, are no exception. */
#define _GNU_SOURCE
#include <errno.h>
#include <malloc.h>
#include "check.h"

int main(void) {
    static const size_t sizes[] = {0, 24, 1000, 5000, 200000, 40000000};
    for (int round = 0; round < 3; round++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            errno = 1234;
            void *a = malloc(sizes[i]);
            CHECK(errno == 1234);
            void *b = calloc(1, sizes[i]), *c = memalign(64, sizes[i]);
            CHECK(errno == 1234);
            a = realloc(a, sizes[i] + 100);
            CHECK(errno == 1234);
            CHECK(a && b && c);
            free(a);
            CHECK(errno == 1234);
            free(b);
            free(c);
            free(0);
            CHECK(errno == 1234);
        }
    say("errno untouched");
    return 0;
}
