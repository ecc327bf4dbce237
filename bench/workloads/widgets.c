/* Short chains, one size: a queue of 1000 objects of 204 bytes, made along two chains of three frames; nine in ten are
 * freed when their turn comes. argv[1]: objects. */
#include <stdio.h>
#include <stdlib.h>

enum { QUEUE = 1000, SIZE = 204 };

__attribute__((noinline)) static char *make(void) {
    char *object = malloc(SIZE);
    if (!object) abort();
    object[0] = 1;
    return object;
}

__attribute__((noinline)) static char *make_red(void) {
    char *object = make();
    object[1] = 'r';
    return object;
}

__attribute__((noinline)) static char *make_blue(void) {
    char *object = make();
    object[1] = 'b';
    return object;
}

int main(int argc, char **argv) {
    static char *queue[QUEUE];
    long count = argc > 1 ? atol(argv[1]) : 1000000, red = 0;
    unsigned state = 7;
    for (long i = 0; i < count; i++) {
        state = state * 1664525u + 1013904223u;
        char *old = queue[i % QUEUE];
        if (old) {
            red += old[1] == 'r';
            if (i % 10) free(old);
        }
        queue[i % QUEUE] = state >> 31 ? make_red() : make_blue();
    }
    printf("%ld red\n", red);
    return 0;
}
