/* A binary choice taken 14 times in a row: 16 384 different chains, each of which allocates 1 + (path mod 5) bytes and
 * is taken twice. The report must lose none: 32 768 objects. */
#include "check.h"

enum { LEVELS = 14 };

FRAME void choose(unsigned path, int level);

FRAME void *take(unsigned path) { return malloc(1 + path % 5); }
FRAME void left(unsigned path, int level) { choose(path * 2, level + 1); }
FRAME void right(unsigned path, int level) { choose(path * 2 + 1, level + 1); }

FRAME void choose(unsigned path, int level) {
    if (level == LEVELS) {
        void *object = take(path);
        if (path % 2) free(object);
        return;
    }
    left(path, level);
    right(path, level);
}

int main(void) {
    for (int i = 0; i < 2; i++) choose(0, 0);
    say("%d chains", 1 << LEVELS);
    return 0;
}
