/* realloc(NULL, n) is malloc(n): one allocation and no free, in the bin of n. */
#include "check.h"

FRAME void *allocate(void) { return realloc(0, 40); }

int main(void) {
    keep(allocate());
    free(allocate());
    return 0;
}
