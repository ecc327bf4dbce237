/* Frees what must not be freed, in the way that the argument says. The C library ends the program, and so it must be under the
 * monitor, which says before what happened. Objects are allocated by maker, freed by first_free and again by
 * second_free. */
#include <malloc.h>
#include <stdint.h>
#include "check.h"

FRAME static void *maker(size_t size) { return malloc(size); }
FRAME static void first_free(void *object) { free(object); }
FRAME static void second_free(void *object) { free(object); }
FRAME static void *grower(void *object) { return realloc(object, 5000); }

static _Alignas(64) char data[8192];

int main(int argc, char **argv) {
    CHECK(argc == 2);
    char *way = argv[1];
    void *object = maker(40), *other = maker(40);
    say("%s", way);
    if (!strcmp(way, "small")) {
        first_free(object);
        second_free(object);
    }
    if (!strcmp(way, "later")) {
        first_free(object);
        for (int i = 0; i < 20; i++) free(malloc(300));
        second_free(object);
    }
    if (!strcmp(way, "large")) {
        /* Too large for the allocator's lists of small objects, with a neighbour. */
        void *big = maker(3000), *neighbour = maker(3000);
        first_free(big);
        second_free(big);
        free(neighbour);
    }
    if (!strcmp(way, "aligned")) {
        object = memalign(64, 100);
        other = memalign(64, 100);
        first_free(object);
        second_free(object);
    }
    if (!strcmp(way, "page")) {
        object = memalign(4096, 5000);
        other = memalign(4096, 5000);
        first_free(object);
        second_free(object);
    }
    if (!strcmp(way, "grown")) {
        first_free(object);
        grower(object);
    }
    if (!strcmp(way, "data")) {
        memset(data, 0x41, sizeof data);
        second_free(data + 128);
    }
    if (!strcmp(way, "inside")) {
        memset(object, 0, 40);
        second_free((char *)object + 16);
    }
    if (!strcmp(way, "odd")) second_free((char *)object + 3);
    if (!strcmp(way, "size")) second_free((void *)(uintptr_t)16);
    CHECK(other);
    say("not reached");
    return 0;
}
