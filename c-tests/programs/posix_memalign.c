/* posix_memalign gives EINVAL for an alignment that is no power of two or no multiple of a pointer's size, does not
 * touch its argument then, and never touches errno. The report must show the three objects of 100 bytes that it did give. */
#include <errno.h>
#include <stdint.h>
#include "check.h"

FRAME int ask(void **out, size_t alignment, size_t size) { return posix_memalign(out, alignment, size); }

int main(void) {
    static const size_t wrong[] = {0, 1, 2, 4, 3, 12, 24, 48, 1000, SIZE_MAX};
    void *object = &object;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        errno = 77;
        CHECK(ask(&object, wrong[i], 100) == EINVAL);
        CHECK(object == &object);
        CHECK(errno == 77);
    }
    for (size_t alignment = 8; alignment <= 32768; alignment *= 64) {
        errno = 77;
        CHECK(ask(&object, alignment, 100) == 0);
        CHECK(errno == 77);
        CHECK((uintptr_t)object % alignment == 0);
        keep(object);
    }
    say("as POSIX says");
    return 0;
}
