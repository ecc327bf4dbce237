/* Three functions that call each other in a ring, each allocating objects of its own size at each of three rounds:
 * first 10 bytes, second 100, third 1000. The report must show one cycle of the three with 3330 bytes, of which first
 * has 30, second 300 and third 3000, and main with 3330, each byte once. */
#include "check.h"

FRAME void second(int rounds);
FRAME void third(int rounds);

FRAME void first(int rounds) {
    keep(malloc(10));
    second(rounds);
}

FRAME void second(int rounds) {
    keep(malloc(100));
    third(rounds);
}

FRAME void third(int rounds) {
    keep(malloc(1000));
    if (rounds > 1) first(rounds - 1);
}

int main(void) {
    first(3);
    return 0;
}
