/* A heap full of what looks like something else: copies of real headers at other places, random words, and words that
 * are addresses of nothing. All that is kept is reachable, but for ten lost objects. */
#include "reach.h"

enum { OBJECTS = 2000, WORDS = 64 };

static unsigned long *objects[OBJECTS];

FRAME void hold(void) {
    unsigned long random = 88172645463325252ul;
    for (int i = 0; i < OBJECTS; i++) {
        unsigned long *words = objects[i] = object(WORDS * 8);
        for (int w = 0; w < WORDS; w++) {
            random ^= random << 13, random ^= random >> 7, random ^= random << 17;
            words[w] = random;
        }
        /* The header of this object, and of the one before, where no object begins. */
        for (int w = 2; w < 20; w += 2) memcpy(words + w, words - 2, 16);
        if (i > 0) memcpy(words + 20, objects[i - 1] - 2, 16);
        /* Addresses beyond all memory, at the end of it, and of the middle of nothing. */
        words[30] = ~0ul, words[31] = 0x7ffffffff000, words[32] = 0xffffffffffffff00, words[33] = 16;
    }
}

FRAME void lose(void) {
    for (int i = 0; i < 10; i++) object(100);
}

int main(void) {
    call(hold);
    call(lose);
    return 0;
}
