/* A library with 1.5 KB of static thread storage, of which little is left for libraries that are opened later, and one with
 * an alignment of 64: both must fit under the monitor if they fit without. Its storage is used in a thread. */
#include <dlfcn.h>
#include <pthread.h>
#include "check.h"

static int (*use)(int);

FRAME static void *worker(void *unused) {
    for (int i = 1; i <= 10; i++) CHECK(use(5) == 5 * i);
    keep(malloc(37));
    return unused;
}

int main(void) {
    pthread_t thread;
    void *library = dlopen("tls.so", RTLD_NOW);
    if (!library) say("%s", dlerror());
    CHECK(library && (use = (int (*)(int))dlsym(library, "use")));
    CHECK(pthread_create(&thread, 0, worker, 0) == 0 && pthread_join(thread, 0) == 0);
    CHECK(use(3) == 3);
    say("fits");
    return 0;
}
