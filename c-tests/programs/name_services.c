/* Looks up users, groups, hosts and services: the C library loads libraries for it, which allocate. Then it keeps 4
 * objects of 94 bytes. */
#include <grp.h>
#include <netdb.h>
#include <pwd.h>
#include "check.h"

FRAME static void hold(void) {
    for (int i = 0; i < 4; i++) keep(malloc(94));
}

int main(void) {
    for (int round = 0; round < 3; round++) {
        CHECK(getpwuid(0) && getgrgid(0));
        CHECK(!getpwnam("no-such-user"));
        getservbyname("http", "tcp");
        struct addrinfo *list = 0;
        if (getaddrinfo("127.0.0.1", "80", 0, &list) == 0) freeaddrinfo(list);
    }
    hold();
    say("looked up");
    return 0;
}
