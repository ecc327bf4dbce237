//! The functions of libgc (the Boehm–Demers–Weiser collector) that allocate.
//!
//! A program's calls of them are redirected to our hooks, and so are those of its libraries; libgc's own calls stay as
//! they are, so that each object is counted once.

use core::ffi::c_void;
use core::mem::transmute;
use core::sync::atomic::{AtomicUsize, Ordering};

use mprof_core::lisp::objects;
use mprof_core::unwind::Entry;

use crate::elf::{Object, Redirection};

/// An argument of such a function: all are integers and addresses.
type Argument = usize;
/// Such a function; none has more arguments.
type Real = unsafe extern "C" fn(Argument, Argument, Argument) -> *mut c_void;

/// Objects that a call made, and the size of each, bytes.
struct Made {
    objects: u64,
    bytes: usize,
}

/// One object, if there is one.
fn one(object: *mut c_void, bytes: usize) -> Made {
    Made { objects: u64::from(!object.is_null()), bytes }
}

/// Objects that are linked by their first words: a thread takes many at once, to give them out by itself.
///
/// # Safety
/// `list` is such a list.
unsafe fn many(mut list: *mut c_void, bytes: usize) -> Made {
    let mut objects = 0;
    while !list.is_null() {
        objects += 1;
        // SAFETY: as the caller vouches.
        list = unsafe { *list.cast::<*mut c_void>() };
    }
    Made { objects, bytes }
}

/// A copy of a string, of up to `most` bytes without the null at its end.
///
/// # Safety
/// `string` is a string, or has so many bytes.
unsafe fn copy(object: *mut c_void, string: Argument, most: usize) -> Made {
    if object.is_null() {
        return one(object, 0);
    }
    // SAFETY: as the caller vouches.
    one(object, unsafe { libc::strnlen(string as *const _, most) } + 1)
}

macro_rules! functions {
    ($($(#[$doc:meta])* $name:ident => |$a:pat_param, $b:pat_param, $c:pat_param, $object:pat_param| $made:expr;)+) => {
        $(
            $(#[$doc])*
            #[allow(non_snake_case)]
            mod $name {
                use super::*;

                pub static ORIGINAL: AtomicUsize = AtomicUsize::new(0);

                #[unsafe(naked)]
                pub unsafe extern "C" fn shim() {
                    core::arch::naked_asm!("mov rcx, rsp", "mov r8, rbp", "jmp {hook}", hook = sym hook)
                }

                unsafe extern "C" fn hook(
                    a: Argument,
                    b: Argument,
                    c: Argument,
                    sp: usize,
                    bp: usize,
                ) -> *mut c_void {
                    // SAFETY: nothing comes here before the original was found, and all originals take up to three
                    // words and give one.
                    let real: Real = unsafe { transmute(ORIGINAL.load(Ordering::Relaxed)) };
                    // SAFETY: the caller's arguments.
                    let object = unsafe { real(a, b, c) };
                    let made = |$a: Argument, $b: Argument, $c: Argument, $object: *mut c_void| -> Made { $made };
                    let Made { objects, bytes } = made(a, b, c, object);
                    if objects > 0 {
                        // SAFETY: the hook has not returned.
                        unsafe { objects::collected(Entry { sp, bp }, objects, bytes) };
                    }
                    object
                }
            }
        )+

        /// All of them: name, original, and where calls are to go.
        static ALL: [(&core::ffi::CStr, &AtomicUsize, unsafe extern "C" fn()); FUNCTIONS] = [
            $((
                match core::ffi::CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                    Ok(name) => name,
                    Err(_) => unreachable!(),
                },
                &$name::ORIGINAL,
                $name::shim,
            ),)+
        ];

        const FUNCTIONS: usize = [$(stringify!($name)),+].len();
    };
}

functions! {
    /// Makes an object.
    GC_malloc => |bytes, _, _, object| one(object, bytes);
    /// Makes an object without addresses in it.
    GC_malloc_atomic => |bytes, _, _, object| one(object, bytes);
    /// Makes an object that only addresses of its beginning keep.
    GC_malloc_ignore_off_page => |bytes, _, _, object| one(object, bytes);
    /// The same, without addresses in it.
    GC_malloc_atomic_ignore_off_page => |bytes, _, _, object| one(object, bytes);
    /// Makes an object that is never collected.
    GC_malloc_uncollectable => |bytes, _, _, object| one(object, bytes);
    /// The same, without addresses in it.
    GC_malloc_atomic_uncollectable => |bytes, _, _, object| one(object, bytes);
    /// Makes an object that is seldom changed.
    GC_malloc_stubborn => |bytes, _, _, object| one(object, bytes);
    /// Makes an object of a kind that the program has defined.
    GC_malloc_kind => |bytes, _, _, object| one(object, bytes);
    /// The same.
    GC_generic_malloc => |bytes, _, _, object| one(object, bytes);
    /// Makes an object in which the places of addresses are told.
    GC_malloc_explicitly_typed => |bytes, _, _, object| one(object, bytes);
    /// The same, that only addresses of its beginning keep.
    GC_malloc_explicitly_typed_ignore_off_page => |bytes, _, _, object| one(object, bytes);
    /// Makes an array of such objects.
    GC_calloc_explicitly_typed => |number, bytes, _, object| one(object, number.saturating_mul(bytes));
    /// Makes an object whose first word tells of the places of addresses.
    GC_gcj_malloc => |bytes, _, _, object| one(object, bytes);
    /// Makes an aligned object.
    GC_memalign => |_, bytes, _, object| one(object, bytes);
    /// The same; returns 0 where there is one.
    GC_posix_memalign => |_, _, bytes, error| Made { objects: u64::from(error as i32 == 0), bytes };
    /// Changes the size of an object: counted as a new one.
    GC_realloc => |_, bytes, _, object| one(object, bytes);
    /// Copies a string.
    // SAFETY: the original has just read it.
    GC_strdup => |string, _, _, object| unsafe { copy(object, string, usize::MAX) };
    /// Copies the beginning of a string.
    // SAFETY: as above.
    GC_strndup => |string, most, _, object| unsafe { copy(object, string, most) };
    /// Makes a list of objects, for the calling thread to give out.
    // SAFETY: it is such a list.
    GC_malloc_many => |bytes, _, _, list| unsafe { many(list, bytes) };
    /// The same, of a kind; puts the list there.
    // SAFETY: the original has just written it there.
    GC_generic_malloc_many => |bytes, _, list, _| unsafe { many(*(list as *const *mut c_void), bytes) };
}

/// Finds the functions in the collector's library.
pub fn find(collector: &Object<'_>) {
    for (name, original, _) in &ALL {
        original.store(collector.find(name).unwrap_or(0), Ordering::Release);
    }
}

/// Has an object's calls of those that were found come to us.
pub fn redirect(object: &Object<'_>) {
    for &(name, original, shim) in &ALL {
        if original.load(Ordering::Acquire) != 0 {
            object.redirect(&[Redirection { name, hook: shim as *const () as usize }]);
        }
    }
}
