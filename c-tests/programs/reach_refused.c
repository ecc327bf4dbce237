/* Forbids system calls that the leak check would like to use, as the argument says, while another thread waits: "ptrace"
 * (its registers cannot be seen), "clone" (there can be no helper), "all". The thread's object is on its stack. */
#include "reach.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

static int ready;

FRAME void *waiter(void *unused) {
    void *volatile on_stack = object(201);
    __atomic_store_n(&ready, 1, __ATOMIC_RELEASE);
    for (;;) syscall(SYS_pause);
    return on_stack ? unused : 0;
}

FRAME void lose(void) { object(160); }

static void forbid(long call) {
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)call, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
}

int main(int count, char **arguments) {
    const char *what = count > 1 ? arguments[1] : "";
    pthread_t thread;
    CHECK(pthread_create(&thread, 0, waiter, 0) == 0);
    while (!__atomic_load_n(&ready, __ATOMIC_ACQUIRE)) usleep(100);
    call(lose);
    if (!strcmp(what, "ptrace")) forbid(SYS_ptrace);
    if (!strcmp(what, "clone") || !strcmp(what, "all")) forbid(SYS_clone);
    if (!strcmp(what, "all")) forbid(SYS_process_vm_readv);
    return 0;
}
