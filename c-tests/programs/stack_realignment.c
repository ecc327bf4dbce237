/* Functions that realign the stack because a local wants 32 or 64 bytes of alignment: gcc keeps the caller's stack
 * pointer in a slot, and the CFA is what that slot holds. One of them has a variable frame besides, one many arguments
 * on the stack. Built with -mstackrealign as well. The report must show all functions on the chain. */
#include <alloca.h>
#include <stdint.h>
#include "check.h"

typedef struct {
    _Alignas(32) float lanes[8];
} by32;
typedef struct {
    _Alignas(64) char line[64];
} by64;

FRAME void leaf(const void *aligned, uintptr_t alignment) {
    CHECK((uintptr_t)aligned % alignment == 0);
    keep(malloc(56));
}

FRAME float by_32(float x) {
    by32 vector;
    for (int i = 0; i < 8; i++) vector.lanes[i] = x + (float)i;
    leaf(&vector, 32);
    return vector.lanes[7];
}

FRAME int plain(int n) {
    volatile int local = n;
    return (int)by_32((float)local);
}

FRAME int by_64_variable(int n) {
    by64 block;
    volatile char *room = alloca((size_t)n);
    room[0] = block.line[63] = 1;
    leaf(&block, 64);
    return plain(n) + block.line[63] + room[0];
}

FRAME int many_arguments(int a, int b, int c, int d, int e, int f, int g, int h, int i) {
    by64 block;
    block.line[0] = (char)i;
    leaf(&block, 64);
    return by_64_variable(a + b + c + d + e + f + g + h) + block.line[0];
}

int main(void) {
    int sum = 0;
    for (int n = 1; n <= 50; n++) sum += many_arguments(n, 1, 2, 3, 4, 5, 6, 7, 8);
    say("sum %d", sum);
    return 0;
}
