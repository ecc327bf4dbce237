/* A program whose address space is limited: it allocates until malloc gives NULL, frees all, and goes on. The monitor's
 * own tables must not take it down. The number of objects differs, so it is not printed. */
#include <sys/resource.h>
#include "check.h"

struct link {
    struct link *next;
    char rest[100000];
};

int main(void) {
    struct rlimit limit = {400000000, 400000000};
    CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
    for (int round = 0; round < 3; round++) {
        struct link *list = 0;
        int count = 0;
        for (struct link *one; (one = malloc(sizeof *one)); count++) {
            one->next = list;
            list = one;
        }
        CHECK(count > 1000);
        while (list) {
            struct link *next = list->next;
            free(list);
            list = next;
        }
    }
    say("ran out, went on");
    return 0;
}
