/* Frames whose size is known at run time only, by alloca and by variable-length arrays, in a chain of three with frames
 * of fixed size between: their CFA is found by rbp. The report must show all five functions on the chain. */
#include <alloca.h>
#include "check.h"

FRAME int leaf(int n) {
    keep(malloc(48));
    return n;
}

FRAME int by_array(int n) {
    volatile int array[n];
    array[n - 1] = leaf(n);
    return array[n - 1] + array[0] * 0;
}

FRAME int fixed(int n) {
    volatile int local = n;
    return by_array(local) + 1;
}

FRAME int by_alloca(int n) {
    volatile char *room = alloca((size_t)n * 32);
    room[0] = 1;
    return fixed(n) + room[0];
}

int main(void) {
    int sum = 0;
    for (int n = 1; n <= 300; n++) sum += by_alloca(n);
    say("sum %d", sum);
    return 0;
}
