/* A program that dies of a signal, in the way that the argument says. Kept: 5 objects of 59 bytes by main > hold. It has
 * no handler, or one that it has put back, or one of its own that ends it otherwise. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include "check.h"

FRAME static void hold(void) {
    for (int i = 0; i < 5; i++) keep(malloc(59));
}

static volatile int zero;

FRAME static long overflow(long n) {
    volatile char room[4096];
    room[0] = (char)n;
    return overflow(n + 1) + room[0];
}

FRAME static void *overflowing_thread(void *unused) {
    void *volatile first = malloc(58);
    free(first);
    overflow(0);
    return unused;
}

static void own(int number) {
    static char text[] = "own handler\n";
    CHECK(write(1, text, sizeof text - 1) == sizeof text - 1);
    _exit(20 + number);
}

static void cleaner(int number) {
    static char text[] = "cleaned\n";
    CHECK(write(1, text, sizeof text - 1) == sizeof text - 1);
    signal(number, SIG_DFL);
    raise(number);
}

static void chained(int number) {
    struct sigaction before;
    CHECK(sigaction(number, 0, &before) == 0);
    _exit(before.sa_handler == chained ? 30 : 99);
}

static int number_of(const char *name) {
    if (!strcmp(name, "TERM")) return SIGTERM;
    if (!strcmp(name, "INT")) return SIGINT;
    if (!strcmp(name, "HUP")) return SIGHUP;
    if (!strcmp(name, "QUIT")) return SIGQUIT;
    if (!strcmp(name, "USR1")) return SIGUSR1;
    if (!strcmp(name, "PIPE")) return SIGPIPE;
    if (!strcmp(name, "ALRM")) return SIGALRM;
    if (!strcmp(name, "SEGV")) return SIGSEGV;
    if (!strcmp(name, "XCPU")) return SIGXCPU;
    return 0;
}

int main(int argc, char **argv) {
    CHECK(argc == 2);
    char *way = argv[1];
    hold();
    say("dying by %s", way);
    if (number_of(way)) raise(number_of(way));
    if (!strcmp(way, "null")) *(volatile int *)0 = 1;
    if (!strcmp(way, "division")) zero = 100 / zero;
    if (!strcmp(way, "instruction")) __builtin_trap();
    if (!strcmp(way, "breakpoint")) __asm__ volatile("int3");
    if (!strcmp(way, "bus")) {
        FILE *file = tmpfile();
        CHECK(file);
        char *page = mmap(0, 4096, PROT_READ, MAP_PRIVATE, fileno(file), 0);
        CHECK(page != MAP_FAILED);
        zero = page[1];
    }
    if (!strcmp(way, "overflow")) overflow(0);
    if (!strcmp(way, "thread")) {
        pthread_t thread;
        CHECK(pthread_create(&thread, 0, overflowing_thread, 0) == 0);
        pthread_join(thread, 0);
    }
    if (!strcmp(way, "freed twice")) {
        void *volatile object = malloc(58), *again = object;
        free(object);
        free(again);
    }
    if (!strcmp(way, "abort")) abort();
    if (!strcmp(way, "own")) {
        struct sigaction before;
        CHECK(sigaction(SIGTERM, 0, &before) == 0 && before.sa_handler == SIG_DFL);
        CHECK(signal(SIGTERM, own) == SIG_DFL);
        raise(SIGTERM);
    }
    if (!strcmp(way, "cleaner")) {
        CHECK(signal(SIGTERM, cleaner) == SIG_DFL);
        CHECK(signal(SIGTERM, cleaner) == cleaner);
        raise(SIGTERM);
        sigset_t none;
        sigemptyset(&none);
        sigsuspend(&none);
    }
    if (!strcmp(way, "restored")) {
        struct sigaction action = {.sa_handler = own}, before, now;
        CHECK(sigaction(SIGTERM, &action, &before) == 0 && before.sa_handler == SIG_DFL);
        CHECK(sigaction(SIGTERM, &before, &now) == 0 && now.sa_handler == own);
        CHECK(sigaction(SIGTERM, 0, &now) == 0 && now.sa_handler == SIG_DFL && (now.sa_flags & ~0x04000000) == 0);
        raise(SIGTERM);
    }
    if (!strcmp(way, "chained")) {
        CHECK(signal(SIGHUP, chained) == SIG_DFL);
        raise(SIGHUP);
    }
    if (!strcmp(way, "ignored")) {
        CHECK(signal(SIGTERM, SIG_IGN) == SIG_DFL);
        raise(SIGTERM);
        CHECK(signal(SIGTERM, SIG_IGN) == SIG_IGN);
        return 8;
    }
    if (!strcmp(way, "blocked")) {
        sigset_t set;
        sigemptyset(&set);
        sigaddset(&set, SIGTERM);
        CHECK(sigprocmask(SIG_BLOCK, &set, 0) == 0);
        kill(getpid(), SIGTERM);
        int number = 0;
        CHECK(sigwait(&set, &number) == 0 && number == SIGTERM);
        return 9;
    }
    return 99;
}
