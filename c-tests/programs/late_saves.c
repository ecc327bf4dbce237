/* main returns while three threads allocate as fast as they can, and save the profile after each 500th object: what they
 * do after the last profile is written must not be seen. */
#include <pthread.h>
#include "check.h"
#include "../../mprof-preload/include/mprof.h"

static volatile int begun[3];

FRAME static void *worker(void *number) {
    for (;;) {
        void *volatile objects[16];
        for (int i = 0; i < 16; i++) objects[i] = malloc(24);
        for (int i = 0; i < 16; i++) free(objects[i]);
        begun[(long)number] = 1;
    }
    return 0;
}

int main(void) {
    pthread_t thread;
    SET_MPROF_AUTOSAVE(500);
    for (long i = 0; i < 3; i++) CHECK(pthread_create(&thread, 0, worker, (void *)i) == 0);
    while (!(begun[0] && begun[1] && begun[2])) usleep(1000);
    usleep(10000);
    return 0;
}
