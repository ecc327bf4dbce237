/* The processor's trap flag interrupts a stretch of code after every single instruction, and the handler of each trap
 * allocates: chains through a signal frame whose outer function is in the middle of its prologue, of its epilogue, of a
 * jump through the PLT, of libc. The report must show one object a trap, all of them below main > stepped. The number
 * of traps is printed. */
#define _GNU_SOURCE
#include <stdint.h>
#include "check.h"
#include "stepping.h"

static volatile int traps;

FRAME void at_trap(void) { keep(malloc(19)); }

static void on_trap(void *context) {
    (void)context;
    traps++;
    at_trap();
}

FRAME uint64_t many_registers(uint64_t a, uint64_t b, uint64_t c) {
    uint64_t d = a * b, e = b * c, f = c * a;
    __asm__ volatile("" ::: "rbx", "r12", "r13", "r14", "r15");
    return a + b + c + d * e + f;
}

FRAME int variable(int n) {
    volatile int array[n];
    array[n - 1] = n;
    return array[n - 1] + (int)many_registers((uint64_t)n, 2, 3);
}

FRAME int realigned(int n) {
    _Alignas(64) volatile char block[64];
    block[0] = (char)n;
    return block[0] + variable(n);
}

FRAME int stepped(const char *text) {
    step_on();
    int result = realigned((int)strlen(text));
    step_off();
    return result;
}

int main(void) {
    at_each_step(on_trap);
    CHECK(strlen("bind it first") == 13);
    int result = 0;
    for (int i = 0; i < 3; i++) result += stepped("step by step");
    say("result %d, %d traps", result, traps);
    return 0;
}
