/* 20 coroutines on stacks of their own (with a guard page below), switched 100 times each; each allocates at every turn
 * and keeps one object of 64 bytes. The report must show the chain coroutine > turn, which begins at the coroutine, and
 * main none of it. */
#include <sys/mman.h>
#include <ucontext.h>
#include "check.h"

enum { COROUTINES = 20, TURNS = 100, STACK = 65536 };

static ucontext_t scheduler, contexts[COROUTINES];
static int turns[COROUTINES];

FRAME void turn(int number, int i) {
    void *object = malloc(64);
    if (i == 0) keep(object);
    else free(object);
    turns[number]++;
}

FRAME void coroutine(int number) {
    for (int i = 0; i < TURNS; i++) {
        turn(number, i);
        swapcontext(&contexts[number], &scheduler);
    }
}

int main(void) {
    for (volatile int n = 0; n < COROUTINES; n++) {
        char *stack = mmap(0, STACK + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        CHECK(stack != MAP_FAILED && mprotect(stack, 4096, PROT_NONE) == 0);
        CHECK(getcontext(&contexts[n]) == 0);
        contexts[n].uc_stack.ss_sp = stack + 4096;
        contexts[n].uc_stack.ss_size = STACK;
        contexts[n].uc_link = &scheduler;
        makecontext(&contexts[n], (void (*)(void))coroutine, 1, n);
    }
    for (int i = 0; i <= TURNS; i++)
        for (int n = 0; n < COROUTINES; n++) swapcontext(&scheduler, &contexts[n]);
    for (int n = 0; n < COROUTINES; n++) CHECK(turns[n] == TURNS);
    say("%d coroutines", COROUTINES);
    return 0;
}
