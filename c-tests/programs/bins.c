/* An object of each size from 0 to 1025 bytes, by malloc, and every third freed. The report must show a bin of one
 * object for each size from 0 to 1024, and one object of 1025 bytes in the bin of all larger ones. */
#include "check.h"

int main(void) {
    for (size_t size = 0; size <= 1025; size++) {
        void *object = malloc(size);
        if (size % 3 == 0) free(object);
        else keep(object);
    }
    return 0;
}
