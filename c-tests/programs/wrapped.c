/* What every program does, under whatever allocators stand around the monitor: 2000 objects of all kinds, kept ones
 * of 31 bytes (100, by keeper), 1000 of 500 bytes grown to 700, zeroed ones, and what the C library itself
 * allocates. */
#include "check.h"

FRAME static void keeper(void) {
    for (int i = 0; i < 100; i++) memset(keep(malloc(31)), 1, 31);
}

FRAME static void grower(void) {
    for (int i = 0; i < 1000; i++) {
        char *object = malloc(500);
        CHECK(object);
        memset(object, i, 500);
        CHECK((object = realloc(object, 700)));
        CHECK(object[0] == (char)i && object[499] == (char)i);
        free(object);
    }
}

FRAME static void zeroed(void) {
    for (size_t size = 1; size < 400; size++) {
        char *object = calloc(size, 3);
        CHECK(object);
        for (size_t i = 0; i < 3 * size; i++) CHECK(object[i] == 0);
        memset(object, 0xff, 3 * size);
        free(object);
    }
}

int main(void) {
    char *copy = strdup("copied by the C library");
    CHECK(copy && strlen(copy) == 23);
    free(copy);
    keeper();
    grower();
    zeroed();
    say("as ever");
    return 0;
}
