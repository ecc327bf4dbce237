/* Long chains that change at their inner end: a walk up and down a stack of up to 200 frames, an allocation at each turn.
 * argv[1]: allocations. */
#include <stdio.h>
#include <stdlib.h>

enum { DEEPEST = 200 };
static long left;
static unsigned state = 11;

static unsigned draw(unsigned below) {
    state = state * 1664525u + 1013904223u;
    return (state >> 8) % below;
}

__attribute__((noinline)) static void turn(void) {
    char *volatile object = malloc(16 + draw(100));
    free(object);
    left--;
}

__attribute__((noinline)) static void walk(int depth) {
    while (left > 0) {
        turn();
        if (depth > 1 && draw(2)) return;
        if (depth < DEEPEST) walk(depth + 1);
    }
}

__attribute__((noinline)) static void descend(int depth) {
    if (depth > 0) descend(depth - 1);
    else walk(DEEPEST / 2);
    __asm__ volatile("");
}

int main(int argc, char **argv) {
    long count = left = argc > 1 ? atol(argv[1]) : 1000000;
    while (left > 0) descend(DEEPEST / 2);
    printf("%ld done\n", count - left);
    return 0;
}
