/* Ends in another root folder (as root; elsewhere it only changes its folder), where the way to the data file does not
 * exist. Kept: 2 objects of 64 bytes. */
#define _GNU_SOURCE
#include <sys/stat.h>
#include "check.h"

int main(void) {
    keep(malloc(64));
    keep(malloc(64));
    CHECK(mkdir("root", 0755) == 0);
    CHECK(chroot("root") == 0 && chdir("/") == 0);
    say("elsewhere");
    return 12;
}
