/* Keeps one object and loses one, then ends as its argument says; before, with "fork", a child loses another one and
 * _exits, having inherited the first. */
#include "reach.h"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

static void **holder;

FRAME void hold(void) { holder = object(150); }
FRAME void lose(void) { object(160); }
FRAME void lose_in_child(void) { object(170); }
FRAME void hold_in_child(void) { *holder = object(180); }

FRAME void *last(void *unused) {
    call(lose);
    exit(0);
    return unused;
}

int main(int count, char **arguments) {
    const char *how = count > 1 ? arguments[1] : "";
    call(hold);
    if (!strcmp(how, "thread")) {
        pthread_t thread;
        CHECK(pthread_create(&thread, 0, last, 0) == 0);
        pthread_exit(0);
    }
    call(lose);
    if (!strcmp(how, "_exit")) _exit(0);
    if (!strcmp(how, "quick_exit")) quick_exit(0);
    if (!strcmp(how, "abort")) abort();
    if (!strcmp(how, "signal")) {
        void *volatile on_stack = object(190);
        kill(getpid(), SIGTERM);
        CHECK(!on_stack);
    }
    if (!strcmp(how, "fork")) {
        pid_t child = fork();
        if (child == 0) {
            call(lose_in_child);
            call(hold_in_child);
            _exit(0);
        }
        int status = 0;
        CHECK(waitpid(child, &status, 0) == child && status == 0);
    }
    return 0;
}
