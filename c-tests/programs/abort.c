/* The program ends by abort. Its status must stay SIGABRT; whether there is a profile is not asked here. */
#include "check.h"

int main(void) {
    keep(malloc(10));
    say("aborting");
    abort();
}
