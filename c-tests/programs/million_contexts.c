/* A binary choice taken 18 times in a row, for the first 170 000 of all outcomes: as many chains, each of which
 * allocates a byte at its end, in a little over a million calling contexts. */
#include "check.h"

enum { LEVELS = 18, CHAINS = 170000 };

static int chains;

FRAME void choose(int level);

FRAME void *take(void) { return malloc(1); }
FRAME void left(int level) { choose(level + 1); }
FRAME void right(int level) { choose(level + 1); }

FRAME void choose(int level) {
    if (chains == CHAINS) return;
    if (level == LEVELS) {
        chains++;
        free(take());
        return;
    }
    left(level);
    right(level);
}

int main(void) {
    choose(0);
    say("%d chains", chains);
    return 0;
}
