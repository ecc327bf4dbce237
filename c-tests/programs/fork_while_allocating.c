/* fork while two other threads allocate without pause: whatever the monitor's tables and locks were in the middle of,
 * the child must be able to allocate, free and end. 60 children, each with a file that shows its own 20 objects kept. */
#include <pthread.h>
#include <sys/wait.h>
#include "check.h"

static int stop;

FRAME void *busy(void *unused) {
    for (size_t size = 1; !__atomic_load_n(&stop, __ATOMIC_RELAXED); size = size % 500 + 1) free(malloc(size));
    return unused;
}

FRAME void in_child(void) {
    for (int i = 0; i < 20; i++) keep(malloc(64));
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) CHECK(pthread_create(&threads[i], 0, busy, 0) == 0);
    for (int n = 0; n < 60; n++) {
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            in_child();
            exit(0);
        }
        int status;
        CHECK(waitpid(child, &status, 0) == child && status == 0);
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    say("60 children");
    return 0;
}
