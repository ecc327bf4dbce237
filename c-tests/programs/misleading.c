/* Code without unwind information, whose frame pointer register holds what misleads: garbage of all kinds, addresses of
 * the stack where no frame is, and false frames whose return addresses lie in real functions, also at the very end of the
 * stack, where the page after it is not mapped. No chain may make the monitor read what cannot be read. 4000
 * allocations of 57 bytes by leaf, on main's stack, on a thread's, and on a mapped one. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/mman.h>
#include <ucontext.h>
#include "check.h"

FRAME static void leaf(void) { free(malloc(57)); }

/* Calls `function` with rbp as it is told. There is no unwind information: nothing says that it is more than its first
 * instruction. */
void with_rbp(unsigned long rbp, void (*function)(void));
__asm__(
    ".text\n"
    ".type with_rbp, @function\n"
    "with_rbp:\n"
    "push %rbp\n"
    "mov %rdi, %rbp\n"
    "sub $16, %rsp\n"
    "call *%rsi\n"
    "add $16, %rsp\n"
    "pop %rbp\n"
    "ret\n"
    ".size with_rbp, . - with_rbp\n");

static unsigned long seed = 12345;
static unsigned long next(void) {
    seed ^= seed << 13;
    seed ^= seed >> 7;
    return seed ^= seed << 17;
}

static unsigned long stack_end;

FRAME static void mislead(int count) {
    unsigned long frames[64];
    unsigned long codes[] = {(unsigned long)leaf + 8, (unsigned long)mislead + 40, (unsigned long)say + 30,
        (unsigned long)malloc + 10, (unsigned long)printf + 20, (unsigned long)qsort + 50, 0, 1, ~0ul, 0x4141414141414141ul};
    for (int i = 0; i < count; i++) {
        for (int n = 0; n < 64; n++) {
            switch (next() % 4) {
            case 0: frames[n] = codes[next() % (sizeof codes / sizeof *codes)]; break;
            case 1: frames[n] = (unsigned long)&frames[next() % 64]; break;
            case 2: frames[n] = codes[next() % 6] + next() % 64; break;
            default: frames[n] = stack_end ? stack_end - next() % 128 * 8 : next();
            }
        }
        unsigned long wrong[] = {(unsigned long)&frames[next() % 64], next(), next() & ~15ul, 0, 8, ~7ul, 0x7ffffffffff8ul,
            stack_end - 16, stack_end - 8, (unsigned long)frames - 64, (unsigned long)&frames[next() % 64] + 4,
            (unsigned long)&frames[62], 0xffff800000000000ul, (unsigned long)malloc};
        with_rbp(wrong[next() % (sizeof wrong / sizeof *wrong)], leaf);
    }
}

FRAME static void *worker(void *unused) {
    mislead(1000);
    return unused;
}

static ucontext_t back, there;
static void on_mapped_stack(void) { mislead(1000); }

int main(void) {
    pthread_t thread;
    stack_end = ((unsigned long)__builtin_frame_address(0) | 0xfff) + 1;
    mislead(2000);
    stack_end = 0;
    CHECK(pthread_create(&thread, 0, worker, 0) == 0 && pthread_join(thread, 0) == 0);
    char *stack = mmap(0, 32768 + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(stack != MAP_FAILED && munmap(stack + 32768, 4096) == 0);
    stack_end = (unsigned long)stack + 32768;
    CHECK(getcontext(&there) == 0);
    there.uc_stack.ss_sp = stack;
    there.uc_stack.ss_size = 32768;
    there.uc_link = &back;
    makecontext(&there, on_mapped_stack, 0);
    CHECK(swapcontext(&back, &there) == 0);
    say("not misled");
    return 0;
}
