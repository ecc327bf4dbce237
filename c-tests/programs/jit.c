/* Code written at run time calls malloc: no file, no symbol, no unwind information, and it is unmapped before the end.
 * It keeps frame pointers, so the chain must go on to run_code and main. 6 objects of 95 bytes are kept by it. */
#include <sys/mman.h>
#include "check.h"

FRAME void *run_code(void *code, size_t size) { return ((void *(*)(size_t))code)(size); }

int main(void) {
    static unsigned char text[] = {
        0x55,                               /* push %rbp */
        0x48, 0x89, 0xe5,                   /* mov %rsp, %rbp */
        0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, /* mov $malloc, %rax */
        0xff, 0xd0,                         /* call *%rax */
        0x5d,                               /* pop %rbp */
        0xc3,                               /* ret */
    };
    void *(*target)(size_t) = malloc;
    memcpy(text + 6, &target, sizeof target);
    void *code = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(code != MAP_FAILED);
    memcpy(code, text, sizeof text);
    CHECK(mprotect(code, 4096, PROT_READ | PROT_EXEC) == 0);
    for (int i = 0; i < 6; i++) CHECK(keep(run_code(code, 95)));
    munmap(code, 4096);
    say("made %d", kept_count);
    return 0;
}
