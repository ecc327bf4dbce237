//! The program's registers, where a scan of its stack sees them.

use core::arch::naked_asm;
use core::ffi::c_void;

use mprof_core::reach::ranges::Range;
use mprof_core::sys;

/// What of the calling thread is the program's.
#[derive(Debug, Clone, Copy)]
pub struct Program {
    /// Below this the stack is ours, or nobody's.
    pub sp: usize,
    /// Where registers are that do not lie on the stack above.
    pub registers: Range,
}

/// What a function may use below its stack pointer, bytes (System V ABI for x86-64, section 3.2.2).
const RED_ZONE: usize = 128;

impl Program {
    /// For when nobody looks.
    pub const NOTHING: Program = Program { sp: 0, registers: Range { start: 0, end: 0 } };

    /// The program as a signal interrupted it.
    ///
    /// # Safety
    /// `context` is a `ucontext_t`, as the kernel gives it to a handler.
    pub unsafe fn interrupted(context: *const c_void) -> Program {
        // SAFETY: as the caller vouches.
        let machine = unsafe { &(*context.cast::<libc::ucontext_t>()).uc_mcontext };
        let sp = machine.gregs[libc::REG_RSP as usize] as usize;
        // The vector registers lie behind, in the same frame on the handler's stack.
        const VECTORS: usize = 512 + 64 + 256;
        let (start, vectors) = (context as usize, machine.fpregs as usize);
        let end = start + size_of::<libc::ucontext_t>();
        let end = if (end..end + sys::PAGE).contains(&vectors) { vectors + VECTORS } else { end };
        Program { sp: sp.saturating_sub(RED_ZONE), registers: Range { start, end } }
    }
}

/// Calls `work` with the program's part of the stack: the registers that it wants back lie on it. (The others are free
/// for every function that is called, System V ABI, section 3.2.1.)
///
/// Whoever calls this from a hook calls it first of all, from a small frame: what our own functions leave in theirs looks
/// like the program's.
#[inline(always)]
pub fn save<F: FnOnce(Program)>(work: F) {
    unsafe extern "C" fn run<F: FnOnce(Program)>(work: *mut c_void, sp: usize) {
        // SAFETY: `save` passes its closure.
        if let Some(work) = unsafe { (*work.cast::<Option<F>>()).take() } {
            work(Program { sp, ..Program::NOTHING });
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
