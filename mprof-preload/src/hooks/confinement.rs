//! A program that forbids itself system calls (seccomp(2)), and the raw system calls that end it.
//!
//! Before a filter with which no file could be written any more, the profile is written.

use core::ffi::{c_int, c_long};

use mprof_core::ledger;
use mprof_core::seccomp::{self, Filter, Program};
use mprof_core::sys;
use mprof_format::kinds::Reason;

use crate::shim::choosing_shims;
use crate::{originals, profile};

choosing_shims! {
    /// prctl(2).
    prctl => is_prctl_of_ours, hook_prctl, originals::address::prctl;
    /// syscall(2).
    syscall => is_syscall_of_ours, hook_syscall, originals::address::syscall;
}

const STRICT: c_long = 1;
const FILTER: c_long = 2;

extern "C" fn is_prctl_of_ours(option: c_int) -> bool {
    originals::find();
    is_confining(option)
}

/// Whether this prctl(2) takes something from the program that we use as well.
fn is_confining(option: c_int) -> bool {
    option == libc::PR_SET_SECCOMP || option == libc::PR_SET_TSC
}

extern "C" fn is_syscall_of_ours(number: c_long, first: c_long) -> bool {
    originals::find();
    match number {
        libc::SYS_prctl => is_confining(first as c_int),
        libc::SYS_seccomp | libc::SYS_exit_group | libc::SYS_exit => true,
        _ => false,
    }
}

unsafe extern "C" fn hook_prctl(
    option: c_int,
    mode: c_long,
    program: c_long,
    third: c_long,
    fourth: c_long,
) -> c_int {
    let Some(real) = originals::prctl() else { return -1 };
    // SAFETY: the caller's arguments.
    let call = || unsafe { real(option, mode, program, third, fourth).into() };
    // SAFETY: as above.
    unsafe { confine_by_prctl(option, mode, program, call) as c_int }
}

unsafe extern "C" fn hook_syscall(
    number: c_long,
    first: c_long,
    second: c_long,
    third: c_long,
    fourth: c_long,
    fifth: c_long,
) -> c_long {
    let Some(real) = originals::syscall() else { return -1 };
    // SAFETY: the caller's arguments; none of these calls has more.
    let call = || unsafe { real(number, first, second, third, fourth, fifth, 0) };
    match number {
        // SAFETY: as above.
        libc::SYS_prctl => unsafe { confine_by_prctl(first as c_int, second, third, call) },
        // SAFETY: as above. (seccomp(2) counts its modes from 0.)
        libc::SYS_seccomp => unsafe { confine_by_prctl(libc::PR_SET_SECCOMP, first + 1, third, call) },
        libc::SYS_exit if sys::thread_id() != sys::process_id() => call(),
        _ => {
            profile::write(Reason::ImmediateExit, 0);
            call()
        }
    }
}

/// # Safety
/// As for the system call.
unsafe fn confine_by_prctl(
    option: c_int,
    mode: c_long,
    program: c_long,
    call: impl FnOnce() -> c_long,
) -> c_long {
    if option == libc::PR_SET_TSC {
        if mode == c_long::from(libc::PR_TSC_SIGSEGV) {
            ledger::stop_clock();
        }
        return call();
    }
    if mode == STRICT {
        ledger::stop_clock();
    }
    // SAFETY: as the caller vouches.
    confine(unsafe { filter(mode, program) }, call)
}

/// A copy of the filter that the program is about to set; `None` where it sets none.
///
/// # Safety
/// As for the system call.
unsafe fn filter(mode: c_long, program: c_long) -> Option<&'static mut Filter> {
    let readable = |address: c_long| address != 0 && sys::is_readable(address as usize);
    match mode {
        STRICT => Filter::strict(),
        FILTER if readable(program) && readable(program + 8) => {
            // SAFETY: the caller vouches for what the kernel would read.
            unsafe { Filter::copy(program as *const Program) }
        }
        _ => None,
    }
}

fn confine(filter: Option<&'static mut Filter>, set: impl FnOnce() -> c_long) -> c_long {
    let Some(filter) = filter else { return set() };
    if !sys::may_write_file(filter) {
        profile::write(Reason::Snapshot, 0);
    }
    filter.publish();
    let status = set();
    if status != 0 {
        seccomp::withdraw();
    }
    status
}
