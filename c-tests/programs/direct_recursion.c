/* A function that calls itself five deep and allocates 8 bytes at each level, while another calls it twice. The report
 * must show 10 allocations, 80 bytes in descend, 8 of them on chains in which descend calls itself; direct recursion is
 * no cycle. */
#include "check.h"

FRAME void descend(int levels) {
    keep(malloc(8));
    if (levels > 1) descend(levels - 1);
}

FRAME void twice(void) {
    descend(5);
    descend(5);
}

int main(void) {
    twice();
    return 0;
}
