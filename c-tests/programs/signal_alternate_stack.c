/* A handler on a small alternate stack, and inside it a second signal, whose handler runs there as well; both allocate.
 * The report must show the chains through both signal frames, back to main: 50 of 36 bytes by outer_keep, 50 of 37 by
 * inner_keep. */
#include <signal.h>
#include "check.h"

FRAME void outer_keep(void) { keep(malloc(36)); }
FRAME void inner_keep(void) { keep(malloc(37)); }

FRAME void on_inner(int number) {
    (void)number;
    inner_keep();
}

FRAME void on_outer(int number) {
    (void)number;
    outer_keep();
    raise(SIGUSR2);
}

int main(void) {
    static char memory[32768]; /* two signal frames (of up to 4 KiB each), and libgcc's unwinder when chains are verified */
    stack_t stack = {.ss_sp = memory, .ss_size = sizeof memory};
    CHECK(sigaltstack(&stack, 0) == 0);
    struct sigaction action = {.sa_handler = on_outer, .sa_flags = SA_ONSTACK};
    sigaction(SIGUSR1, &action, 0);
    action.sa_handler = on_inner;
    sigaction(SIGUSR2, &action, 0);
    for (int i = 0; i < 50; i++) raise(SIGUSR1);
    say("%d kept", kept_count);
    return 0;
}
