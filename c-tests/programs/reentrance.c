/* A signal comes at every instruction of malloc, calloc, realloc and free, the monitor's part included, and its handler
 * allocates and frees (the allocator behind, bump.c, can stand it). Each event must be counted exactly once, with its
 * chain or under [unknown]. The program writes how many handlers ran to the file `traps`: the report must show
 * 8 + 2 * traps allocations (one a trap of 47 bytes, one of 48), 7 + traps of them freed (those of 48 are kept, and one
 * of the program's own). */
#define _GNU_SOURCE
#include <fcntl.h>
#include "check.h"
#include "stepping.h"

enum { AT_MOST = 3000 };
static volatile int traps, this_time;

FRAME void in_handler(void) {
    free(malloc(47));
    void *volatile object = malloc(48);
    CHECK(object);
}

static void on_trap(void *context) {
    in_handler();
    traps++;
    if (++this_time >= AT_MOST) step_no_more(context);
}

static void *volatile object;

#define STEPPED(call) \
    do {              \
        this_time = 0; \
        step_on();    \
        call;         \
        step_off();   \
    } while (0)

FRAME void stepped(void) {
    for (int i = 0; i < 2; i++) { /* the second time all is warm */
        STEPPED(object = malloc(100));
        STEPPED(object = realloc(object, 200));
        STEPPED(free(object));
        STEPPED(object = calloc(10, 10));
        STEPPED(free(object));
    }
    STEPPED(object = malloc(300));
    object = malloc(400);
    free(object);
}

int main(void) {
    at_each_step(on_trap);
    stepped();
    char text[32];
    int length = snprintf(text, sizeof text, "%d\n", traps), file = open("traps", O_WRONLY | O_CREAT, 0600);
    CHECK(write(file, text, (size_t)length) == length);
    close(file);
    say("stepped");
    return 0;
}
