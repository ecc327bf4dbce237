/* realloc to a larger, to a smaller and to the same size. Each counts as a free of the old object and an allocation of
 * the new one by realloc's caller, whether it moved or not: make, grow and same must show their object freed, shrink
 * its object of 50 bytes kept. */
#include "check.h"

FRAME char *make(void) { return malloc(100); }
FRAME char *grow(char *object) { return realloc(object, 5000); }
FRAME char *same(char *object) { return realloc(object, 5000); }
FRAME char *shrink(char *object) { return realloc(object, 50); }

int main(void) {
    char *object = make();
    for (int i = 0; i < 100; i++) object[i] = (char)i;
    object = grow(object);
    object = same(object);
    object = shrink(object);
    for (int i = 0; i < 50; i++) CHECK(object[i] == i);
    keep(object);
    say("contents kept");
    return 0;
}
