/* Two libraries, loaded, called and unloaded in turn, 10 rounds: each may lie where the other lay. All are gone at the
 * end. The report must still name their functions, and not mix them: 10 of each of 210, 220 and 230 bytes kept by
 * first_keep, as many by second_keep; first_keep's 220 below main > use > plugin_entry. */
#include <dlfcn.h>
#include "check.h"

FRAME int use(const char *name, int n) {
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    CHECK(library);
    int (*entry)(int) = (int (*)(int))dlsym(library, "plugin_entry");
    CHECK(entry);
    n = entry(n);
    CHECK(dlclose(library) == 0);
    return n;
}

int main(void) {
    int n = 0;
    for (int round = 0; round < 10; round++) {
        n = use("first.so", n);
        n = use("second.so", n);
    }
    CHECK(dlopen("absent.so", RTLD_NOW) == 0);
    CHECK(dlerror());
    say("%d calls", n);
    return 0;
}
