/* A program that frees addresses that no allocator gave: the argument says which. The C library ends it, and so must
 * it end under the monitor. */
#include <stdint.h>
#include "check.h"

int main(int argc, char **argv) {
    static _Alignas(64) char data[4096];
    _Alignas(64) char local[256];
    memset(local, 0, sizeof local);
    void *object = malloc(500);
    uintptr_t wild = 0;
    CHECK(argc == 2);
    if (!strcmp(argv[1], "data")) wild = (uintptr_t)data + 64;
    if (!strcmp(argv[1], "stack")) wild = (uintptr_t)local + 64;
    if (!strcmp(argv[1], "inside")) wild = (uintptr_t)object + 64;
    say("freeing %s", argv[1]);
    memset(object, 0, 500);
    free((void *)wild);
    say("not reached");
    return 0;
}
