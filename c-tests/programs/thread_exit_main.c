/* main ends by pthread_exit; the process ends with its last thread, in which three objects of 150 bytes were kept. By
 * then /proc/self/maps reads empty, so the names of the modules must come from elsewhere. */
#include <pthread.h>
#include "check.h"

static pthread_t first;

FRAME void keep_three(void) {
    for (int i = 0; i < 3; i++) keep(malloc(150));
}

FRAME void *last(void *unused) {
    CHECK(pthread_join(first, 0) == 0);
    keep_three();
    say("the last thread ends");
    return unused;
}

int main(void) {
    pthread_t thread;
    first = pthread_self();
    CHECK(pthread_create(&thread, 0, last, 0) == 0);
    pthread_exit(0);
}
