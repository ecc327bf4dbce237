/* Single-stepping a stretch of code by the processor's trap flag: from `step_on` to `step_off` every instruction raises
 * SIGTRAP. The file that includes this must begin with _GNU_SOURCE. */
#ifndef STEPPING_H
#define STEPPING_H

#include <signal.h>
#include <ucontext.h>

#define TRAP_FLAG 0x100

static volatile int step_ended;

/* The stack pointer goes below the red zone and comes back before the first trap: unwind rules hold at every trap. */
static inline __attribute__((always_inline)) void step_on(void) {
    step_ended = 0;
    __asm__ volatile(
        "lea -128(%%rsp), %%rsp; pushfq; orq $0x100, (%%rsp); popfq; lea 128(%%rsp), %%rsp" ::: "cc", "memory");
}

/* The next trap is the last; it is not handed on. */
static inline __attribute__((always_inline)) void step_off(void) { step_ended = 1; }

/* From the handler: no more traps after it returns. */
__attribute__((unused)) static void step_no_more(void *context) {
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)TRAP_FLAG;
}

static void (*step_handler)(void *context);

static void on_step(int number, siginfo_t *info, void *context) {
    (void)number, (void)info;
    if (step_ended) step_no_more(context);
    else step_handler(context);
}

__attribute__((unused)) static void at_each_step(void (*handler)(void *context)) {
    struct sigaction action = {.sa_sigaction = on_step, .sa_flags = SA_SIGINFO};
    step_handler = handler;
    sigaction(SIGTRAP, &action, 0);
}

#endif
