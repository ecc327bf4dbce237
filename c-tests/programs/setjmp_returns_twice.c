/* A function that returns from setjmp twice and allocates each time, before and after. The report must show 10 objects
 * of 31 bytes from first_time, 10 of 32 from second_time, below twice. */
#include <setjmp.h>
#include "check.h"

FRAME void first_time(void) { keep(malloc(31)); }
FRAME void second_time(void) { keep(malloc(32)); }

FRAME void twice(void) {
    jmp_buf here;
    if (setjmp(here) == 0) {
        first_time();
        longjmp(here, 1);
    }
    second_time();
}

int main(void) {
    for (int i = 0; i < 10; i++) twice();
    say("%d kept", kept_count);
    return 0;
}
