/* main > seen_caller > blind_middle > seen_leaf, where blind_middle has no unwind information. With a frame pointer in
 * it the report must show the whole chain; without one, at least seen_leaf and its caller blind_middle must be right.
 * 8 objects of 122 bytes are kept. */
#include "check.h"

int blind_middle(int n);
void seen_leaf(void);

FRAME void seen_leaf(void) { keep(malloc(122)); }
FRAME int seen_caller(int n) { return blind_middle(n) + 1; }

int main(void) {
    int sum = 0;
    for (int i = 0; i < 8; i++) sum += seen_caller(i);
    say("sum %d", sum);
    return 0;
}
