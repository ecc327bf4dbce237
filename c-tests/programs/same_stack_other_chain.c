/* Chains that look alike to a careless cache: the same leaf at the same stack address, called from the same place in
 * its caller, but with another function further out. Alternating, so that each allocation follows one of the other
 * kind. The report must show 500 of 16 bytes for east and 500 for west. */
#include "check.h"

FRAME void leaf(void) { keep(malloc(16)); }
FRAME void middle(void) { leaf(); }
FRAME void east(void) { middle(); }
FRAME void west(void) { middle(); }

int main(void) {
    static void (*const sides[])(void) = {east, west};
    for (int i = 0; i < 1000; i++) sides[i % 2]();
    return 0;
}
