/* Eight threads look for functions and libraries that do not exist, and read the loader's messages, which the loader
 * allocates; each must see its own. Each thread keeps one object of 61 bytes. */
#include <dlfcn.h>
#include <pthread.h>
#include "check.h"

enum { THREADS = 8, ROUNDS = 200 };

FRAME static void *worker(void *number) {
    char name[32], *message;
    for (int i = 0; i < ROUNDS; i++) {
        snprintf(name, sizeof name, "absent_%ld_%d", (long)number, i);
        CHECK(dlsym(RTLD_DEFAULT, name) == 0);
        CHECK((message = dlerror()) && strstr(message, name));
        CHECK(dlerror() == 0);
        CHECK(dlsym(RTLD_NEXT, name) == 0 && dlerror());
        CHECK(dlopen(name, RTLD_NOW) == 0);
        CHECK((message = dlerror()) && strstr(message, name));
    }
    return malloc(61);
}

int main(void) {
    pthread_t threads[THREADS];
    CHECK(dlerror() == 0); /* the monitor left no error behind */
    for (long i = 0; i < THREADS; i++) CHECK(pthread_create(&threads[i], 0, worker, (void *)i) == 0);
    for (int i = 0; i < THREADS; i++) CHECK(pthread_join(threads[i], 0) == 0);
    say("%d errors each", 4 * ROUNDS - ROUNDS);
    return 0;
}
