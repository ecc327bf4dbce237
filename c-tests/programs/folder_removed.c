/* A program that removes the very folder that it was started in: no profile can be written. The monitor must say so in
 * one line, and the status must stay 6. */
#include "check.h"

int main(void) {
    static char folder[4096];
    CHECK(getcwd(folder, sizeof folder));
    CHECK(rmdir(folder) == 0);
    keep(malloc(10));
    say("removed");
    return 6;
}
