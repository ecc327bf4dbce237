/* Children made by fork that end by _exit, as most do: their files must be there too, with 10 + n bytes for the n-th,
 * and the parent's, which keeps nothing, must not be touched by them. */
#include <sys/wait.h>
#include "check.h"

FRAME void in_child(size_t n) { keep(malloc(10 + n)); }

int main(void) {
    free(malloc(1));
    for (size_t n = 0; n < 5; n++) {
        pid_t child = fork();
        if (child == 0) {
            in_child(n);
            _exit((int)n);
        }
        int status;
        CHECK(waitpid(child, &status, 0) == child);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == (int)n);
    }
    say("five children");
    return 0;
}
