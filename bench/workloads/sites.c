/* Many call sites: 1024 of them in 32 functions, taken in an order that no cache likes, each with a size of its own.
 * argv[1]: allocations. */
#include <stdio.h>
#include <stdlib.h>

#define SITE(n) case n: return malloc(8 + (n) * 7 + base);
#define SITES4(n) SITE(n) SITE(n + 1) SITE(n + 2) SITE(n + 3)
#define SITES16(n) SITES4(n) SITES4(n + 4) SITES4(n + 8) SITES4(n + 12)
#define FUNCTION(name, base_)                                         \
    __attribute__((noinline)) static void *name(unsigned site) {      \
        const unsigned base = base_;                                  \
        switch (site) { SITES16(0) SITES16(16) }                      \
        return 0;                                                     \
    }
#define FUNCTIONS4(p, b) FUNCTION(p##0, b) FUNCTION(p##1, b + 1) FUNCTION(p##2, b + 2) FUNCTION(p##3, b + 3)
FUNCTIONS4(a, 0) FUNCTIONS4(b, 4) FUNCTIONS4(c, 8) FUNCTIONS4(d, 12)
FUNCTIONS4(e, 16) FUNCTIONS4(f, 20) FUNCTIONS4(g, 24) FUNCTIONS4(h, 28)

#define NAMES4(p) p##0, p##1, p##2, p##3
static void *(*const functions[32])(unsigned) = {NAMES4(a), NAMES4(b), NAMES4(c), NAMES4(d),
                                                 NAMES4(e), NAMES4(f), NAMES4(g), NAMES4(h)};

int main(int argc, char **argv) {
    long count = argc > 1 ? atol(argv[1]) : 1000000;
    unsigned state = 5, made = 0;
    for (long i = 0; i < count; i++) {
        state = state * 1664525u + 1013904223u;
        void *object = functions[state >> 27]((state >> 22) & 31);
        made += object != 0;
        free(object);
    }
    printf("%u made\n", made);
    return 0;
}
