/* Threads that are cancelled while they wait; the forced unwinding runs cleanup handlers, which free one object and
 * allocate another. The report must show target's objects freed and 50 of 90 bytes kept by cleanup. */
#include <pthread.h>
#include "check.h"

static int ready[2];

FRAME void cleanup(void *object) {
    free(object);
    void *volatile forgotten = malloc(90);
    CHECK(forgotten);
}

FRAME void *target(void *unused) {
    pthread_cleanup_push(cleanup, malloc(45));
    CHECK(write(ready[1], "x", 1) == 1);
    for (;;) pause();
    pthread_cleanup_pop(0);
    return unused;
}

int main(void) {
    CHECK(pipe(ready) == 0);
    for (int i = 0; i < 50; i++) {
        pthread_t thread;
        void *result;
        char c;
        CHECK(pthread_create(&thread, 0, target, 0) == 0);
        CHECK(read(ready[0], &c, 1) == 1);
        CHECK(pthread_cancel(thread) == 0);
        CHECK(pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED);
    }
    say("50 cancelled");
    return 0;
}
