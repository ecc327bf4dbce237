//! Names of Lisp functions: from the objects that ECL names them by to bytes of our own.

use core::sync::atomic::{AtomicU8, AtomicU32, AtomicUsize, Ordering};

use mprof_core::lisp::functions;
use mprof_core::location::{FrameKey, Location};
use mprof_core::modules;
use mprof_core::note::Text;
use mprof_core::unwind::{eh_frame, read_word};

use super::ecl::{self, NIL, Values, Word};
use crate::lisp;

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
            if object != NIL
                && let Some(name) = package_name(package)
            {
                self.package = Text::new();
                push_string(&mut self.package, name);
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

/// From a package to the word that is its name, bytes; 0 while it is not known.
static PACKAGE_NAME: AtomicUsize = AtomicUsize::new(0);
/// How often that was looked for.
static ATTEMPTS: AtomicU32 = AtomicU32::new(0);
const MOST_ATTEMPTS: u32 = 16;
/// The words of a package that may be its name end here.
const PACKAGE_WORDS: usize = 8;

/// The name of a package; `None` where it is none, or it is not known where its name is. (The function that gives the
/// name makes a copy: it must not be called in the middle of an allocation.)
unsafe fn package_name(package: Word) -> Option<Word> {
    let offset = PACKAGE_NAME.load(Ordering::Relaxed);
    if offset == 0 || package & 3 != 0 || package == 0 {
        return None;
    }
    // SAFETY: the package is alive, and its name lies there.
    Some(unsafe { read_word(package + offset) })
}

/// Finds out where packages have their names: the word that is a string equal to the one that ECL gives.
///
/// # Safety
/// The symbol is alive, the calling thread is one of Lisp's, and no allocation is going on.
unsafe fn find_package_name(symbol: Word) {
    // SAFETY: as the caller vouches.
    unsafe {
        let package = ecl::ecl_symbol_package()(symbol);
        let Some(_) = ecl::type_of(package) else { return };
        let copy = ecl::cl_package_name()(package);
        let (Some(kind), mut wanted) = (ecl::type_of(copy), Text::new()) else { return };
        push_string(&mut wanted, copy);
        let offset = (1..PACKAGE_WORDS).map(|word| word * size_of::<Word>()).find(|offset| {
            let word = read_word(package + offset);
            // An object of the collector's, or one that the library has brought along; other words may be anything.
            let is_object = word != 0
                && word & 7 == 0
                && (ecl::GC_base()(word as *mut _) as usize == word || modules::find(word).is_some());
            let is_string = is_object && ecl::type_of(word) == Some(kind);
            let mut found = Text::new();
            if is_string {
                push_string(&mut found, word);
            }
            is_string && found.as_bytes() == wanted.as_bytes()
        });
        PACKAGE_NAME.store(offset.unwrap_or(0), Ordering::Relaxed);
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
    // SAFETY: as above.
    let is_symbol = unsafe { is_symbol(name) };
    if PACKAGE_NAME.load(Ordering::Relaxed) == 0
        && is_symbol
        && ATTEMPTS.fetch_add(1, Ordering::Relaxed) < MOST_ATTEMPTS
    {
        // SAFETY: as above.
        lisp::quietly(|| unsafe { find_package_name(name) });
    }
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
