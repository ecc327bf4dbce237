/* SIGUSR2 after each single instruction of a malloc and a free, in turn: each asks for a snapshot in the midst of the
 * monitor. Nothing may hang or be lost: 6 objects of 48 bytes are allocated by stepped, and 6 freed. */
#define _GNU_SOURCE
#include <signal.h>
#include "check.h"
#include "stepping.h"

static volatile int traps, strike_at;

static void on_trap(void *context) {
    (void)context;
    if (++traps == strike_at) raise(SIGUSR2);
}

FRAME static void stepped(void) {
    step_on();
    void *volatile object = malloc(48);
    free(object);
    step_off();
}

static void ignore(int number) { (void)number; }

int main(void) {
    if (!getenv("LD_PRELOAD")) signal(SIGUSR2, ignore);
    at_each_step(on_trap);
    for (int i = 0; i < 6; i++) {
        traps = 0;
        strike_at = 1 + 131 * i;
        stepped();
    }
    say("stepped");
    return 0;
}
