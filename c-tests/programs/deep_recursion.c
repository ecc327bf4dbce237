/* Allocations under 20 000 frames. No frame may be lost: the report's chain goes from main to deep_leaf, 20 objects of
 * 90 bytes are kept there, and 10 of 30 bytes half way down. */
#include "check.h"

enum { DEPTH = 20000 };

FRAME void deep_leaf(void) { keep(malloc(90)); }
FRAME void half_way(void) { keep(malloc(30)); }

FRAME int deeper(int level) {
    if (level == DEPTH / 2)
        for (int i = 0; i < 10; i++) half_way();
    if (level == DEPTH) {
        for (int i = 0; i < 20; i++) deep_leaf();
        return level;
    }
    return deeper(level + 1);
}

int main(void) {
    say("depth %d", deeper(1));
    return 0;
}
