/* Keeps BYTES bytes and ends with STATUS in the way that WAY says: ends_with_leak WAY [STATUS [BYTES]]. What is left
   in the buffer of its standard output must come out where exit(3) would write it. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int status;

static void say(const char *text) {
    if (write(1, text, strlen(text)) < 0)
        abort();
}

static void notice(int signal) {
    say(signal == SIGCHLD ? "SIGCHLD\n" : "a signal\n");
}

static void *wait_for_children(void *nothing) {
    for (;;) {
        if (waitpid(-1, NULL, WNOHANG) > 0)
            say("a child\n");
        usleep(100);
    }
    return nothing;
}

static void *leave(void *nothing) {
    exit(status);
    return nothing;
}

static void in_thread(void *(*function)(void *), size_t stack) {
    pthread_t thread;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, stack);
    pthread_create(&thread, &attributes, function, NULL);
}

/* From now on a system call is answered so. */
static void forbid(int call, unsigned answer) {
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, answer),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = { sizeof filter / sizeof filter[0], filter };
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        exit(77);
}

int main(int argc, char **argv) {
    const char *way = argv[1];
    status = argc > 2 ? atoi(argv[2]) : 0;
    volatile char *kept = argc > 3 && atoi(argv[3]) == 0 ? NULL : malloc(argc > 3 ? atoi(argv[3]) : 100);
    static char buffer[100];
    setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
    printf("done\n");
    if (strcmp(way, "_exit") == 0) {
        fflush(stdout);
        _exit(status);
    } else if (strcmp(way, "quick_exit") == 0) {
        fflush(stdout);
        quick_exit(status);
    } else if (strcmp(way, "thread") == 0) {
        in_thread(leave, PTHREAD_STACK_MIN);
        pause();
    } else if (strcmp(way, "watching") == 0) {
        struct sigaction action = { .sa_handler = notice };
        for (int signal = 1; signal < NSIG; signal++)
            sigaction(signal, &action, NULL);
        in_thread(wait_for_children, 65536);
    } else if (strcmp(way, "ignoring") == 0) {
        signal(SIGCHLD, SIG_IGN);
    } else if (strcmp(way, "elsewhere") == 0) {
        if (chdir("/") != 0 || clearenv() != 0)
            return 1;
    } else if (strcmp(way, "closed") == 0) {
        close(2);
    } else if (strcmp(way, "reused") == 0) {
        close(2);
        open("own.txt", O_WRONLY | O_CREAT, 0600);
    } else if (strcmp(way, "full") == 0) {
        while (dup(1) >= 0) {}
    } else if (strcmp(way, "no-processes") == 0) {
        forbid(SYS_clone, SECCOMP_RET_ERRNO | EPERM);
    } else if (strcmp(way, "no-programs") == 0) {
        forbid(SYS_execve, SECCOMP_RET_ERRNO | EPERM);
    } else if (strcmp(way, "deadly-processes") == 0) {
        forbid(SYS_clone, SECCOMP_RET_KILL_PROCESS);
    } else if (strcmp(way, "deadly-programs") == 0) {
        forbid(SYS_execve, SECCOMP_RET_KILL_PROCESS);
    } else if (strcmp(way, "fork") == 0) {
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) {
            kept = malloc(7);
            exit(0);
        }
        int how;
        waitpid(child, &how, 0);
        printf("child: %d\n", WEXITSTATUS(how));
    } else if (strcmp(way, "vfork") == 0) {
        fflush(stdout);
        pid_t child = vfork();
        if (child == 0)
            _exit(0);
        int how;
        waitpid(child, &how, 0);
        printf("child: %d\n", WEXITSTATUS(how));
    } else if (strcmp(way, "abort") == 0) {
        abort();
    }
    return status;
}
