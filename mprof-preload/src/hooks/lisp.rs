//! The functions of ECL that allocate, start the Lisp system, and make compiled functions.

use core::ffi::{c_char, c_int, c_void};

use mprof_core::lisp::objects;
use mprof_core::unwind::Entry;

use crate::elf::Redirection;
use crate::lisp::ecl::{self, Word, in_ecl};
use crate::lisp::kinds::{CONS, DATA};
use crate::lisp::{self, interpreter, names};
use crate::shim::{redirected_passing_shims, redirected_shims};

redirected_shims! {
    /// Makes a cons.
    cons => hook_cons, "rdx", "rcx";
    /// Makes a list of one element.
    list1 => hook_list1, "rsi", "rdx";
    /// Makes an object of a type.
    object => hook_object, "rsi", "rdx";
    /// Makes an object of a type, with so many bytes more.
    compact_object => hook_compact_object, "rdx", "rcx";
    /// Memory for the parts of an object.
    body => hook_body, "rsi", "rdx";
    /// The same, without addresses in it.
    atomic_body => hook_atomic_body, "rsi", "rdx";
    /// The same, never collected.
    uncollectable_body => hook_uncollectable_body, "rsi", "rdx";
}

redirected_passing_shims! {
    /// Makes a compiled function: its name is noted.
    compiled => names::before_compiled, in_ecl::ecl_make_cfun;
    /// The same, with any number of arguments.
    compiled_va => names::before_compiled, in_ecl::ecl_make_cfun_va;
}

fn to(name: &'static core::ffi::CStr, hook: unsafe extern "C" fn()) -> Redirection {
    Redirection { name, hook: hook as *const () as usize }
}

/// What all objects' calls are redirected to.
pub fn redirections() -> [Redirection; 10] {
    [
        Redirection { name: c"cl_boot", hook: hook_boot as *const () as usize },
        to(c"ecl_cons", cons),
        to(c"ecl_list1", list1),
        to(c"ecl_alloc_object", object),
        to(c"ecl_alloc_compact_object", compact_object),
        to(c"ecl_alloc", body),
        to(c"ecl_alloc_atomic", atomic_body),
        to(c"ecl_alloc_uncollectable", uncollectable_body),
        to(c"ecl_make_cfun", compiled),
        to(c"ecl_make_cfun_va", compiled_va),
    ]
}

/// Starts the Lisp system.
unsafe extern "C" fn hook_boot(count: c_int, arguments: *mut *mut c_char) -> c_int {
    lisp::before_boot();
    // SAFETY: the caller's arguments.
    let status = unsafe { ecl::cl_boot()(count, arguments) };
    lisp::after_boot();
    status
}

/// Bytes of a cons.
const CONS_BYTES: usize = 16;

unsafe extern "C" fn hook_cons(first: Word, rest: Word, sp: usize, bp: usize) -> Word {
    let real = ecl::ecl_cons();
    // SAFETY: the caller's arguments; the shim gives the entry registers.
    unsafe { made(Entry { sp, bp }, CONS, || real(first, rest), || CONS_BYTES) }
}

unsafe extern "C" fn hook_list1(element: Word, sp: usize, bp: usize) -> Word {
    let real = ecl::ecl_list1();
    // SAFETY: as for a cons.
    unsafe { made(Entry { sp, bp }, CONS, || real(element), || CONS_BYTES) }
}

unsafe extern "C" fn hook_object(kind: c_int, sp: usize, bp: usize) -> Word {
    let real = ecl::ecl_alloc_object();
    // SAFETY: as for a cons.
    unsafe { made(Entry { sp, bp }, kind as u8, || real(kind), || byte_size(kind)) }
}

unsafe extern "C" fn hook_compact_object(kind: c_int, more: usize, sp: usize, bp: usize) -> Word {
    let real = ecl::ecl_alloc_compact_object();
    // SAFETY: as for a cons.
    unsafe { made(Entry { sp, bp }, kind as u8, || real(kind, more), || byte_size(kind) + more) }
}

/// Bytes of an object of a type of which one was made.
fn byte_size(kind: c_int) -> usize {
    // SAFETY: the type is one that is allocated.
    unsafe { ecl::ecl_object_byte_size()(kind) }
}

/// Makes an object through `real` and counts it.
///
/// # Safety
/// `entry` is that of a hook that has not returned.
#[inline(always)]
unsafe fn made(entry: Entry, kind: u8, real: impl Fn() -> Word, bytes: impl Fn() -> usize) -> Word {
    if !lisp::is_recording() {
        return real();
    }
    let object = real();
    // Small integers and characters are asked for like objects, and are none.
    if object & 2 == 0 && object != 0 {
        // SAFETY: as the caller vouches.
        unsafe { objects::object(entry, kind, bytes()) };
        interpreter::made(object, kind);
    }
    object
}

unsafe extern "C" fn hook_body(bytes: usize, sp: usize, bp: usize) -> *mut c_void {
    let real = ecl::ecl_alloc();
    // SAFETY: as for a cons.
    unsafe { made_body(Entry { sp, bp }, bytes, || real(bytes)) }
}

unsafe extern "C" fn hook_atomic_body(bytes: usize, sp: usize, bp: usize) -> *mut c_void {
    let real = ecl::ecl_alloc_atomic();
    // SAFETY: as for a cons.
    unsafe { made_body(Entry { sp, bp }, bytes, || real(bytes)) }
}

unsafe extern "C" fn hook_uncollectable_body(bytes: usize, sp: usize, bp: usize) -> *mut c_void {
    let real = ecl::ecl_alloc_uncollectable();
    // SAFETY: as for a cons.
    unsafe { made_body(Entry { sp, bp }, bytes, || real(bytes)) }
}

/// Makes the body of an object through `real` and counts it.
///
/// # Safety
/// As for [`made`].
#[inline(always)]
unsafe fn made_body(entry: Entry, bytes: usize, real: impl Fn() -> *mut c_void) -> *mut c_void {
    if !lisp::is_recording() {
        return real();
    }
    let body = real();
    if !body.is_null() {
        // SAFETY: as the caller vouches.
        unsafe { objects::body(entry, bytes, DATA) };
    }
    body
}
