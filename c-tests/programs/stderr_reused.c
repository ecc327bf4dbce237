/* A program that closes descriptor 2 and opens a file of its own, which gets that number. Nothing of the monitor's may
 * go there, whatever it has to say; the profile must be written, with one object of 15 bytes. */
#include <fcntl.h>
#include "check.h"

int main(void) {
    CHECK(close(2) == 0);
    CHECK(open("own.log", O_WRONLY | O_CREAT | O_TRUNC, 0600) == 2);
    CHECK(write(2, "mine\n", 5) == 5);
    keep(malloc(15));
    say("file 2 is mine");
    return 0;
}
