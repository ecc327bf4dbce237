/* A thread ends the process by exit(3), while main and others sleep: handlers run in that thread, and what they keep (1
 * object of 86 bytes) is in the profile, with main's 2 of 85. */
#include <pthread.h>
#include "check.h"

FRAME static void at_end(void) { keep(malloc(86)); }
FRAME static void *sleeper(void *unused) {
    pause();
    return unused;
}
FRAME static void *leaver(void *unused) {
    exit(7);
    return unused;
}

int main(void) {
    pthread_t thread;
    atexit(at_end);
    for (int i = 0; i < 2; i++) keep(malloc(85));
    for (int i = 0; i < 4; i++) CHECK(pthread_create(&thread, 0, sleeper, 0) == 0);
    say("a thread leaves");
    CHECK(pthread_create(&thread, 0, leaver, 0) == 0);
    pause();
    return 99;
}
