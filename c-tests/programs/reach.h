/* For programs whose kept objects are classified: how pointers are lost. */
#ifndef REACH_H
#define REACH_H

#include "check.h"

/* Overwrites what earlier calls left on the stack and in registers, so that no pointer is there by accident. */
FRAME void scrub(void) {
    volatile char old[16384];
    for (unsigned i = 0; i < sizeof old; i++) old[i] = 0;
    __asm__ volatile(
        "xor %%eax, %%eax\n xor %%ecx, %%ecx\n xor %%edx, %%edx\n xor %%esi, %%esi\n xor %%edi, %%edi\n"
        "xor %%r8d, %%r8d\n xor %%r9d, %%r9d\n xor %%r10d, %%r10d\n xor %%r11d, %%r11d\n pxor %%xmm0, %%xmm0\n"
        "pxor %%xmm1, %%xmm1"
        ::: "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "xmm0", "xmm1");
}

/* Calls a function and leaves nothing of it behind. The call is not made from main's frame, whose registers and slots
 * are looked at until the end. */
__attribute__((unused)) FRAME void call(void (*function)(void)) {
    function();
    scrub();
}

/* An object of so many bytes, touched. */
__attribute__((unused)) static inline void *object(size_t size) {
    void *made = malloc(size);
    CHECK(made);
    memset(made, 0, size);
    return made;
}

#endif
