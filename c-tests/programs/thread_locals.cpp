/* thread_local objects with destructors, made and destroyed by 100 threads; destructors registered by the first use run
 * late in a thread's end. Nothing of local_text is kept; at_thread_end keeps an object of 29 bytes a thread. */
#include <pthread.h>
#include <string>
#include "check.h"

FRAME static void at_thread_end() {
    void *volatile forgotten = malloc(29);
    CHECK(forgotten);
}

struct Local {
    std::string text;
    ~Local() {
        std::string last = text + text;
        at_thread_end();
    }
};

static thread_local Local local;

FRAME static void local_text() { local.text.assign(300, 't'); }

FRAME static void *worker(void *unused) {
    local_text();
    return unused;
}

int main() {
    for (int i = 0; i < 100; i++) {
        pthread_t thread;
        CHECK(pthread_create(&thread, nullptr, worker, nullptr) == 0);
        CHECK(pthread_join(thread, nullptr) == 0);
    }
    say("100 threads");
    return 0;
}
