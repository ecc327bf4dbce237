/* A program that recovers from its own SIGSEGV by siglongjmp, as interpreters do, out of a function that has allocated.
 * The report must show 200 objects of 27 bytes kept by before_fault and 200 of 28 by recovered. */
#include <setjmp.h>
#include <signal.h>
#include "check.h"

static sigjmp_buf back;
static char *volatile nowhere;

FRAME void on_fault(int number) {
    (void)number;
    siglongjmp(back, 1);
}

FRAME void before_fault(void) {
    keep(malloc(27));
    *nowhere = 1;
}

FRAME void recovered(void) { keep(malloc(28)); }

int main(void) {
    signal(SIGSEGV, on_fault);
    for (volatile int i = 0; i < 200; i++) {
        if (sigsetjmp(back, 1) == 0) before_fault();
        recovered();
    }
    say("%d kept", kept_count);
    return 0;
}
