/* Allocations before main and after it: by constructors of the program, the first of them as early as a program can ask
 * for, and by a destructor that frees what they kept. The report must show 3 objects of 52 bytes by late_constructor
 * alone kept, early_constructor's 4 of 51 freed in last_destructor, and its own of 53 kept. */
#include "check.h"

static void *early[4];

__attribute__((constructor(101))) FRAME static void early_constructor(void) {
    for (int i = 0; i < 4; i++) early[i] = malloc(51);
}

__attribute__((constructor)) FRAME static void late_constructor(void) {
    for (int i = 0; i < 3; i++) keep(malloc(52));
}

__attribute__((destructor(101))) FRAME static void last_destructor(void) {
    for (int i = 0; i < 4; i++) free(early[i]);
    keep(malloc(53));
}

int main(void) {
    say("main");
    return 0;
}
