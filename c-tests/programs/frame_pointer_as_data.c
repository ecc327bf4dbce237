/* Code built without frame pointers, in which rbp is one more register for data: two functions keep live values in all
 * callee-saved registers over the call, with values in rbp that look like anything, also like stack addresses. The
 * report must show the whole chain, 600 objects of 24 bytes at its end. */
#include <stdint.h>
#include "check.h"

FRAME void leaf(void) { keep(malloc(24)); }

FRAME uint64_t inner(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f) {
    uint64_t g = a * b, h = c * d, i = e * f, j = a ^ f, k = b ^ e;
    leaf();
    return a + b * 3 + c * 5 + d * 7 + e * 11 + f * 13 + g + h * 17 + i + j * 19 + k;
}

FRAME uint64_t outer(uint64_t seed) {
    uint64_t local = seed, a = seed * 3, b = (uint64_t)&local, c = seed << 40, d = ~seed, e = seed / 3, f = seed + 9;
    uint64_t sum = inner(a, b, c, d, e, f);
    sum += inner(b, c, d, e, f, a) + inner(c, d, e, f, a, b);
    return sum - (a + b + c + d + e + f) + local;
}

int main(void) {
    uint64_t sum = 0;
    for (uint64_t i = 0; i < 200; i++) sum |= outer(i);
    say("computed %d", sum != 0);
    return 0;
}
