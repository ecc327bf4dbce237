/* One chain at many stack addresses: between main and leaf a frame of changing size. The report must show one chain
 * with 400 objects of 16 bytes. */
#include <alloca.h>
#include "check.h"

FRAME void leaf(void) { keep(malloc(16)); }

FRAME void elastic(size_t size) {
    volatile char *room = alloca(size);
    room[0] = 1;
    leaf();
    room[size - 1] = 2;
}

int main(void) {
    for (size_t i = 0; i < 400; i++) elastic(16 + i % 100 * 48);
    return 0;
}
