/* A signal comes at every instruction of a free, and its handler frees another object of the same size that the same
 * call made: both frees raise the same counters, one in the middle of the other (the allocator behind, bump.c, can stand
 * it). The same with realloc. None may be lost: the report must show pool_object's 4000 objects of 100 bytes, all but
 * the number that the program writes to the file `left` freed. */
#define _GNU_SOURCE
#include <fcntl.h>
#include "check.h"
#include "stepping.h"

enum { OBJECTS = 4000, AT_MOST = 900 };
static void *volatile pool[OBJECTS];
static volatile int next, this_time;
static void *volatile moved;

FRAME void *pool_object(void) { return malloc(100); }

FRAME void *take(void) {
    int at = next++;
    CHECK(at < OBJECTS);
    return pool[at];
}

FRAME void in_handler(void) { free(take()); }

static void on_trap(void *context) {
    in_handler();
    if (++this_time >= AT_MOST) step_no_more(context);
}

FRAME void stepped_free(void) {
    void *object = take();
    this_time = 0;
    step_on();
    free(object);
    step_off();
}

FRAME void stepped_realloc(void) {
    void *object = take();
    this_time = 0;
    step_on();
    moved = realloc(object, 200);
    step_off();
}

int main(void) {
    for (int i = 0; i < OBJECTS; i++) pool[i] = pool_object();
    at_each_step(on_trap);
    stepped_free();
    stepped_realloc();
    stepped_free();
    char text[32];
    int length = snprintf(text, sizeof text, "%d\n", OBJECTS - next), file = open("left", O_WRONLY | O_CREAT, 0600);
    CHECK(write(file, text, (size_t)length) == length);
    close(file);
    say("stepped");
    return 0;
}
