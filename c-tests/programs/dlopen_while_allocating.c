/* One thread loads and unloads libraries while two others allocate along changing chains and a third walks the list of
 * libraries and allocates under the loader's lock: that lock against the monitor's. The program must simply end. The
 * report must show 400 objects of 220 bytes kept below plugin_entry. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include "check.h"

static int stop;

FRAME void down(int levels) {
    if (levels > 0) down(levels - 1);
    else free(malloc(61));
}

FRAME void *allocator(void *unused) {
    for (int i = 0; !__atomic_load_n(&stop, __ATOMIC_RELAXED); i++) down(i % 40);
    return unused;
}

static int visit(struct dl_phdr_info *info, size_t size, void *data) {
    (void)info, (void)size, (void)data;
    free(malloc(62));
    return 0;
}

FRAME void *walker(void *unused) {
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) dl_iterate_phdr(visit, 0);
    return unused;
}

int main(void) {
    pthread_t threads[3];
    CHECK(pthread_create(&threads[0], 0, allocator, 0) == 0);
    CHECK(pthread_create(&threads[1], 0, allocator, 0) == 0);
    CHECK(pthread_create(&threads[2], 0, walker, 0) == 0);
    for (int i = 0; i < 400; i++) {
        void *library = dlopen(i % 2 ? "first.so" : "second.so", RTLD_NOW | RTLD_LOCAL);
        CHECK(library);
        int (*entry)(int) = (int (*)(int))dlsym(library, "plugin_entry");
        CHECK(entry(i) == i + 1);
        CHECK(dlsym(library, "absent") == 0);
        dlclose(library);
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], 0);
    say("400 loads");
    return 0;
}
