/* main returns while three threads are still allocating at full speed: the profile is written under their feet. The
 * program must end as it does bare; the report's tables must agree with each other; 5 objects of 333 bytes are kept by
 * main's own keep_five. */
#include <pthread.h>
#include "check.h"

static int running;

FRAME void keep_five(void) {
    for (int i = 0; i < 5; i++) keep(malloc(333));
}

FRAME void *worker(void *unused) {
    __atomic_fetch_add(&running, 1, __ATOMIC_RELEASE);
    for (size_t size = 1;; size = size % 900 + 1) free(malloc(size));
    return unused;
}

int main(void) {
    for (int i = 0; i < 3; i++) {
        pthread_t thread;
        CHECK(pthread_create(&thread, 0, worker, 0) == 0);
        pthread_detach(thread);
    }
    while (__atomic_load_n(&running, __ATOMIC_ACQUIRE) < 3) usleep(100);
    keep_five();
    usleep(20000);
    say("leaving");
    return 0;
}
