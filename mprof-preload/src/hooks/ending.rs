//! The ways to end that run no exit handlers.

use core::ffi::c_int;
use core::sync::atomic::{AtomicI32, Ordering};

use mprof_format::kinds::Reason;

use crate::shim::passing_shims;
use crate::{leak_check, originals, profile};

passing_shims! {
    /// Where a failed assert(3) ends. (The C library's own call of `abort` does not pass by us.)
    __assert_fail => before_abort, originals::address::__assert_fail;
    /// Where a failed assert_perror(3) ends.
    __assert_perror_fail => before_abort, originals::address::__assert_perror_fail;
    /// As `__assert_fail`.
    __assert => before_abort, originals::address::__assert;
}

extern "C" fn before_abort() {
    originals::find();
    profile::write(Reason::Abort, 0);
}

/// _exit(2).
///
/// # Safety
/// As the real function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn _exit(status: c_int) -> ! {
    leave(status)
}

/// _Exit(3).
///
/// # Safety
/// As the real function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn _Exit(status: c_int) -> ! {
    leave(status)
}

fn leave(status: c_int) -> ! {
    let written = profile::write(Reason::ImmediateExit, 0);
    end(leak_check::at_end(status, written).unwrap_or(status))
}

/// Ends the process at once.
pub fn end(status: c_int) -> ! {
    originals::find();
    if let Some(real) = originals::_exit() {
        // SAFETY: _exit(2).
        unsafe { real(status) }
    }
    // SAFETY: the system call that _exit(2) is made of.
    unsafe { libc::syscall(libc::SYS_exit_group, status) };
    unreachable!("exit_group does not return")
}

/// What the program gave quick_exit(3), which does not tell its handlers. 1 where it was called past us.
static QUICK_STATUS: AtomicI32 = AtomicI32::new(1);

/// The status that quick_exit(3) is to end the process with.
pub fn quick_status() -> c_int {
    QUICK_STATUS.load(Ordering::Relaxed)
}

/// quick_exit(3). Its handlers run, ours last.
///
/// # Safety
/// As the real function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn quick_exit(status: c_int) -> ! {
    QUICK_STATUS.store(status, Ordering::Relaxed);
    originals::find();
    if let Some(real) = originals::quick_exit() {
        // SAFETY: quick_exit(3).
        unsafe { real(status) }
    }
    leave(status)
}

/// abort(3). The program may have a handler for SIGABRT that goes on: then this was a snapshot.
///
/// # Safety
/// As the real function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn abort() -> ! {
    profile::write(Reason::Abort, 0);
    originals::find();
    if let Some(real) = originals::abort() {
        // SAFETY: abort(3).
        unsafe { real() }
    }
    // SAFETY: raises SIGABRT as abort(3) does.
    unsafe {
        libc::raise(libc::SIGABRT);
        libc::_exit(127)
    }
}
