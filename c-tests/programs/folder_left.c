/* A program that goes to another folder, which is removed under it, and ends there. The profile must be in the folder
 * that it was started in: 2 objects of 190 bytes kept. */
#include <sys/stat.h>
#include "check.h"

FRAME void elsewhere(void) {
    keep(malloc(190));
    keep(malloc(190));
}

int main(void) {
    CHECK(mkdir("elsewhere", 0700) == 0 && chdir("elsewhere") == 0 && rmdir("../elsewhere") == 0);
    elsewhere();
    say("nowhere");
    return 0;
}
