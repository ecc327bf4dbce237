/* Threads on the smallest stack that the system allows, in which the program uses nearly nothing: the monitor's own use
 * of the stack must be small. 100 threads keep an object of 70 bytes each. */
#include <limits.h>
#include <pthread.h>
#include "check.h"

FRAME void *worker(void *unused) {
    for (int i = 0; i < 50; i++) free(realloc(malloc(10), 1000));
    void *volatile object = malloc(70);
    CHECK(object);
    return unused;
}

int main(void) {
    pthread_attr_t small;
    pthread_attr_init(&small);
    CHECK(pthread_attr_setstacksize(&small, 16384) == 0);
    for (int i = 0; i < 100; i++) {
        pthread_t thread;
        CHECK(pthread_create(&thread, &small, worker, 0) == 0);
        CHECK(pthread_join(thread, 0) == 0);
    }
    say("100 small stacks");
    return 0;
}
