/* A child that forks a child that forks a child, each waiting for the next; the generation that is n deep keeps one
 * object of 100 + n bytes and frees the one that its parent kept. Four files; each shows its own object alone. */
#include <sys/wait.h>
#include "check.h"

static void *mine;

FRAME void *own_object(int generation) { return malloc(100 + (size_t)generation); }

static void generation(int n) {
    void *inherited = mine;
    mine = own_object(n);
    free(inherited);
    if (n == 3) return;
    pid_t child = fork();
    if (child == 0) {
        generation(n + 1);
        exit(0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
}

int main(void) {
    generation(0);
    say("four generations");
    return 0;
}
