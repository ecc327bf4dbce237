/* A library opened with RTLD_DEEPBIND is bound to the C library's own malloc and free before any other's. Objects cross in
 * all directions: the program frees the library's, the library frees the program's and those that the C library made
 * for it (strdup, getline), also in its constructor, and by functions that are bound only at the first call. It has a
 * function of the program's name, and must call its own.
 *
 * deep_make keeps 100 objects of 45 bytes, of which main frees 60; main's 50 objects of 46 bytes are freed by deep_take. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include "check.h"

int which(void) { return 1; } /* exported: the library has another */

FRAME static void *make(void) { return malloc(46); }

int main(int argc, char **argv) {
    CHECK(argc == 2);
    int mode = strcmp(argv[1], "lazy") ? RTLD_NOW : RTLD_LAZY;
    for (int round = 0; round < 2; round++) { /* a library that is there already, too */
        void *library = dlopen("deep.so", mode | RTLD_LOCAL | RTLD_DEEPBIND);
        if (!library) say("%s", dlerror());
        CHECK(library);
        int (*ask)(void) = (int (*)(void))dlsym(library, "deep_which");
        void *(*give)(int) = (void *(*)(int))dlsym(library, "deep_make");
        void (*take)(void *) = (void (*)(void *))dlsym(library, "deep_take");
        char *(*copy)(const char *) = (char *(*)(const char *))dlsym(library, "deep_copy");
        CHECK(ask && give && take && copy && ask() == 2 && which() == 1);
        for (int i = 0; i < 50; i++) {
            void *object = give(i);
            if (i < 30) free(object);
        }
        for (int i = 0; i < 25; i++) take(make());
        char *text = copy("crossing");
        CHECK(!strcmp(text, "crossing"));
        free(realloc(text, 100));
        void (*free_there)(void *) = (void (*)(void *))dlsym(library, "free");
        CHECK(free_there);
        free_there(malloc(47));
    }
    say("crossed");
    return 0;
}
