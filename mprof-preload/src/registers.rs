//! The program's registers, where a scan of its stack sees them.

use core::arch::naked_asm;
use core::ffi::c_void;

/// Calls `work` with the stack pointer below which nothing is the program's: the registers that it wants back lie on the
/// stack above. (The others are free for every function that is called, System V ABI, section 3.2.1.)
///
/// Whoever calls this from a hook calls it first of all, from a small frame: what our own functions leave in theirs looks
/// like the program's.
#[inline(always)]
pub fn save<F: FnOnce(usize)>(work: F) {
    unsafe extern "C" fn run<F: FnOnce(usize)>(work: *mut c_void, sp: usize) {
        // SAFETY: `save` passes its closure.
        if let Some(work) = unsafe { (*work.cast::<Option<F>>()).take() } {
            work(sp);
        }
    }
    let mut work = Some(work);
    // SAFETY: the closure lives until the call returns, and `run` is of its type.
    unsafe { push_and_call((&raw mut work).cast(), run::<F>) };
}

#[unsafe(naked)]
unsafe extern "C" fn push_and_call(argument: *mut c_void, work: unsafe extern "C" fn(*mut c_void, usize)) {
    naked_asm!(
        "push rbx",
        "push rbp",
        "push r12",
        "push r13",
        "push r14",
        "push r15",
        "push rbx", // once more, for the alignment
        "mov rax, rsi",
        "mov rsi, rsp",
        "call rax",
        "pop rbx",
        "pop r15",
        "pop r14",
        "pop r13",
        "pop r12",
        "pop rbp",
        "pop rbx",
        "ret",
    )
}
