/* One function that allocates, reached along four chains of which two keep their objects. The report must tell them
 * apart: careless > leaf keeps 3 of 111 bytes, deeper > careless > leaf 2, careful > leaf frees its 100, and main > leaf
 * frees half of its 10. */
#include "check.h"

FRAME void *leaf(void) { return malloc(111); }
FRAME void careful(void) { free(leaf()); }
FRAME void careless(void) { keep(leaf()); }
FRAME void deeper(void) { careless(); }

int main(void) {
    for (int i = 0; i < 100; i++) careful();
    for (int i = 0; i < 3; i++) careless();
    for (int i = 0; i < 2; i++) deeper();
    for (int i = 0; i < 10; i++) {
        void *object = leaf();
        if (i % 2) free(object);
    }
    return 0;
}
