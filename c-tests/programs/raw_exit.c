/* Ends by the system call itself, by the C library's syscall(2): exit_group, or exit of the only thread. Kept: 4
 * objects of 35 bytes by main > hold. */
#include <sys/syscall.h>
#include "check.h"

FRAME static void hold(void) {
    for (int i = 0; i < 4; i++) keep(malloc(35));
}

int main(int argc, char **argv) {
    CHECK(argc == 2);
    hold();
    say("leaving");
    syscall(strcmp(argv[1], "group") ? SYS_exit : SYS_exit_group, 5);
    return 99;
}
