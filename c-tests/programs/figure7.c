/* The paper's figure 7: main > F > G > F > G > malloc(10). Caller/callee pairs alone would make it 20 bytes over
 * F -> G; the report must show 10 for main, for F and for G together, and F and G as a cycle. */
#include "check.h"

FRAME void G(int again);

FRAME void F(int again) { G(again); }

FRAME void G(int again) {
    if (again) F(0);
    else keep(malloc(10));
}

int main(void) {
    F(1);
    return 0;
}
