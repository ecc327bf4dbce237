/* Optimised functions with several exits and cold parts, whose unwind rules change in the middle (the compiler writes
 * remembered states for them), called at each of their calls. The report must show every chain through main. */
#include "check.h"

FRAME int leaf(int n) {
    keep(malloc(17));
    return n * 3;
}

__attribute__((cold, noinline)) static int rare(int n) { return leaf(n) + 1; }

FRAME int exits(int n, const int *table) {
    if (n == 0) return leaf(1);
    int a = table[n % 8];
    if (__builtin_expect(a == 77, 0)) return rare(a);
    int b = leaf(a), c = table[b & 7];
    if (c > 4) {
        volatile char room[500];
        room[c] = (char)c;
        return leaf(room[c]) + b;
    }
    for (int i = 0; i < 2; i++) {
        if (leaf(i) == 3) return b + c;
        a ^= b;
    }
    return a + b + c;
}

int main(void) {
    static const int table[8] = {1, 5, 77, 3, 6, 2, 8, 0};
    int sum = 0;
    for (int n = 0; n < 64; n++) sum += exits(n, table);
    say("sum %d, %d kept", sum, kept_count);
    return 0;
}
