/* The program is killed by its own SIGKILL, in the middle: nothing can be written, and no half of a file may lie
 * about. */
#include <signal.h>
#include "check.h"

int main(void) {
    for (int i = 0; i < 100; i++) keep(malloc(10));
    say("about to be killed");
    raise(SIGKILL);
    return 0;
}
