/* An object that grows step by step through every kind of block the C library has, to 3 MB (a mapping of its own) and
 * back, between others that keep it from growing in place. Its contents must survive each step. The report must show
 * one object kept, of 1 byte. */
#include "check.h"

static size_t sizes[] = {1, 15, 17, 24, 25, 100, 1000, 1032, 4000, 70000, 140000, 3000000, 200000, 8000, 900, 40, 1};

FRAME unsigned char *step(unsigned char *object, size_t size) { return realloc(object, size); }

int main(void) {
    unsigned char *object = malloc(1);
    size_t valid = 1;
    object[0] = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        void *neighbour = malloc(24);
        object = step(object, sizes[i]);
        CHECK(object);
        free(neighbour);
        if (valid > sizes[i]) valid = sizes[i];
        for (size_t k = 0; k < valid; k++) CHECK(object[k] == (unsigned char)(k * 7));
        for (size_t k = 0; k < sizes[i]; k++) object[k] = (unsigned char)(k * 7);
        valid = sizes[i];
    }
    keep(object);
    say("contents kept");
    return 0;
}
