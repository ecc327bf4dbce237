/* Asks the C library's handle for malloc, free and their kin, as foreign function interfaces do, and mixes what it gets
 * with its own. 200 objects of 65 bytes by made, all freed. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <malloc.h>
#include "check.h"

FRAME static void *made(void *(*allocate)(size_t)) { return allocate(65); }

int main(void) {
    void *library = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
    CHECK(library);
    void *(*allocate)(size_t) = (void *(*)(size_t))dlsym(library, "malloc");
    void *(*change)(void *, size_t) = (void *(*)(void *, size_t))dlsym(library, "realloc");
    void (*release)(void *) = (void (*)(void *))dlsym(library, "free");
    size_t (*usable)(void *) = (size_t (*)(void *))dlsym(library, "malloc_usable_size");
    char *(*copy)(const char *) = (char *(*)(const char *))dlsym(library, "strdup");
    CHECK(allocate && change && release && usable && copy);
    for (int i = 0; i < 100; i++) {
        free(made(allocate));
        release(made(malloc));
        release(copy("a foreign interface"));
        void *object = change(malloc(66), 67);
        CHECK(object && usable(object) >= 67 && malloc_usable_size(object) == usable(object));
        free(object);
    }
    CHECK(dlsym(library, "no_such_function") == 0 && dlerror());
    CHECK(dlsym(RTLD_DEFAULT, "malloc") == (void *)malloc);
    say("called by address");
    return 0;
}
