/* Everything at once, by the seed that the argument says: threads that allocate at random and pass objects on, short
 * threads, handlers that allocate, a timer, forks, children that exec, libraries that come and go, and requests for
 * snapshots. Prints what `take` allocated and `give` freed in this process; by the end that is all. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/time.h>
#include <sys/wait.h>
#include "check.h"

enum { WORKERS = 4, STEPS = 6000, OWN = 64, SHARED = 32, FORKS = 24, LOADS = 60 };

static atomic_ulong objects, bytes, freed;
static _Atomic(void *) shared[SHARED];

FRAME static void *take(size_t size) {
    char *object = malloc(size);
    CHECK(object);
    object[0] = object[size - 1] = (char)size;
    objects++, bytes += size;
    return object;
}
FRAME static void give(void *object) {
    if (!object) return;
    freed++;
    free(object);
}
FRAME static void *by_depth(int depth, size_t size) {
    void *object = depth ? by_depth(depth - 1, size) : take(size);
    return object;
}

static unsigned long next(unsigned long *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    return *state ^= *state << 17;
}

static void on_raised(int number) {
    (void)number;
    give(take(33));
}
static volatile sig_atomic_t ticks;
static void on_tick(int number) {
    (void)number;
    ticks++;
}
static void ignore(int number) { (void)number; }

FRAME static void *brief(void *size) {
    give(take((size_t)size));
    return 0;
}

FRAME static void *worker(void *seed) {
    unsigned long state = (unsigned long)seed;
    void *own[OWN] = {0};
    for (int step = 0; step < STEPS; step++) {
        unsigned long number = next(&state);
        int slot = (int)((number >> 8) % OWN);
        size_t size = 1 + (number >> 16) % (number % 50 ? 400 : 200000);
        give(own[slot]);
        own[slot] = by_depth((int)((number >> 40) % 20), size);
        if (number % 3 == 0) own[slot] = atomic_exchange(&shared[(number >> 20) % SHARED], own[slot]);
        if (step % 500 == 499) raise(SIGUSR1);
        if (step % 1500 == 1499) {
            pthread_t thread;
            CHECK(pthread_create(&thread, 0, brief, (void *)(40 + number % 100)) == 0);
            CHECK(pthread_join(thread, 0) == 0);
        }
    }
    for (int slot = 0; slot < OWN; slot++) give(own[slot]);
    return 0;
}

FRAME static void *loader(void *unused) {
    for (int i = 0; i < LOADS; i++) {
        void *library = dlopen(i % 2 ? "first.so" : "second.so", RTLD_NOW);
        CHECK(library);
        int (*entry)(int) = (int (*)(int))dlsym(library, "plugin_entry");
        CHECK(entry && entry(i) == i + 1 && dlclose(library) == 0);
    }
    return unused;
}

FRAME static void in_child(int number) {
    if (number % 3 == 0) execl("/bin/true", "true", (char *)0);
    for (int i = 0; i < 10; i++) keep(malloc(77));
    for (int i = 0; i < 5; i++) free(kept[i]);
    // Not exit: its lock may have been held by a thread that the child does not have.
    if (number % 3 == 1) _Exit(0);
    _exit(0);
}

int main(int argc, char **argv) {
    CHECK(argc == 2);
    unsigned long seed = strtoul(argv[1], 0, 10) * 2654435761u + 1;
    pthread_t threads[WORKERS], loads;
    struct sigaction raised = {.sa_handler = on_raised, .sa_flags = SA_RESTART};
    struct sigaction tick = {.sa_handler = on_tick, .sa_flags = SA_RESTART};
    struct itimerval every = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
    sigaction(SIGUSR1, &raised, 0);
    sigaction(SIGALRM, &tick, 0);
    if (!getenv("LD_PRELOAD")) signal(SIGUSR2, ignore);
    setitimer(ITIMER_REAL, &every, 0);
    for (int i = 0; i < WORKERS; i++) {
        unsigned long of_worker = next(&seed);
        CHECK(pthread_create(&threads[i], 0, worker, (void *)of_worker) == 0);
    }
    CHECK(pthread_create(&loads, 0, loader, 0) == 0);
    for (int i = 0; i < FORKS; i++) {
        int status;
        pid_t child = fork();
        if (child == 0) in_child(i);
        if (i % 4 == 0) kill(getpid(), SIGUSR2);
        CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
    }
    for (int i = 0; i < WORKERS; i++) CHECK(pthread_join(threads[i], 0) == 0);
    CHECK(pthread_join(loads, 0) == 0);
    setitimer(ITIMER_REAL, &never, 0);
    for (int i = 0; i < SHARED; i++) give(shared[i]);
    say("%lu %lu %lu", (unsigned long)objects, (unsigned long)bytes, (unsigned long)freed);
    return 0;
}
