/* Writes "." for each SIGUSR2 that it has sent to itself while four threads allocate and free as fast as they can; the
 * signal comes anywhere, also inside of malloc and free. Bare it ignores the signal. In the end main has kept 30 objects of 1000
 * bytes; the last snapshot is left as it was if the argument is "killed". */
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include "check.h"

static volatile int go_on = 1;

FRAME static void *worker(void *number) {
    unsigned seed = (unsigned)(long)number;
    void *volatile objects[64] = {0};
    while (go_on) {
        seed = seed * 1103515245 + 12345;
        int i = seed >> 16 & 63;
        free(objects[i]);
        objects[i] = malloc(seed >> 8 & 2047);
    }
    for (int i = 0; i < 64; i++) free(objects[i]);
    return 0;
}

FRAME static void keep_one(void) { keep(malloc(1000)); }

static ino_t file(void) {
    struct stat is;
    return stat("mprof.data", &is) == 0 ? is.st_ino : 0;
}

static void ignore(int number) { (void)number; }

int main(int argc, char **argv) {
    pthread_t threads[4];
    CHECK(argc == 2);
    if (!getenv("LD_PRELOAD")) signal(SIGUSR2, ignore);
    for (long i = 0; i < 4; i++) CHECK(pthread_create(&threads[i], 0, worker, (void *)i) == 0);
    for (int i = 0; i < 30; i++) {
        keep_one();
        if (i % 2) pthread_kill(threads[i % 4], SIGUSR2); else kill(getpid(), SIGUSR2);
        usleep(3000);
    }
    go_on = 0;
    for (int i = 0; i < 4; i++) CHECK(pthread_join(threads[i], 0) == 0);
    // No snapshot is being written any more, by whichever thread.
    if (!strcmp(argv[1], "killed")) {
        ino_t before = file();
        kill(getpid(), SIGUSR2);
        while (getenv("LD_PRELOAD") && file() == before) usleep(1000);
        raise(SIGKILL);
    }
    say("went on");
    return 0;
}
