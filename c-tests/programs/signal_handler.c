/* A handler that allocates, for a signal raised at a safe place: 100 objects of 35 bytes kept by handler_keep, below the
 * frame of the signal, below interrupted and main. */
#include <signal.h>
#include "check.h"

FRAME void handler_keep(void) { keep(malloc(35)); }
FRAME void on_signal(int number) { if (number == SIGUSR1) handler_keep(); }
FRAME void interrupted(void) { raise(SIGUSR1); }

int main(void) {
    signal(SIGUSR1, on_signal);
    for (int i = 0; i < 100; i++) interrupted();
    say("%d kept", kept_count);
    return 0;
}
