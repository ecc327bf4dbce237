/* A program that frees an object twice: the C library ends it with SIGABRT, and so must it end under the monitor, with
 * the C library's own message. */
#include "check.h"

int main(void) {
    void *volatile object = malloc(40);
    void *again = object;
    say("freeing twice");
    free(object);
    free(again);
    say("not reached");
    return 0;
}
