/* The function that allocates is inlined into its caller, and that into its own: there is one machine frame for three.
 * The report must show main > host > middle_inlined > leaf_inlined, 6 objects of 99 bytes. */
#include "check.h"

static inline __attribute__((always_inline)) void leaf_inlined(size_t size) { keep(malloc(size)); }
static inline __attribute__((always_inline)) void middle_inlined(size_t size) { leaf_inlined(size * 3); }

FRAME void host(void) {
    for (int i = 0; i < 6; i++) middle_inlined(33);
}

int main(void) {
    host();
    return 0;
}
