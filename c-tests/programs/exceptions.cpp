/* Exceptions thrown through frames that own memory, caught, rethrown and nested, 500 times and in threads: every owner's
 * destructor must run, each exception object must be freed. The report must show nothing kept but catch_keep's 4 of 333
 * bytes and the unwinder's own, if any. */
#include <pthread.h>
#include <stdexcept>
#include <string>
#include "check.h"

static int alive;

struct Owner {
    void *object;
    explicit Owner(std::size_t size) : object(malloc(size)) { __atomic_fetch_add(&alive, 1, __ATOMIC_RELAXED); }
    ~Owner() {
        free(object);
        __atomic_fetch_sub(&alive, 1, __ATOMIC_RELAXED);
    }
};

FRAME static void thrower(int levels) {
    Owner owner(100 + static_cast<std::size_t>(levels));
    if (levels == 0) throw std::runtime_error(std::string(80, 'x'));
    thrower(levels - 1);
}

FRAME static void rethrower(int levels) {
    Owner owner(50);
    try {
        thrower(levels);
    } catch (const std::exception &) {
        Owner inner(60);
        throw;
    }
}

FRAME static int catcher(int rounds) {
    int caught = 0;
    for (int i = 0; i < rounds; i++) {
        try {
            rethrower(i % 10);
        } catch (const std::runtime_error &error) {
            caught += strlen(error.what()) == 80;
        }
    }
    return caught;
}

FRAME static void catch_keep() {
    try {
        throw 4;
    } catch (int count) {
        for (int i = 0; i < count; i++) keep(malloc(333));
    }
}

FRAME static void *worker(void *unused) {
    CHECK(catcher(100) == 100);
    return unused;
}

int main() {
    int caught = catcher(500);
    pthread_t threads[4];
    for (pthread_t &thread : threads) CHECK(pthread_create(&thread, nullptr, worker, nullptr) == 0);
    for (pthread_t thread : threads) pthread_join(thread, nullptr);
    catch_keep();
    say("caught %d, alive %d", caught, alive);
    return 0;
}
