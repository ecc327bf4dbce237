/* longjmp out of frames that have allocated, again and again, and allocations at the same stack addresses along other
 * functions afterwards. The report must show 300 of 21 bytes for jumper and 300 of 22 for after_jump, all kept. */
#include <setjmp.h>
#include "check.h"

static jmp_buf back;

FRAME void jumper(int levels) {
    if (levels > 0) jumper(levels - 1);
    keep(malloc(21));
    longjmp(back, 1);
}

FRAME void after_jump(int levels) {
    if (levels > 0) after_jump(levels - 1);
    else keep(malloc(22));
}

int main(void) {
    for (volatile int i = 0; i < 300; i++) {
        if (setjmp(back) == 0) jumper(i % 7);
        after_jump(i % 7);
    }
    say("%d kept", kept_count);
    return 0;
}
