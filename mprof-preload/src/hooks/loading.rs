//! Code that comes and goes.
//!
//! What was derived from code addresses is forgotten before code is loaded, before it is unloaded, and after.

use core::ffi::{c_int, c_void};

use mprof_core::process::step_generation;

use crate::shim::{answering_shims, passing_shims};
use crate::{originals, redirect};

passing_shims! {
    /// dlopen(3): searches by its caller's run path and namespace, so it must see the program call.
    dlopen => redirect::before_dlopen, originals::address::dlopen;
    /// dlmopen(3): as dlopen.
    dlmopen => redirect::before_dlmopen, originals::address::dlmopen;
    /// iconv_open(3): the C library loads what it converts with by itself, and unloads it as well.
    iconv_open => before_loading, originals::address::iconv_open;
    /// Where a program's entry point goes: the C library is initialised, and no other thread runs yet.
    __libc_start_main => before_main, originals::address::__libc_start_main;
}

answering_shims! {
    /// dlsym(3): searches by its caller's namespace and place in the loader's order, so it must see the program call.
    dlsym => redirect::answer, originals::address::dlsym;
}

/// Before code is loaded.
pub extern "C" fn before_loading() {
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
