//! An alternate signal stack (sigaltstack(2)) for each thread, where our handlers are to run when the thread's own
//! stack has overflowed. Only where they were asked for.
//!
//! A handler of the program's that asks for the alternate stack, in a program that has none, now runs on it: so it is
//! not small. A stack that the program sets takes its place.

use core::ffi::c_void;
use core::sync::atomic::{AtomicU32, Ordering};

use mprof_core::sys;

/// Bytes; they are mapped when they are touched.
const LENGTH: usize = 256 * 1024;

/// Key whose value is the thread's stack of ours, so that it is given back at the thread's end.
static KEY: AtomicU32 = AtomicU32::new(NO_KEY);
const NO_KEY: u32 = u32::MAX;

/// From now on threads get one; the calling thread at once.
pub fn offer() {
    let mut key = 0;
    // SAFETY: pthread_key_create(3).
    if unsafe { libc::pthread_key_create(&raw mut key, Some(give_back)) } == 0 {
        KEY.store(key, Ordering::Release);
        set();
    }
}

/// Gives the calling thread one, if they were asked for and it has none yet.
pub fn set() {
    let key = KEY.load(Ordering::Acquire);
    if key == NO_KEY || sys::has_alternate_stack() {
        return;
    }
    // The lowest page stays out of reach, so that an overflow is noticed.
    let Some(memory) = sys::map_guarded(LENGTH) else { return };
    // SAFETY: the stack is mapped until `give_back`; pthread_setspecific(3) with a key this early allocates nothing.
    unsafe {
        sys::set_alternate_stack(memory as usize + sys::PAGE, LENGTH - sys::PAGE);
        libc::pthread_setspecific(key, memory.cast::<c_void>());
    }
}

unsafe extern "C" fn give_back(memory: *mut c_void) {
    let here = (&raw const memory) as usize;
    if (memory as usize..memory as usize + LENGTH).contains(&here) {
        return; // a handler of the program's ends the thread, on this very stack
    }
    // SAFETY: the mapping is the thread's own; it is no longer its alternate stack, or was replaced before.
    unsafe {
        sys::drop_alternate_stack(memory as usize + sys::PAGE);
        sys::unmap(memory.cast(), LENGTH);
    }
}
