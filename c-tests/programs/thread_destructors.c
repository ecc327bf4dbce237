/* Each thread's key destructor frees what the thread kept in the key, allocates something else, puts it into the key
 * again (so that the destructor runs a second time) and at last keeps an object of 60 bytes: allocations at a time when
 * the thread's own data of other libraries may be gone. The report must show 200 of 30 bytes and 200 of 40 freed, and
 * 200 of 60 kept by at_thread_end. */
#include <pthread.h>
#include "check.h"

static pthread_key_t key;

struct value {
    int round;
    char rest[20];
};

FRAME void at_thread_end(void *object) {
    struct value *value = object;
    int round = value->round;
    free(value);
    if (round == 0) {
        value = malloc(40);
        value->round = 1;
        pthread_setspecific(key, value);
    } else {
        void *volatile forgotten = malloc(60);
        CHECK(forgotten);
    }
}

FRAME void *worker(void *unused) {
    struct value *value = malloc(30);
    value->round = 0;
    pthread_setspecific(key, value);
    return unused;
}

int main(void) {
    pthread_key_create(&key, at_thread_end);
    for (int i = 0; i < 200; i++) {
        pthread_t thread;
        CHECK(pthread_create(&thread, 0, worker, 0) == 0);
        CHECK(pthread_join(thread, 0) == 0);
    }
    say("200 threads");
    return 0;
}
