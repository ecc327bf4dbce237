/* Four threads wait, or work, while main exits: what their stacks, registers, thread-local variables and thread-specific
 * data hold is reachable; what lies below their stack pointers, and on stacks of threads that have ended, is lost. */
#include "reach.h"

#include <pthread.h>
#include <sys/syscall.h>

static pthread_key_t key;
__thread void *thread_local;
static int ready;
static volatile int never;

static void announce(void) { __atomic_fetch_add(&ready, 1, __ATOMIC_RELEASE); }

/* Does nothing for ever, without a call. */
FRAME void *waiter(void *unused) {
    void *volatile on_stack = object(201);
    CHECK(pthread_setspecific(key, object(202)) == 0);
    thread_local = object(203);
    scrub();
    announce();
    while (!never) syscall(SYS_pause);
    return on_stack ? unused : 0;
}

FRAME void below(void) {
    void *volatile old[64] = {0};
    old[20] = object(204);
    CHECK(old[20]);
}
FRAME void deep(void) {
    volatile char room[512] = {0};
    below();
    CHECK(room[0] == 0);
}
#define ALL "rax", "rbx", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15"
/* Waits without touching what `below` left further down its stack. */
FRAME void *forgetter(void *unused) {
    deep();
    announce();
    __asm__ volatile(
        "xor %%eax, %%eax\n xor %%ebx, %%ebx\n xor %%ecx, %%ecx\n xor %%edx, %%edx\n xor %%esi, %%esi\n"
        "xor %%edi, %%edi\n xor %%r8d, %%r8d\n xor %%r9d, %%r9d\n xor %%r10d, %%r10d\n xor %%r11d, %%r11d\n"
        "xor %%r12d, %%r12d\n xor %%r13d, %%r13d\n xor %%r14d, %%r14d\n xor %%r15d, %%r15d\n"
        "pxor %%xmm0, %%xmm0\n pxor %%xmm1, %%xmm1\n 1: pause\n jmp 1b"
        ::: ALL, "xmm0", "xmm1");
    return unused;
}

/* Has the only pointer in a general register. */
FRAME void *holder(void *unused) {
    void *made = object(205);
    announce();
    __asm__ volatile("mov %0, %%r14\n xor %%eax, %%eax\n xor %%ebx, %%ebx\n 1: pause\n jmp 1b" ::"D"(made) : "r14", "rax", "rbx");
    return unused;
}

/* Has the only pointer in a vector register. */
FRAME void *vector_holder(void *unused) {
    void *made = object(206);
    announce();
    __asm__ volatile("movq %0, %%xmm9\n xor %%edi, %%edi\n 1: pause\n jmp 1b" ::"D"(made) : "xmm9");
    return unused;
}

/* Ends, and leaves a pointer on its stack. */
FRAME void *passer(void *unused) {
    void *volatile on_stack = object(207);
    return on_stack ? unused : 0;
}

static void *(*const starts[])(void *) = {waiter, forgetter, holder, vector_holder};

int main(void) {
    pthread_t thread;
    CHECK(pthread_key_create(&key, 0) == 0);
    /* Ended threads, whose stacks are kept for new ones of the same size. */
    pthread_attr_t large;
    CHECK(pthread_attr_init(&large) == 0 && pthread_attr_setstacksize(&large, 1 << 20) == 0);
    CHECK(pthread_create(&thread, &large, passer, 0) == 0 && pthread_join(thread, 0) == 0);
    for (int i = 0; i < 4; i++) {
        CHECK(pthread_create(&thread, 0, starts[i], 0) == 0);
        while (__atomic_load_n(&ready, __ATOMIC_ACQUIRE) <= i) usleep(100);
    }
    say("leaving");
    return 0;
}
