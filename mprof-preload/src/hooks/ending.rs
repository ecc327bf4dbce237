//! The ways to end that run no exit handlers.

use core::ffi::c_int;

use mprof_format::kinds::Reason;

use crate::shim::passing_shims;
use crate::{originals, profile};

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
    profile::write(Reason::ImmediateExit, 0);
    originals::find();
    if let Some(real) = originals::_exit() {
        // SAFETY: _exit(2).
        unsafe { real(status) }
    }
    // SAFETY: the system call that _exit(2) is made of.
    unsafe { libc::syscall(libc::SYS_exit_group, status) };
    unreachable!("exit_group does not return")
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
