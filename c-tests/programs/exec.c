/* A process that replaces its image twice, keeping 3 objects of 100 bytes in the first, 4 of 200 in the second and 5 of
 * 300 in the third. One process has one file: the last image's. */
#include "check.h"

FRAME void keep_some(int count, size_t size) {
    for (int i = 0; i < count; i++) keep(malloc(size));
}

int main(int argc, char **argv) {
    int image = argc > 1 ? atoi(argv[1]) : 1;
    keep_some(image + 2, (size_t)image * 100);
    if (image < 3) {
        char next[2] = {(char)('0' + image + 1), 0};
        execl("/proc/self/exe", "exec", next, (char *)0);
        return 1;
    }
    say("image %d", image);
    return 0;
}
