/* calloc's objects are zero, also where their memory was used and freed before, and however large. */
#include "check.h"

int main(void) {
    for (int round = 0; round < 50; round++)
        for (size_t size = 1; size < 3000; size = size * 3 / 2 + 1) {
            unsigned char *dirty = malloc(size);
            memset(dirty, 0xff, size);
            free(dirty);
            unsigned char *clean = calloc(size, 1);
            for (size_t i = 0; i < size; i++) CHECK(clean[i] == 0);
            memset(clean, 0xff, size);
            free(clean);
        }
    for (size_t size = 100000; size < 20000000; size *= 4) {
        unsigned char *clean = calloc(1, size);
        for (size_t i = 0; i < size; i += 97) CHECK(clean[i] == 0);
        free(clean);
    }
    say("all zero");
    return 0;
}
