/* What the test programs share. Nothing here allocates, so that every count in a report is the program's own. */
#ifndef CHECK_H
#define CHECK_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A function that stays a frame of its own, in every build. */
#if defined(__clang__)
#define FRAME __attribute__((noinline, optnone))
#else
#define FRAME __attribute__((noipa))
#endif

/* Writes one line to standard output, without stdio's buffer (which would be an allocation). */
__attribute__((unused, format(printf, 1, 2))) static void say(const char *format, ...) {
    char line[512];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line, sizeof line - 1, format, arguments);
    va_end(arguments);
    if (length < 0 || length > (int)sizeof line - 2) length = (int)sizeof line - 2;
    line[length] = '\n';
    for (int done = 0; done <= length;) {
        ssize_t n = write(1, line + done, (size_t)(length + 1 - done));
        if (n <= 0) _exit(98);
        done += (int)n;
    }
}

/* Ends the program with status 99 and says where, if `condition` does not hold. */
#define CHECK(condition)                                                     \
    do {                                                                     \
        if (!(condition)) {                                                  \
            say("%s:%d: does not hold: %s", __FILE__, __LINE__, #condition); \
            _exit(99);                                                       \
        }                                                                    \
    } while (0)

/* Where kept objects are put, so that no compiler thinks them unused. */
__attribute__((unused)) static void *volatile kept[65536];
__attribute__((unused)) static int kept_count;
__attribute__((unused)) static void *keep(void *object) {
    if (kept_count < 65536) kept[kept_count++] = object;
    return object;
}

#endif
