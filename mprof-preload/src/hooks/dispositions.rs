//! What the program does about signals (sigaction(2), signal(2)): where we stand in for the default action, it is told,
//! and sets, the default action.

use core::ffi::c_int;
use core::mem::zeroed;

use crate::{originals, signals};

/// sigaction(2).
///
/// # Safety
/// As the real function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sigaction(
    signal: c_int,
    new: *const libc::sigaction,
    old: *mut libc::sigaction,
) -> c_int {
    originals::find();
    let Some(real) = originals::sigaction() else { return -1 };
    if !signals::is_stood_in_for(signal) {
        // SAFETY: the caller's arguments.
        return unsafe { real(signal, new, old) };
    }
    let stand_in = signals::stand_in_action();
    // SAFETY: as above; the kernel reads and writes the same.
    unsafe {
        let is_default = new.as_ref().is_some_and(|new| new.sa_sigaction == libc::SIG_DFL);
        let status = real(signal, if is_default { &stand_in } else { new }, old);
        if status == 0
            && let Some(old) = old.as_mut()
            && signals::is_stand_in(old)
        {
            *old = zeroed(); // the default action, with no flag
        }
        status
    }
}

/// sigaction(2), by its other name.
///
/// # Safety
/// As the real function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __sigaction(
    signal: c_int,
    new: *const libc::sigaction,
    old: *mut libc::sigaction,
) -> c_int {
    // SAFETY: the caller's arguments.
    unsafe { sigaction(signal, new, old) }
}

type Setter = unsafe extern "C" fn(c_int, libc::sighandler_t) -> libc::sighandler_t;

/// Does as `real`, a function that sets a handler and returns the one before.
unsafe fn set(real: Option<Setter>, signal: c_int, handler: libc::sighandler_t) -> libc::sighandler_t {
    let Some(real) = real else { return libc::SIG_ERR };
    if !signals::is_stood_in_for(signal) {
        // SAFETY: the caller's arguments.
        return unsafe { real(signal, handler) };
    }
    let stand_in = signals::stand_in_action();
    let before = if handler == libc::SIG_DFL {
        let before = signals::current(signal).map_or(libc::SIG_ERR, |action| action.sa_sigaction);
        signals::set(signal, &stand_in);
        before
    } else {
        // SAFETY: the caller's arguments.
        unsafe { real(signal, handler) }
    };
    if before == stand_in.sa_sigaction { libc::SIG_DFL } else { before }
}

macro_rules! setters {
    ($($(#[$doc:meta])* $name:ident)+) => {$(
        $(#[$doc])*
        ///
        /// # Safety
        /// As the real function.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(signal: c_int, handler: libc::sighandler_t) -> libc::sighandler_t {
            originals::find();
            // SAFETY: the caller's arguments.
            unsafe { set(originals::$name(), signal, handler) }
        }
    )+};
}

setters! {
    /// signal(2).
    signal
    /// bsd_signal(3).
    bsd_signal
    /// ssignal(3).
    ssignal
    /// sysv_signal(3).
    sysv_signal
    /// sysv_signal(3), which `signal` is in programs built for X/Open systems.
    __sysv_signal
    /// sigset(3).
    sigset
}
