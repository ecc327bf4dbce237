/* A program that closes every descriptor above 2 at its start, as services do, and then writes files of its own, whose
 * descriptors get the numbers that others may have had. Its file must hold what it wrote; the profile 3 of 210. */
#include <fcntl.h>
#include "check.h"

FRAME void keep_three(void) {
    for (int i = 0; i < 3; i++) keep(malloc(210));
}

int main(void) {
    for (int fd = 3; fd < 1024; fd++) close(fd);
    int files[20];
    for (int i = 0; i < 20; i++) {
        files[i] = open("own.txt", O_RDWR | O_CREAT | O_APPEND, 0600);
        CHECK(files[i] == 3 + i);
        CHECK(write(files[i], "line\n", 5) == 5);
    }
    keep_three();
    char text[200];
    CHECK(lseek(files[0], 0, SEEK_SET) == 0);
    CHECK(read(files[0], text, sizeof text) == 100);
    say("own file whole");
    return 0;
}
