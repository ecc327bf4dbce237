/* A timer interrupts the program anywhere in its own code while it computes, and the handler allocates (the program
 * masks the signal where it calls the allocator itself). 200 objects of 38 bytes by timer_keep, all below main; 1000 of
 * 39 by main's own compute_keep. */
#include <signal.h>
#include <sys/time.h>
#include "check.h"

static volatile int ticks;
static sigset_t alarm_only;

FRAME void timer_keep(void) { keep(malloc(38)); }

FRAME void on_alarm(int number) {
    (void)number;
    if (ticks < 200) {
        timer_keep();
        ticks++;
    }
}

FRAME unsigned leaf(unsigned n) { return n * 2654435761u; }
FRAME unsigned mix(unsigned n, unsigned depth) { return depth ? mix(leaf(n), depth - 1) + n : leaf(n); }

FRAME void compute_keep(void) {
    sigprocmask(SIG_BLOCK, &alarm_only, 0);
    keep(malloc(39));
    sigprocmask(SIG_UNBLOCK, &alarm_only, 0);
}

int main(void) {
    sigemptyset(&alarm_only);
    sigaddset(&alarm_only, SIGALRM);
    signal(SIGALRM, on_alarm);
    struct itimerval every = {{0, 200}, {0, 200}};
    setitimer(ITIMER_REAL, &every, 0);
    unsigned sum = 0;
    for (int i = 0; i < 1000; i++) {
        sum += mix((unsigned)i, 20);
        compute_keep();
    }
    while (ticks < 200) sum += mix(sum, 20);
    every = (struct itimerval){{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &every, 0);
    say("%d ticks%s", ticks, sum == 1 ? "!" : "");
    return 0;
}
