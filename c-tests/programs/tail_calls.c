/* Functions that end in a jump leave no frame: wrapper jumps to malloc, relay to user. Built with sibling-call
 * optimisation the report must show user as the direct caller with 5 objects of 160 bytes, and neither wrapper nor
 * relay; no frame may be invented or shifted. */
#include "check.h"

#define JUMPS __attribute__((noinline, noclone, optimize("O2", "optimize-sibling-calls")))

JUMPS void *wrapper(size_t size) { return malloc(size); }

FRAME void user(void) {
    for (int i = 0; i < 5; i++) keep(wrapper(160));
}

JUMPS void relay(void) { user(); }

FRAME void caller(void) { relay(); }

int main(void) {
    caller();
    say("%d objects", kept_count);
    return 0;
}
