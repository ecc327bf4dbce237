/* A failed assertion ends the program with SIGABRT, by a way that does not pass by `abort`: main kept 2 objects of 77
 * bytes. */
#undef NDEBUG
#include <assert.h>
#include "check.h"

int main(void) {
    keep(malloc(77));
    keep(malloc(77));
    assert(kept_count == 3);
    return 0;
}
