/* Started anew with standard input, output and error closed: the first files that it opens get the numbers 0, 1 and 2,
 * and nothing of the monitor's may be in them. It keeps 3 objects of 44 bytes; the argument "broken" makes the
 * profile impossible to write, so that the monitor would have something to say. */
#include <fcntl.h>
#include "check.h"

FRAME static void keep_three(void) {
    for (int i = 0; i < 3; i++) keep(malloc(44));
}

int main(int argc, char **argv) {
    CHECK(argc == 3);
    if (!strcmp(argv[1], "start")) {
        char *again[] = {argv[0], "closed", argv[2], 0};
        if (!strcmp(argv[2], "broken")) setenv("MPROF_DATA", "/nonexistent/mprof.data", 1);
        say("closing");
        close(0);
        close(1);
        close(2);
        execv(argv[0], again);
        return 97;
    }
    const char *names[3] = {"zero", "one", "two"};
    for (int i = 0; i < 3; i++) {
        int file = open(names[i], O_RDWR | O_CREAT | O_EXCL, 0600);
        if (file != i) return 96;
        if (write(file, "mine\n", 5) != 5) return 95;
    }
    keep_three();
    return 0;
}
