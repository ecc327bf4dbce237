/* Allocations before main, by whatever runs then: the program's preinit_array (before all constructors), its
 * init_array, and its constructors. Each keeps one object: of 91, 92 and 93 bytes; main frees the first. */
#include "check.h"

static void *first;

FRAME static void early(int argc, char **argv, char **envp) {
    (void)argc, (void)argv, (void)envp;
    first = malloc(91);
}
FRAME static void middle(void) { keep(malloc(92)); }
__attribute__((constructor)) FRAME static void late(void) { keep(malloc(93)); }

__attribute__((section(".preinit_array"), used)) static void (*run_first)(int, char **, char **) = early;
__attribute__((section(".init_array"), used)) static void (*run_then)(void) = middle;

int main(void) {
    CHECK(first && kept_count == 2);
    free(first);
    say("main");
    return 0;
}
