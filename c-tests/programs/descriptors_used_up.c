/* A program that has used up all its descriptors when it ends: it must end as it does bare. Whether a profile can be
 * written then is not asked. */
#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include "check.h"

int main(void) {
    struct rlimit limit = {64, 64};
    CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    while (open("/dev/null", O_RDONLY) >= 0) {
    }
    CHECK(errno == EMFILE);
    keep(malloc(10));
    say("none left");
    return 7;
}
