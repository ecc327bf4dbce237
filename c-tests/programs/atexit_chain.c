/* Handlers of atexit that allocate, free and register further handlers while the process ends. The report must show
 * main's object freed by a handler, one of 80 bytes kept by each of the four handlers, and status 4. */
#include "check.h"

static void *object;

FRAME void fourth(void) { keep(malloc(80)); }

FRAME void third(void) {
    keep(malloc(80));
    atexit(fourth);
}

FRAME void second(void) {
    keep(malloc(80));
    free(object);
}

FRAME void first(void) {
    keep(malloc(80));
    atexit(third);
}

int main(void) {
    atexit(second);
    atexit(first);
    object = malloc(1000);
    say("main returns");
    return 4;
}
