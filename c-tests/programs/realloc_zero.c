/* realloc(p, 0) frees p and gives NULL, as the C library's does: one free and no allocation. realloc(NULL, 0) is
 * malloc(0): an object of 0 bytes. */
#include "check.h"

FRAME char *make(void) { return malloc(30); }
FRAME void *vanish(void *object) { return realloc(object, 0); }
FRAME void *appear(void) { return realloc(0, 0); }

int main(void) {
    for (int i = 0; i < 3; i++) CHECK(vanish(make()) == 0);
    void *object = appear();
    CHECK(object);
    keep(object);
    free(appear());
    say("as the C library does");
    return 0;
}
