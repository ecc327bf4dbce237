/* siglongjmp out of malloc, realloc and free after their first instruction, then after their second, and so on, in
 * larger steps further on (the allocator behind, bump.c, can stand it). Whatever the monitor was doing, it must record again afterwards: 3 objects
 * of 49 bytes by after_jump for each jump, whose chains are whole. The number of jumps is in the file `jumps`. At the end
 * 300 000 bytes come and go, and then 600 000, which the heap's curve must show, although some jumps were out of its
 * drawing. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include "check.h"
#include "stepping.h"

enum { AT_MOST = 1500 };
static sigjmp_buf back;
static volatile int traps, jump_at, jumps;
static void *volatile object;

static void on_trap(void *context) {
    (void)context;
    if (++traps == jump_at) siglongjmp(back, 1);
}

FRAME void after_jump(void) {
    for (int i = 0; i < 3; i++) {
        void *volatile forgotten = malloc(49);
        CHECK(forgotten);
    }
}

/* Deep in the stack, so that whatever comes after the jump is further out. */
FRAME void stepped(int which) {
    volatile char room[4096];
    void *old = object;
    room[0] = room[4095] = 1;
    step_on();
    if (which == 0) object = malloc(100);
    if (which == 1) object = realloc(old, 150);
    if (which == 2) free(old);
    if (which == 3) object = malloc(40000);
    step_off();
}

/* Whether it jumped: not any more when the call is over before the instruction is reached. */
FRAME int jumped_at(int which, int instruction) {
    object = malloc(50);
    traps = 0;
    jump_at = instruction;
    if (sigsetjmp(back, 1) == 0) {
        stepped(which);
        return 0;
    }
    jumps++;
    after_jump();
    return 1;
}

FRAME static void hill(size_t size) {
    void *objects[20];
    for (int i = 0; i < 20; i++) objects[i] = malloc(size);
    for (int i = 0; i < 20; i++) free(objects[i]);
}

int main(void) {
    at_each_step(on_trap);
    for (int which = 0; which < 3; which++)
        for (int i = 1; i <= AT_MOST && jumped_at(which, i); i += i < 200 ? 1 : 23) {
        }
    // A large object has a point of the curve drawn, late in the hook. After a jump everything takes longer.
    jumped_at(3, 300);
    jumped_at(3, INT_MAX);
    for (int i = traps - 500, last = traps; i < last; i += 31) {
        jumped_at(3, 300);
        jumped_at(3, i);
    }
    hill(15000);
    hill(30000);
    char text[32];
    int length = snprintf(text, sizeof text, "%d\n", jumps), file = open("jumps", O_WRONLY | O_CREAT, 0600);
    CHECK(write(file, text, (size_t)length) == length);
    close(file);
    say("jumped");
    return 0;
}
