//! Names of Lisp functions: from the objects that ECL names them by to bytes of our own.

use core::sync::atomic::{AtomicU8, Ordering};

use mprof_core::lisp::functions;
use mprof_core::location::{FrameKey, Location};
use mprof_core::note::Text;
use mprof_core::{modules, unwind::eh_frame};

use super::ecl::{self, NIL, Values, Word};

/// Longest name, bytes; what is longer is cut.
const LONGEST: usize = 256;
/// Lists in lists in a name at most.
const DEPTH: usize = 4;
/// Elements of a list in a name at most.
const ELEMENTS: usize = 16;

/// A name, and the package of the symbol that it is or ends with.
#[derive(Debug, Default)]
pub struct Name {
    /// As it is printed, without packages; empty where there is none.
    pub text: Text<LONGEST>,
    /// Name of the package.
    pub package: Text<LONGEST>,
}

/// Type of symbols; 0 before the first was seen.
static SYMBOL: AtomicU8 = AtomicU8::new(0);

/// The type of symbols, if one was seen.
pub fn symbol_type() -> Option<u8> {
    Some(SYMBOL.load(Ordering::Relaxed)).filter(|&kind| kind != 0)
}

impl Name {
    /// The name that an object stands for: a symbol, or a list as `(SETF FOO)`. NIL stands for none.
    ///
    /// # Safety
    /// The object is alive, and the calling thread is one of Lisp's.
    pub unsafe fn of(object: Word) -> Name {
        let mut name = Name::default();
        if object != NIL {
            // SAFETY: as the caller vouches.
            unsafe { name.print(object, DEPTH) };
        }
        name
    }

    unsafe fn print(&mut self, object: Word, depth: usize) {
        if ecl::is_cons(object) {
            if depth == 0 {
                return self.text.push(b"(...)");
            }
            // SAFETY: the parts of a living object are alive.
            return unsafe { self.print_list(object, depth - 1) };
        }
        // SAFETY: as the caller vouches.
        let is_symbol = object == NIL || unsafe { is_symbol(object) };
        if !is_symbol {
            return self.text.push(b"#");
        }
        // SAFETY: it is a symbol.
        unsafe {
            push_string(&mut self.text, ecl::ecl_symbol_name()(object));
            let package = ecl::ecl_symbol_package()(object);
            if package != NIL && object != NIL {
                self.package = Text::new();
                push_string(&mut self.package, ecl::cl_package_name()(package));
            }
        }
    }

    unsafe fn print_list(&mut self, mut list: Word, depth: usize) {
        self.text.push(b"(");
        for index in 0..ELEMENTS {
            if index > 0 {
                self.text.push(b" ");
            }
            // SAFETY: the parts of a living object are alive, and this is a cons.
            unsafe {
                self.print(ecl::ecl_car()(list), depth);
                list = ecl::ecl_cdr()(list);
            }
            if !ecl::is_cons(list) {
                break;
            }
        }
        self.text.push(b")");
    }
}

/// # Safety
/// The object is alive.
unsafe fn is_symbol(object: Word) -> bool {
    // SAFETY: as the caller vouches.
    let Some(kind) = (unsafe { ecl::type_of(object) }) else { return false };
    kind == SYMBOL.load(Ordering::Relaxed)
}

/// Appends a string of Lisp as UTF-8.
unsafe fn push_string(text: &mut Text<LONGEST>, string: Word) {
    // SAFETY: the caller has the string from a function that returns one.
    let length = unsafe { ecl::ecl_length()(string) }.min(LONGEST);
    for index in 0..length {
        // SAFETY: the index is below the length.
        let code = unsafe { ecl::ecl_char()(string, index) };
        let character = char::from_u32(code as u32).unwrap_or(char::REPLACEMENT_CHARACTER);
        text.push(character.encode_utf8(&mut [0; 4]).as_bytes());
    }
}

/// A compiled function is about to be made: enters its name. `entry` is its first instruction.
pub extern "C" fn before_compiled(entry: usize, name: Word) {
    // SAFETY: the caller's objects are alive.
    if let (0, Some(kind)) = (SYMBOL.load(Ordering::Relaxed), unsafe { ecl::type_of(name) }) {
        // The first compiled function of all is one of the Lisp system's own, which are named by symbols.
        SYMBOL.store(kind, Ordering::Relaxed);
    }
    let Some(values) = Values::keep() else { return };
    let Some(object) = modules::find(entry) else { return };
    let Some((start, length)) = eh_frame::function_extent(Location::interrupted_at(entry)) else { return };
    if start != entry {
        return;
    }
    // SAFETY: as above.
    let name = unsafe { Name::of(name) };
    drop(values);
    let start = FrameKey::code(object.space, Location::interrupted_at(start));
    functions::compiled(name.text.as_bytes(), name.package.as_bytes(), start, length);
}
