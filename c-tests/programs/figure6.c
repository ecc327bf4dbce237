/* The paper's figure 6: main calls foo, foo calls bar, which allocates 24 bytes; then foo calls otherbar, which
 * allocates 10. The report must show 34 bytes over main -> foo, 24 over foo -> bar and 10 over foo -> otherbar. */
#include "check.h"

FRAME void bar(void) { keep(malloc(24)); }
FRAME void otherbar(void) { keep(malloc(10)); }

FRAME void foo(void) {
    bar();
    otherbar();
}

int main(void) {
    foo();
    return 0;
}
