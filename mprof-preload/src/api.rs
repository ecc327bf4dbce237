//! What a program may call, where it was linked against weak declarations (`mprof-preload/include/mprof.h`).

use core::ffi::{CStr, c_char, c_ulong};

use mprof_core::recording;

use crate::{file_name, originals, profile};

/// Has the profile written after every `count`th allocation, besides at the end; 0: at the end only.
#[unsafe(no_mangle)]
pub extern "C" fn set_mprof_autosave(count: c_ulong) {
    originals::find();
    recording::write_every(count, profile::autosave);
}

/// Writes the profile, and records nothing from then on.
#[unsafe(no_mangle)]
pub extern "C" fn mprof_stop() {
    originals::find();
    profile::stop();
}

/// Writes the profile, if something was recorded, forgets it, and records from now on, into the file of this name
/// (null or empty: the same as before).
///
/// # Safety
/// The name is null or a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mprof_restart(name: *const c_char) {
    originals::find();
    // SAFETY: the caller vouches.
    let name = if name.is_null() { &[][..] } else { unsafe { CStr::from_ptr(name) }.to_bytes() };
    profile::begin_anew(&mut || {
        if !name.is_empty() {
            file_name::give(name);
        }
    });
}
