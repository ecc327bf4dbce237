//! Code that comes and goes.
//!
//! What was derived from code addresses is forgotten before code is loaded, before it is unloaded, and after.

use core::ffi::{c_int, c_void};

use mprof_core::process::step_generation;

use crate::originals;
use crate::shim::passing_shims;

passing_shims! {
    /// dlopen(3): searches by its caller's run path and namespace, so it must see the program call.
    dlopen => before_loading, originals::address::dlopen;
    /// dlmopen(3): as dlopen.
    dlmopen => before_loading, originals::address::dlmopen;
    /// Where a program's entry point goes: the C library is initialised, and no other thread runs yet.
    __libc_start_main => before_main, originals::address::__libc_start_main;
}

extern "C" fn before_loading() {
    originals::find();
    step_generation();
}

extern "C" fn before_main() {
    originals::find();
    crate::identity::name_root();
}

/// dlclose(3).
///
/// # Safety
/// As the real function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dlclose(handle: *mut c_void) -> c_int {
    originals::find();
    let Some(real) = originals::dlclose() else { return -1 };
    step_generation();
    // SAFETY: the caller's handle.
    let status = unsafe { real(handle) };
    step_generation();
    status
}
