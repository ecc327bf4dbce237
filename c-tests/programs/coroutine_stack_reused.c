/* Coroutines that run one after the other on the same stack memory, with different functions on it: what was true of
 * these addresses for one is not for the next. The report must show 50 of 18 bytes for odd > leaf and 50 for
 * even > leaf. */
#include <ucontext.h>
#include "check.h"

static ucontext_t home, away;

FRAME void leaf(void) { keep(malloc(18)); }
FRAME void odd(void) { leaf(); }
FRAME void even(void) { leaf(); }

int main(void) {
    static char stack[65536];
    for (volatile int i = 0; i < 100; i++) {
        CHECK(getcontext(&away) == 0);
        away.uc_stack.ss_sp = stack;
        away.uc_stack.ss_size = sizeof stack;
        away.uc_link = &home;
        makecontext(&away, i % 2 ? odd : even, 0);
        CHECK(swapcontext(&home, &away) == 0);
    }
    say("%d kept", kept_count);
    return 0;
}
