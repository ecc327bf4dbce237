/* Allocation before any constructor of any library has run: in the resolver of an indirect function, which the loader
 * calls while it relocates the program. Three objects of 81 bytes are kept there and one of 82 is freed in main. The C
 * library is ready for this, and so must the monitor be. */
#include <stdlib.h>
#include <unistd.h>

static void *early[4];

static int answer(void) { return 42; }

__attribute__((noipa)) static void resolver_keep(void) {
    for (int i = 0; i < 3; i++) early[i] = malloc(81);
    early[3] = malloc(82);
}

static int (*choose(void))(void) {
    resolver_keep();
    return answer;
}

int indirect(void) __attribute__((ifunc("choose")));

int main(void) {
    free(early[3]);
    return indirect() == 42 && write(1, "resolved\n", 9) == 9 ? 0 : 1;
}
