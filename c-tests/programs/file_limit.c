/* Files may have 400 bytes at most: the profile cannot be written. The program itself gets SIGXFSZ when it writes more,
 * and has a handler for it. */
#include <signal.h>
#include <fcntl.h>
#include <sys/resource.h>
#include "check.h"

static volatile int signals;
static void on_limit(int number) { signals += number == SIGXFSZ; }

int main(void) {
    struct rlimit limit = {400, 400};
    signal(SIGXFSZ, on_limit);
    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    for (int i = 0; i < 50; i++) keep(malloc((size_t)i * 20 + 1));
    int file = open("own", O_WRONLY | O_CREAT, 0600);
    char bytes[2000] = {0};
    CHECK(write(file, bytes, 2000) == 400 && write(file, bytes, 1) == -1 && signals == 1);
    CHECK(unlink("own") == 0);
    say("limited");
    return 0;
}
