/* The library of bound_deep.c. */
#define _GNU_SOURCE
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FRAME __attribute__((noipa))

int which(void) { return 2; }
int deep_which(void) { return which(); }
FRAME void *deep_make(int n) {
    char *object = malloc(45);
    memset(object, n, 45);
    return object;
}
FRAME void deep_take(void *object) { free(object); }
FRAME char *deep_copy(const char *text) { return strdup(text); }

__attribute__((constructor)) static void at_load(void) {
    char *copy = strdup("made by the C library, which is bound to others");
    copy = realloc(copy, 4000);
    free(copy);
    char *line = 0;
    size_t room = 0;
    FILE *file = fopen("/proc/self/status", "r");
    if (!file || getline(&line, &room, file) <= 0 || malloc_usable_size(line) < room) abort();
    free(line);
    fclose(file);
}
