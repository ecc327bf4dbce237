/* Makes the kernel refuse the monitor's mappings, which it knows by their flags, from a certain moment on: from the very
 * start of main, after some work, or in the threads. The program must go on as ever; what it did before is recorded whole, and no count is lost. Kept: 100
 * objects of 81 bytes before, 300 of 82 after (by 64 chains), 40 of 83 in four threads; page-aligned ones of 8 KiB (64,
 * all freed). */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include "check.h"

/* MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, readable and writable: the C library asks for such memory without any
 * rights first. */
enum { FLAGS = 0x4022, RIGHTS = 3 };

static void refuse(void) {
    struct sock_filter list[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_mmap, 0, 5),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[3])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, FLAGS, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, RIGHTS, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOMEM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof list / sizeof *list, list};
    CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    CHECK(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0);
}

FRAME static void before(void) {
    for (int i = 0; i < 100; i++) keep(malloc(81));
}
FRAME static void *turn(int way, int depth);
FRAME static void *left(int way, int depth) {
    void *object = turn(way >> 1, depth - 1);
    return object;
}
FRAME static void *right(int way, int depth) {
    void *object = turn(way >> 1, depth - 1);
    return object;
}
FRAME static void *turn(int way, int depth) {
    void *object = depth == 0 ? malloc(82) : way & 1 ? left(way, depth) : right(way, depth);
    return object;
}
FRAME static void *worker(void *unused) {
    for (int i = 0; i < 10; i++) keep(malloc(83));
    return unused;
}
FRAME static void aligned(void) {
    for (int i = 0; i < 64; i++) {
        char *object = memalign(4096, 8192), *large = malloc(200000);
        CHECK(object && large && (size_t)object % 4096 == 0);
        memset(object, i, 8192);
        object = realloc(object, 20000);
        CHECK(object && object[0] == i && object[8191] == i && malloc_usable_size(object) >= 20000);
        free(object);
        free(large);
    }
}

int main(int argc, char **argv) {
    pthread_t threads[4];
    CHECK(argc == 2);
    if (!strcmp(argv[1], "first")) refuse();
    before();
    if (!strcmp(argv[1], "then")) refuse();
    for (int i = 0; i < 300; i++) keep(turn(i, 6));
    if (!strcmp(argv[1], "threads")) refuse();
    for (int i = 0; i < 4; i++) {
        CHECK(pthread_create(&threads[i], 0, worker, 0) == 0);
        CHECK(pthread_join(threads[i], 0) == 0);
    }
    aligned();
    say("went on");
    return 0;
}
