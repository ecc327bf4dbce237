/* What a program may ask of the profiler, by weak declarations: without the profiler they are null, and this program does
 * the same.
 *
 *   stop      100 objects of 20 bytes by before, then mprof_stop, then 50 of 30 bytes by after: not recorded
 *   restart   the same, but mprof_restart("mprof.data.2") instead: after's 50 are in mprof.data.2, before's in mprof.data;
 *             the frees of before's objects are nobody's
 *   again     three recordings one after the other, with a thread that allocates all the time
 *   saving    the same, and a profile after each 1000th object
 *   coming    the same, with threads that come and go all the time, each with a few objects
 *   crowd     300 threads one after the other in each of three, 16 objects each, a profile after each 40th
 *   autosave  250 objects, a profile after each 100th, then SIGKILL
 *   saved     250 objects, then SIGKILL (run with MPROF_AUTOSAVE)
 *   fork      as restart, and a child that keeps 7 objects of 70 bytes: mprof.data.2.PID
 *   off       mprof_restart(NULL) after 100 objects, then 50 (run with MPROF_START=off, only these are recorded) */
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include "check.h"
#include "../../mprof-preload/include/mprof.h"

static void *objects[1000];

FRAME static void before(int count) {
    for (int i = 0; i < count; i++) objects[i] = malloc(20);
}
FRAME static void after(int count) {
    for (int i = 0; i < count; i++) keep(malloc(30));
}
FRAME static void in_child(void) {
    for (int i = 0; i < 7; i++) keep(malloc(70));
}
FRAME static void release(int count) {
    for (int i = 0; i < count; i++) free(objects[i]);
}

static volatile int go_on = 1;
FRAME static void *worker(void *unused) {
    while (go_on) {
        void *volatile list[16];
        for (int i = 0; i < 16; i++) list[i] = malloc(24);
        for (int i = 0; i < 16; i++) free(list[i]);
    }
    return unused;
}

FRAME static void *visitor(void *unused) {
    void *volatile list[16];
    for (int i = 0; i < 16; i++) list[i] = malloc(24);
    for (int i = 0; i < 16; i++) free(list[i]);
    return unused;
}
static void visit(void) {
    pthread_t thread;
    CHECK(pthread_create(&thread, 0, visitor, 0) == 0);
    CHECK(pthread_join(thread, 0) == 0);
}
static void *crowd(void *unused) {
    for (int i = 0; i < 300; i++) visit();
    return unused;
}
static void *coming(void *unused) {
    while (go_on) visit();
    return unused;
}
static void begin(void *(*work)(void *), pthread_t threads[3]) {
    for (int i = 0; i < 3; i++) CHECK(pthread_create(&threads[i], 0, work, 0) == 0);
}
static void end(pthread_t threads[3]) {
    for (int i = 0; i < 3; i++) CHECK(pthread_join(threads[i], 0) == 0);
}

int main(int argc, char **argv) {
    CHECK(argc == 2);
    char *way = argv[1];
    if (!strcmp(way, "stop")) {
        before(100);
        MPROF_STOP();
        after(50);
        release(100);
    }
    if (!strcmp(way, "restart") || !strcmp(way, "fork")) {
        before(100);
        MPROF_RESTART("mprof.data.2");
        after(50);
        release(100);
    }
    if (!strcmp(way, "fork")) {
        pid_t child = fork();
        if (child == 0) {
            in_child();
            return 0;
        }
        int status;
        CHECK(waitpid(child, &status, 0) == child && status == 0);
    }
    pthread_t threads[3];
    if (!strcmp(way, "again") || !strcmp(way, "saving") || !strcmp(way, "coming")) {
        if (*way == 's') SET_MPROF_AUTOSAVE(1000);
        begin(*way == 'c' ? coming : worker, threads);
        char name[] = "mprof.data.10";
        for (int i = 0; i < 20; i++) {
            name[12] = (char)('0' + i % 10);
            MPROF_RESTART(name);
            after(10 + i % 10);
            usleep(2000);
        }
        MPROF_STOP();
        go_on = 0;
        end(threads);
    }
    if (!strcmp(way, "crowd")) {
        SET_MPROF_AUTOSAVE(40);
        begin(crowd, threads);
        end(threads);
    }
    if (!strcmp(way, "autosave")) {
        SET_MPROF_AUTOSAVE(100);
        before(250);
        raise(SIGKILL);
    }
    if (!strcmp(way, "saved")) {
        before(250);
        raise(SIGKILL);
    }
    if (!strcmp(way, "off")) {
        before(100);
        MPROF_RESTART(0);
        after(50);
        release(100);
    }
    say("%s", way);
    return 0;
}
