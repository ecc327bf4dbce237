/* exec that fails is harmless: the program goes on, errno is exec's, and the profile at the end has what came before
 * (2 of 40 bytes) and after (3 of 50). */
#include <errno.h>
#include "check.h"

FRAME void before(void) {
    for (int i = 0; i < 2; i++) keep(malloc(40));
}

FRAME void after(void) {
    for (int i = 0; i < 3; i++) keep(malloc(50));
}

int main(void) {
    before();
    for (int i = 0; i < 3; i++) {
        errno = 0;
        CHECK(execl("/nonexistent/program", "program", (char *)0) == -1);
        CHECK(errno == ENOENT);
    }
    errno = 0;
    CHECK(execl("/proc", "proc", (char *)0) == -1);
    CHECK(errno == EACCES);
    after();
    say("still here");
    return 0;
}
