/* How much stack the monitor needs: in threads with a stack of our own, all below the stack pointer is filled with a
 * pattern before each operation, and looked at after it. Writes what each took, in bytes, to the file `use`:
 *
 *   first    a thread's first allocation
 *   warming  allocations and frees by a chain that becomes known
 *   warm     the same, known
 *   new      allocations by chains that are not
 *   change   realloc, memalign and calloc
 *   frames   chains through frames that need all registers to unwind
 *   nested   an allocation in a signal handler that interrupts malloc at each of its instructions (less the signal
 *            frame, which is the kernel's)
 *   twice    a free of an object that the C library does not know, and one of one that the monitor does not know
 *   exec     an exec that fails
 *   stop     writing the profile (0 without the profiler) */
#define _GNU_SOURCE
#include <alloca.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include "check.h"
#include "stepping.h"
#include "../../mprof-preload/include/mprof.h"

enum { STACK = 256 * 1024, PATTERN = 0xa5 };
static char stacks[STACK] __attribute__((aligned(4096)));
static int use_file;

FRAME static void *turn(int way, int depth) {
    volatile char room[16];
    room[0] = (char)way;
    void *object = depth == 0 ? malloc(40) : turn(way * 3, depth - 1);
    return room[0] ? object : object;
}
FRAME static void *other(int way) { return malloc((size_t)way); }

static void warm(void) {
    for (int i = 0; i < 100; i++) free(other(24));
}
static void first(void) { free(other(24)); }
static void new_chains(void) {
    for (int depth = 0; depth < 40; depth++) free(turn(1, depth));
    for (int i = 0; i < 3; i++) free(other(30 + i));
}
static void change(void) {
    free(realloc(realloc(malloc(30), 3000), 100000));
    free(memalign(4096, 5000));
    free(calloc(30, 30));
    free(reallocarray(0, 10, 10));
}
FRAME static void *variable(int n) {
    char *room = alloca((size_t)n);
    memset(room, 1, (size_t)n);
    _Alignas(64) char aligned[64];
    memset(aligned, room[n - 1], sizeof aligned);
    void *object = malloc((size_t)aligned[7] + 30);
    return object;
}
static void frames(void) {
    for (int i = 1; i < 5; i++) free(variable(100 * i));
}
static volatile int in_handler;
static long deepest_frame;
static void on_trap(void *context) {
    if (in_handler) return;
    in_handler = 1;
    char *interrupted = (char *)((ucontext_t *)context)->uc_mcontext.gregs[REG_RSP];
    char here;
    if (interrupted - &here > deepest_frame) deepest_frame = interrupted - &here;
    free(other(50));
    in_handler = 0;
}
static void nested(void) {
    at_each_step(on_trap);
    step_on();
    void *volatile object = other(60);
    free(object);
    step_off();
}
static void twice(void) {
    char *(*copy)(const char *) = (char *(*)(const char *))dlsym(RTLD_DEFAULT, "strdup");
    free(copy("text"));
}
static void fail_to_exec(void) {
    execl("/nonexistent", "nonexistent", (char *)0);
    execle("/nonexistent", "nonexistent", (char *)0, environ);
    execve("/nonexistent", (char *[]){"a", 0}, environ);
}
static void stop(void) { MPROF_STOP(); }

struct operation {
    const char *name;
    void (*run)(void);
};

FRAME static void measure(struct operation *operation) {
    volatile char *low = stacks, *here = (volatile char *)__builtin_frame_address(0) - 512;
    for (volatile char *at = low; at < here; at++) *at = (char)PATTERN;
    deepest_frame = 0;
    operation->run();
    while (low < here && *low == (char)PATTERN) low++;
    char line[64];
    long used = here - low - deepest_frame;
    int length = snprintf(line, sizeof line, "%s %ld\n", operation->name, used < 0 ? 0 : used);
    CHECK(write(use_file, line, (size_t)length) == length);
}

FRAME static void *worker(void *operations) {
    for (struct operation *one = operations; one->run; one++) measure(one);
    return 0;
}

static void on_new_stack(struct operation *operations) {
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    CHECK(pthread_attr_setstack(&attributes, stacks, STACK) == 0);
    CHECK(pthread_create(&thread, &attributes, worker, operations) == 0);
    CHECK(pthread_join(thread, 0) == 0);
}

int main(void) {
    use_file = open("use", O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
    static struct operation alone[] = {{"first", first}, {0, 0}};
    static struct operation all[] = {{"begin", first}, {"warming", warm}, {"warm", warm}, {"new", new_chains}, {"change", change},
        {"frames", frames}, {"nested", nested}, {"twice", twice}, {"exec", fail_to_exec}, {"stop", stop}, {0, 0}};
    on_new_stack(alone);
    on_new_stack(all);
    say("measured");
    return 0;
}
