//! Functions of ECL's library and of the collector that it uses. All are called at their own addresses, which the
//! objects' symbol tables give, and never through slots that lead to our hooks.
//!
//! An object of Lisp is a word. Its low two bits say what it is: 0 an address, at which the first byte is the type;
//! 1 a list (a cons, or NIL if there are no other bits); 2 a character; 3 a small integer. This has been so in all
//! versions since 9.

use core::ffi::{CStr, c_char, c_int, c_void};
use core::mem::transmute;
use core::sync::atomic::{AtomicUsize, Ordering};

use crate::elf::Object;

/// An object of Lisp.
pub type Word = usize;

/// The empty list.
pub const NIL: Word = 1;

/// The small integer of a number.
pub const fn small_integer(number: usize) -> Word {
    number << 2 | 3
}

/// Whether an object is a cons.
pub fn is_cons(object: Word) -> bool {
    object & 3 == 1 && object != NIL
}

/// The type of an object that is an address; `None` for others.
///
/// # Safety
/// The object is alive.
#[inline(always)]
pub unsafe fn type_of(object: Word) -> Option<u8> {
    if object == 0 || object & 3 != 0 {
        return None;
    }
    // SAFETY: as the caller vouches.
    Some(unsafe { *(object as *const u8) })
}

macro_rules! functions {
    ($find:ident: $($(#[$doc:meta])* $name:ident: fn($($argument:ty),*) $(-> $result:ty)?;)+) => {
        /// Their addresses; 0 before they are found.
        #[allow(non_upper_case_globals)]
        pub mod $find {
            $($(#[$doc])* pub static $name: super::AtomicUsize = super::AtomicUsize::new(0);)+
        }

        $(
            $(#[$doc])*
            ///
            /// # Safety
            /// As the function itself; it was found.
            #[inline(always)]
            #[allow(dead_code, non_snake_case)] // some are only jumped to
            pub fn $name() -> unsafe extern "C" fn($($argument),*) $(-> $result)? {
                let address = $find::$name.load(Ordering::Relaxed);
                debug_assert!(address != 0);
                // SAFETY: the address is that of the function of this name, which has this type: what calls one of these
                // runs after all were found only.
                unsafe { transmute(address) }
            }
        )+

        /// Finds them all in an object; the name of the first that is not there is the error.
        pub fn $find(object: &Object<'_>) -> Result<(), &'static str> {
            const END: &str = "\0";
            $(
                let name = concat!(stringify!($name), "\0");
                let address = CStr::from_bytes_with_nul(name.as_bytes()).ok().and_then(|name| object.find(name));
                $find::$name.store(address.ok_or(name.trim_end_matches(END))?, Ordering::Release);
            )+
            Ok(())
        }
    };
}

functions! { in_ecl:
    /// Starts the Lisp system.
    cl_boot: fn(c_int, *mut *mut c_char) -> c_int;
    /// Makes a cons.
    ecl_cons: fn(Word, Word) -> Word;
    /// Makes a list of one element.
    ecl_list1: fn(Word) -> Word;
    /// Makes an object of a type.
    ecl_alloc_object: fn(c_int) -> Word;
    /// Makes an object of a type with so many bytes more.
    ecl_alloc_compact_object: fn(c_int, usize) -> Word;
    /// Memory that the collector looks through.
    ecl_alloc: fn(usize) -> *mut c_void;
    /// Memory that the collector does not look through.
    ecl_alloc_atomic: fn(usize) -> *mut c_void;
    /// Memory that is never collected.
    ecl_alloc_uncollectable: fn(usize) -> *mut c_void;
    /// Bytes of an object of a type.
    ecl_object_byte_size: fn(c_int) -> usize;
    /// Makes a compiled function of fixed arguments.
    ecl_make_cfun: fn();
    /// Makes a compiled function of any number of arguments.
    ecl_make_cfun_va: fn();
    /// Runs an interpreted function.
    ecl_interpret: fn();
    /// The interpreter itself's environment of the calling thread; null in a thread that is not Lisp's.
    ecl_process_env_unsafe: fn() -> *mut usize;
    /// A symbol's name.
    ecl_symbol_name: fn(Word) -> Word;
    /// A symbol's package; NIL where it has none.
    ecl_symbol_package: fn(Word) -> Word;
    /// The name of a package.
    cl_package_name: fn(Word) -> Word;
    /// The first element of a list.
    ecl_car: fn(Word) -> Word;
    /// The list without its first element.
    ecl_cdr: fn(Word) -> Word;
    /// Length of a string.
    ecl_length: fn(Word) -> usize;
    /// A character of a string.
    ecl_char: fn(Word, usize) -> c_int;
    /// The name of a function.
    si_compiled_function_name: fn(Word) -> Word;
    /// Number of the innermost record of the invocation history.
    si_ihs_top: fn() -> Word;
    /// The function of a record of the invocation history.
    si_ihs_fun: fn(Word) -> Word;
    /// Makes an integer.
    ecl_make_integer: fn(isize) -> Word;
    /// Makes a ratio.
    ecl_make_ratio: fn(Word, Word) -> Word;
    /// Makes a floating point number.
    ecl_make_single_float: fn(f32) -> Word;
    /// Makes a floating point number.
    ecl_make_double_float: fn(f64) -> Word;
    /// Makes a complex number.
    ecl_make_complex: fn(Word, Word) -> Word;
    /// Makes a vector of a length and an element type, 0 for any.
    ecl_alloc_simple_vector: fn(usize, c_int) -> Word;
    /// Makes a string of base characters.
    ecl_make_simple_base_string: fn(*const c_char, isize) -> Word;
    /// Makes a string of any characters.
    ecl_alloc_adjustable_extended_string: fn(usize) -> Word;
    /// Makes an instance with so many slots.
    ecl_alloc_instance: fn(usize) -> Word;
}

functions! { in_collector:
    /// The start of the collector's object that an address lies in; null where it lies in none.
    GC_base: fn(*mut c_void) -> *mut c_void;
}

/// First instruction of the interpreter.
pub fn interpreter() -> usize {
    in_ecl::ecl_interpret.load(Ordering::Relaxed)
}

/// Values of the calling thread that some of the functions change, as they were; put back when it is dropped.
#[derive(Debug)]
pub struct Values {
    environment: *mut usize,
    words: [usize; Self::WORDS],
}

impl Values {
    /// The flag of interrupts, the number of values, and the first values.
    const WORDS: usize = 8;

    /// Keeps them; `None` in a thread that is not Lisp's.
    pub fn keep() -> Option<Values> {
        // SAFETY: the function takes nothing and has no conditions.
        let environment = unsafe { ecl_process_env_unsafe()() };
        if environment.is_null() {
            return None;
        }
        // SAFETY: the environment begins with far more words than these.
        let words = unsafe { environment.cast::<[usize; Self::WORDS]>().read() };
        Some(Values { environment, words })
    }
}

impl Drop for Values {
    fn drop(&mut self) {
        for (index, &word) in self.words.iter().enumerate().skip(1) {
            // SAFETY: as in `keep`; the thread has run nothing of the program's since.
            unsafe { self.environment.add(index).write(word) };
        }
    }
}
