/* Libraries in link-map namespaces of their own (dlmopen), each with a C library of its own: their allocations pass us
 * by, ours do not pass by theirs, and threads, chains and the end are as ever. Kept: 10 objects of 84 bytes by
 * main > hold. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include "check.h"

FRAME static void hold(void) {
    for (int i = 0; i < 10; i++) keep(malloc(84));
}

int main(void) {
    for (int round = 0; round < 3; round++) {
        void *library = dlmopen(LM_ID_NEWLM, "first.so", RTLD_NOW | RTLD_LOCAL);
        if (!library) say("%s", dlerror());
        CHECK(library);
        int (*entry)(int) = (int (*)(int))dlsym(library, "plugin_entry");
        CHECK(entry && entry(4) == 5);
        CHECK(dlclose(library) == 0);
    }
    hold();
    say("apart");
    return 0;
}
