/* A program that becomes a service by daemon(3): the first process leaves through _exit inside libc, the service goes
 * on in / with its standard streams closed, keeps 4 objects of 230 bytes and ends. Its
 * parent's parent waits for it. The service's file must lie where the program was started. */
#define _DEFAULT_SOURCE
#include <sys/wait.h>
#include "check.h"

FRAME void serve(void) {
    for (int i = 0; i < 4; i++) keep(malloc(230));
}

int main(void) {
    int done[2];
    char c;
    CHECK(pipe(done) == 0);
    pid_t child = fork();
    if (child == 0) {
        close(done[0]);
        if (daemon(0, 0) != 0) _exit(1);
        serve();
        exit(0);
    }
    close(done[1]);
    int status;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    CHECK(read(done[0], &c, 1) == 0); /* the service's end closes the pipe: after its file was written */
    say("the service ended");
    return 0;
}
