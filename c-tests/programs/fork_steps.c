/* A signal handler forks after every fourth single instruction of a malloc and a free, with a chain that the monitor
 * knows by then. The child goes on in the midst of them: then it has 8 objects of 80 bytes in in_child, and ends. The
 * number of children that did not end with status 0 is printed. */
#define _GNU_SOURCE
#include <sys/wait.h>
#include "check.h"
#include "stepping.h"

static volatile int steps, traps, failed, is_child;

static void on_trap(void *context) {
    if (traps++ % 4 != 0) return;
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        is_child = 1;
        step_no_more(context);
        return;
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child);
    if (status != 0) failed++;
}

FRAME static void in_child(void) {
    void *volatile objects[8];
    for (int i = 0; i < 8; i++) objects[i] = malloc(80);
    for (int i = 0; i < 8; i++) free(objects[i]);
}

FRAME static void stepped(void) {
    if (steps) step_on();
    void *volatile object = malloc(48);
    free(object);
    step_off();
    if (!is_child) return;
    in_child();
    exit(0);
}

int main(void) {
    at_each_step(on_trap);
    for (int i = 0; i < 3; i++) {
        steps = i == 2;
        stepped();
    }
    CHECK(traps > 20);
    say("%d failed", failed);
    return 0;
}
