//! A stack of our own for what needs much: the program's may be as small as 16 KiB, and nearly full.

use core::arch::asm;
use core::cell::UnsafeCell;

/// Bytes. Writing a profile takes less than half of it.
const LENGTH: usize = 64 * 1024;

#[repr(align(4096))]
struct Stack(UnsafeCell<[u8; LENGTH]>);

// SAFETY: used by one thread at a time, as `run` demands.
unsafe impl Sync for Stack {}

static STACK: Stack = Stack(UnsafeCell::new([0; LENGTH]));

/// Runs `work` on the stack.
///
/// # Safety
/// No other thread is in here, nor is this one.
pub unsafe fn run(work: &mut dyn FnMut()) {
    unsafe extern "C" fn call(work: *mut &mut dyn FnMut()) {
        // SAFETY: `work` is the caller's reference to its closure.
        unsafe { (*work)() };
    }
    let mut work = work;
    let top = STACK.0.get() as usize + LENGTH;
    // SAFETY: the stack pointer is put back to what it was; it is aligned at the call, and r12 is the same after it.
    // Nothing unwinds.
    unsafe {
        asm!(
            "xchg rsp, r12",
            "call {call}",
            "mov rsp, r12",
            call = sym call,
            inout("r12") top => _,
            in("rdi") &raw mut work,
            clobber_abi("C"),
        );
    }
}
