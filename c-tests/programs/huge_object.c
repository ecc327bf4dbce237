/* Objects larger than 4 GiB, which no 32-bit field can hold. The report must show 5 000 000 007 bytes kept. */
#include "check.h"

FRAME void *huge(size_t size) { return malloc(size); }

int main(void) {
    char *object = huge(5000000007u);
    CHECK(object);
    object[0] = object[5000000006u] = 1;
    keep(object);
    free(huge(4500000000u));
    say("huge");
    return 0;
}
