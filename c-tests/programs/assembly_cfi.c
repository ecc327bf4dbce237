/* Hand-written assembly with CFI of the kinds that compilers do not write: a plain frame, a CFA held in rbx, a CFA that
 * is read from memory after a switch to another stack (as cryptographic code does), a return address kept in a
 * register, and several CFA changes in one function. Each calls a leaf that keeps an object of its own size, 20 times over. The report
 * must show the whole chain, main > FUNCTION > leaf, for each. */
#include "check.h"

FRAME void leaf_plain(void) { keep(malloc(11)); }
FRAME void leaf_rbx(void) { keep(malloc(12)); }
FRAME void leaf_switched(void) { keep(malloc(13)); }
FRAME void leaf_moved(void) { keep(malloc(14)); }
FRAME void leaf_changing(void) { keep(malloc(15)); }

void plain_frame(void (*leaf)(void));
void cfa_in_rbx(void (*leaf)(void));
void switched_stack(void (*leaf)(void), void *top);
void return_in_rbx(void (*leaf)(void));
void changing_frame(void (*leaf)(void));

__asm__(
    ".text\n"
    ".type plain_frame, @function\n"
    "plain_frame:\n"
    "  .cfi_startproc\n"
    "  push %r12\n"
    "  .cfi_adjust_cfa_offset 8\n"
    "  .cfi_offset %r12, -16\n"
    "  sub $48, %rsp\n"
    "  .cfi_adjust_cfa_offset 48\n"
    "  mov $0x1234, %r12d\n"
    "  call *%rdi\n"
    "  add $48, %rsp\n"
    "  .cfi_adjust_cfa_offset -48\n"
    "  pop %r12\n"
    "  .cfi_adjust_cfa_offset -8\n"
    "  ret\n"
    "  .cfi_endproc\n"
    ".size plain_frame, . - plain_frame\n"

    /* rbx holds the frame's address while rsp is aligned down by an unknown amount */
    ".type cfa_in_rbx, @function\n"
    "cfa_in_rbx:\n"
    "  .cfi_startproc\n"
    "  push %rbx\n"
    "  .cfi_adjust_cfa_offset 8\n"
    "  .cfi_offset %rbx, -16\n"
    "  mov %rsp, %rbx\n"
    "  .cfi_def_cfa_register %rbx\n"
    "  and $-256, %rsp\n"
    "  sub $256, %rsp\n"
    "  call *%rdi\n"
    "  mov %rbx, %rsp\n"
    "  .cfi_def_cfa_register %rsp\n"
    "  pop %rbx\n"
    "  .cfi_adjust_cfa_offset -8\n"
    "  ret\n"
    "  .cfi_endproc\n"
    ".size cfa_in_rbx, . - cfa_in_rbx\n"

    /* the old stack pointer lies at 0(%rsp) of the new stack: CFA = *rsp + 8 */
    ".type switched_stack, @function\n"
    "switched_stack:\n"
    "  .cfi_startproc\n"
    "  mov %rsp, %rax\n"
    "  .cfi_def_cfa_register %rax\n"
    "  lea -16(%rsi), %rsp\n"
    "  mov %rax, (%rsp)\n"
    "  .cfi_escape 0x0f, 0x05, 0x77, 0x00, 0x06, 0x23, 0x08\n" /* def_cfa_expression: breg7 0; deref; plus_uconst 8 */
    "  call *%rdi\n"
    "  mov (%rsp), %rsp\n"
    "  .cfi_def_cfa %rsp, 8\n"
    "  ret\n"
    "  .cfi_endproc\n"
    ".size switched_stack, . - switched_stack\n"

    /* the return address is moved to rbx and its slot is overwritten */
    ".type return_in_rbx, @function\n"
    "return_in_rbx:\n"
    "  .cfi_startproc\n"
    "  push %rbx\n"
    "  .cfi_adjust_cfa_offset 8\n"
    "  .cfi_offset %rbx, -16\n"
    "  push %r13\n"
    "  .cfi_adjust_cfa_offset 8\n"
    "  .cfi_offset %r13, -24\n"
    "  sub $8, %rsp\n"
    "  .cfi_adjust_cfa_offset 8\n"
    "  mov 24(%rsp), %r13\n"
    "  .cfi_register %rip, %r13\n"
    "  movq $0, 24(%rsp)\n"
    "  call *%rdi\n"
    "  mov %r13, 24(%rsp)\n"
    "  .cfi_offset %rip, -8\n"
    "  add $8, %rsp\n"
    "  .cfi_adjust_cfa_offset -8\n"
    "  pop %r13\n"
    "  .cfi_adjust_cfa_offset -8\n"
    "  .cfi_restore %r13\n"
    "  pop %rbx\n"
    "  .cfi_adjust_cfa_offset -8\n"
    "  .cfi_restore %rbx\n"
    "  ret\n"
    "  .cfi_endproc\n"
    ".size return_in_rbx, . - return_in_rbx\n"

    /* three calls at three different depths, with remembered states between */
    ".type changing_frame, @function\n"
    "changing_frame:\n"
    "  .cfi_startproc\n"
    "  push %rdi\n"
    "  .cfi_adjust_cfa_offset 8\n"
    "  call *%rdi\n"
    "  mov (%rsp), %rdi\n"
    "  .cfi_remember_state\n"
    "  sub $1024, %rsp\n"
    "  .cfi_adjust_cfa_offset 1024\n"
    "  call *%rdi\n"
    "  add $1024, %rsp\n"
    "  .cfi_restore_state\n"
    "  mov (%rsp), %rdi\n"
    "  call *%rdi\n"
    "  pop %rdi\n"
    "  .cfi_adjust_cfa_offset -8\n"
    "  ret\n"
    "  .cfi_endproc\n"
    ".size changing_frame, . - changing_frame\n");

int main(void) {
    static _Alignas(16) char other_stack[65536];
    for (int i = 0; i < 20; i++) {
        plain_frame(leaf_plain);
        cfa_in_rbx(leaf_rbx);
        switched_stack(leaf_switched, other_stack + sizeof other_stack);
        return_in_rbx(leaf_moved);
        changing_frame(leaf_changing);
    }
    say("%d objects", kept_count);
    return 0;
}
