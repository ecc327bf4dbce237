/* The program ends at once, by the function that its argument names: _exit, _Exit, quick_exit, or exit from deep inside.
 * No destructor need run, but the profile must be there, with two objects of 140 bytes kept by hold, and the status
 * must be 9. A handler of at_quick_exit runs before the file is written: its object of 60 bytes is in it. */
#include "check.h"

FRAME void hold(void) {
    keep(malloc(140));
    keep(malloc(140));
}

FRAME void at_end(void) { keep(malloc(60)); }

FRAME void leave(const char *how) {
    if (!strcmp(how, "_exit")) _exit(9);
    if (!strcmp(how, "_Exit")) _Exit(9);
    if (!strcmp(how, "quick_exit")) quick_exit(9);
    exit(9);
}

int main(int argc, char **argv) {
    CHECK(argc == 2);
    at_quick_exit(at_end);
    hold();
    say("leaving by %s", argv[1]);
    leave(argv[1]);
}
