/* Objects on both sides of each border between size categories: 32 and 33, 256 and 257, 2048 and 2049 bytes, and 0.
 * The report must count 0 and 32 as small, 33 and 256 as medium, 257 and 2048 as large, 2049 as extra large. */
#include "check.h"

FRAME void allocate(size_t size) { keep(malloc(size)); }

int main(void) {
    static const size_t sizes[] = {0, 32, 33, 256, 257, 2048, 2049};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) allocate(sizes[i]);
    return 0;
}
