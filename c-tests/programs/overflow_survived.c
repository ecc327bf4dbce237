/* A program that handles the overflow of its stack: by a handler on a stack of its own, from which it jumps back, 20
 * times, allocating on the way down, in the handler and after. Kept: 20 objects of 53 bytes by recovered. */
#include <setjmp.h>
#include <signal.h>
#include <sys/resource.h>
#include "check.h"

static sigjmp_buf back;

FRAME static long descend(long n) {
    volatile char room[2000];
    room[0] = (char)n;
    if (n % 100 == 0) free(malloc(51));
    return descend(n + 1) + room[0];
}

FRAME static void recovered(void) { keep(malloc(53)); }

static void on_overflow(int number) {
    free(malloc(52));
    siglongjmp(back, number);
}

int main(void) {
    static char room[65536];
    stack_t stack = {.ss_sp = room, .ss_size = sizeof room};
    struct sigaction action = {.sa_handler = on_overflow, .sa_flags = SA_ONSTACK};
    struct rlimit limit = {1 << 20, 1 << 20};
    CHECK(setrlimit(RLIMIT_STACK, &limit) == 0);
    CHECK(sigaltstack(&stack, 0) == 0 && sigaction(SIGSEGV, &action, 0) == 0);
    for (volatile int i = 0; i < 20; i++)
        if (sigsetjmp(back, 1) == 0) descend(1);
        else recovered();
    say("survived");
    return 0;
}
