/* The same chain through code without unwind information, wherever on the stack its frames come to lie: also across the
 * end of a page, and in the first allocation of a process or a thread. 256 threads, one after the other, go down by 16
 * bytes more each; then 256 processes have as much more in their environment each. Each keeps one object of 122 bytes
 * by seen_caller > blind_middle > seen_leaf. */
#define _GNU_SOURCE
#include "check.h"
#include <alloca.h>
#include <pthread.h>
#include <spawn.h>
#include <stdint.h>
#include <sys/wait.h>

enum { PLACES = 256, STEP = 16 };

int blind_middle(int n);
void seen_leaf(void);

FRAME void seen_leaf(void) { keep(malloc(122)); }
FRAME int seen_caller(int n) { return blind_middle(n) + 1; }

static void *at_place(void *place) {
    volatile char *room = alloca((uintptr_t)place * STEP + 1);
    room[0] = 0;
    seen_caller(room[0]);
    return NULL;
}

static void start_child(char *program, size_t place) {
    static char padding[PLACES * STEP + 1];
    char *arguments[] = {program, "child", padding, NULL};
    size_t length = place * STEP;
    for (size_t i = 0; i < length; i++) padding[i] = 'x';
    padding[length] = 0;
    pid_t child;
    int status;
    CHECK(posix_spawn(&child, program, NULL, NULL, arguments, environ) == 0);
    CHECK(waitpid(child, &status, 0) == child && status == 0);
}

int main(int argc, char **argv) {
    if (argc > 1) {
        seen_caller(argc);
        return 0;
    }
    for (uintptr_t place = 0; place < PLACES; place++) {
        pthread_t thread;
        CHECK(pthread_create(&thread, NULL, at_place, (void *)place) == 0);
        CHECK(pthread_join(thread, NULL) == 0);
    }
    for (size_t place = 0; place < PLACES; place++) start_child(argv[0], place);
    say("done");
    return 0;
}
