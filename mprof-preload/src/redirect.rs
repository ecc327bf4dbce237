//! The ways past us to the C library's allocator, closed.
//!
//! The C library allocates through us for what it gives to the program (`strdup`, `getline`, …), and the program frees
//! through us. Who reaches the C library's own `free` by another way would give it objects with our header before
//! them, and be ended. There are two such ways:
//!
//! * `dlsym(handle of the C library, "free")`, as foreign function interfaces do it: the answer is our function.
//! * `RTLD_DEEPBIND`: a library opened so is bound to what it and the libraries that it needs define, before what
//!   was there first: to the C library's functions instead of ours. The flag has to stay in force, for the library
//!   may have functions of the same names as the program's. So before the first such opening the C library's
//!   dynamic symbols `malloc`, `free`, … are made to lead to us: then whatever is bound to them is bound to us, also
//!   before the library's constructors run, and when a call is bound only as it is first made.

use core::ffi::{CStr, c_char, c_void};
use core::sync::atomic::{AtomicBool, Ordering};

use mprof_core::{elf_image, modules, note, sys};

use crate::dynamic_symbols::Table;
use crate::hooks::loading::before_loading;
use crate::{library_calls, originals, profile, startup};

/// The functions that have to do with objects of the allocator. `cfree` and the names with `__libc_` are the C
/// library's other names for the same.
const FUNCTIONS: [&CStr; 19] = [
    c"malloc",
    c"calloc",
    c"realloc",
    c"reallocarray",
    c"free",
    c"cfree",
    c"posix_memalign",
    c"aligned_alloc",
    c"memalign",
    c"valloc",
    c"pvalloc",
    c"malloc_usable_size",
    c"__libc_malloc",
    c"__libc_calloc",
    c"__libc_realloc",
    c"__libc_free",
    c"__libc_memalign",
    c"__libc_valloc",
    c"__libc_pvalloc",
];

/// Where our function of this name is; 0 if we have none.
fn ours(name: &CStr) -> usize {
    // SAFETY: this library is never unloaded; its symbols are not written to.
    unsafe {
        let Some(table) = Table::of(ours as *const () as usize) else { return 0 };
        table.definitions(name).next().map_or(0, |symbol| table.bias.wrapping_add((*symbol).value))
    }
}

/// An address in the C library.
fn in_c_library() -> usize {
    originals::at(&originals::address::__libc_start_main)
}

/// Whether allocations reach us at all.
fn is_of_use() -> bool {
    startup::malloc_is_ours() || profile::has_events()
}

/// The answer to dlsym(3) where it is not to be the real one's; else null.
///
/// # Safety
/// As for dlsym(3).
pub unsafe extern "C" fn answer(handle: *mut c_void, name: *const c_char) -> *mut c_void {
    originals::find();
    library_calls::apply();
    let null = core::ptr::null_mut();
    if core::ptr::eq(handle, libc::RTLD_NEXT) || core::ptr::eq(handle, libc::RTLD_DEFAULT) || name.is_null() {
        return null;
    }
    // SAFETY: the caller's string.
    let wanted = unsafe { CStr::from_ptr(name) };
    let Some(real) = originals::dlsym().filter(|_| FUNCTIONS.contains(&wanted) && is_of_use()) else {
        return null;
    };
    // SAFETY: the caller's arguments. With a handle it does not matter who calls.
    let found = unsafe { real(handle, name) };
    if !found.is_null() && modules::range(in_c_library()).contains(&(found as usize)) {
        ours(wanted) as *mut c_void
    } else {
        null // the real function answers, and says what is wrong
    }
}

/// Before dlopen(3).
pub extern "C" fn before_dlopen(_name: *const c_char, flags: i32) {
    before_loading();
    if flags & libc::RTLD_DEEPBIND != 0 {
        lead_to_us();
    }
}

/// Before dlmopen(3).
pub extern "C" fn before_dlmopen(namespace: libc::c_long, name: *const c_char, flags: i32) {
    /// `LM_ID_BASE`: where the program itself is. Other namespaces have a C library of their own.
    const BASE: libc::c_long = 0;
    before_dlopen(name, if namespace == BASE { flags } else { 0 });
}

/// The readable bit of a segment's rights (`PF_R`).
const READABLE: u32 = 4;

/// The rights of a segment (`PF_*`) as those of a mapping (`PROT_*`), where the bits come in the other order.
fn as_protection(rights: u32) -> usize {
    ((rights & 1) << 2 | rights & 2 | (rights & 4) >> 2) as usize
}

/// Makes the C library's dynamic symbols lead to our functions; once.
#[cold]
fn lead_to_us() {
    static DONE: AtomicBool = AtomicBool::new(false);
    if !is_of_use() || DONE.swap(true, Ordering::AcqRel) {
        return;
    }
    // SAFETY: the C library stays loaded.
    let Some(table) = (unsafe { Table::of(in_c_library()) }) else { return };
    let start = modules::range(in_c_library()).start;
    let mut failed = false;
    for name in FUNCTIONS {
        let ours = ours(name);
        for symbol in table.definitions(name).filter(|_| ours != 0) {
            // SAFETY: the word is a symbol's value, aligned, which the loader alone reads.
            failed |= !unsafe {
                let word = &raw mut (*symbol).value;
                let rights = elf_image::rights(start, table.bias, word as usize);
                rights & READABLE != 0
                    && sys::overwrite(word, ours.wrapping_sub(table.bias), as_protection(rights))
            };
        }
    }
    if failed {
        note::say(format_args!(
            "a library is opened with RTLD_DEEPBIND, and the system forbids to lead its allocations here: they are not \
             recorded, and it must not free what others allocated"
        ));
    }
}
