/* A signal handler forks in the midst of a malloc and a free, and the child goes on in the midst of them: then it has 8
 * objects of 80 bytes in in_child, and ends. The number of children that did not end with status 0 is printed.
 *
 *   known   after every fourth instruction, with a chain that the monitor knows by then
 *   first   after every 41st, with the first events of a thread, and those of one after its end */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/wait.h>
#include "check.h"
#include "stepping.h"

static volatile int steps, every = 4, traps, failed, is_child;

static void on_trap(void *context) {
    if (traps++ % every != 0) return;
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

static void *thread(void *unused) {
    stepped();
    return unused;
}

int main(int argc, char **argv) {
    CHECK(argc == 2);
    at_each_step(on_trap);
    if (!strcmp(argv[1], "known")) {
        for (int i = 0; i < 3; i++) {
            steps = i == 2;
            stepped();
        }
    } else {
        steps = 1;
        every = 41;
        for (int i = 0; i < 2; i++) {
            pthread_t first;
            CHECK(pthread_create(&first, 0, thread, 0) == 0);
            CHECK(pthread_join(first, 0) == 0);
        }
    }
    CHECK(traps > 20);
    say("%d failed", failed);
    return 0;
}
