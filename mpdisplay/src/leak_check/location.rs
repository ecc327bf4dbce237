//! Where in the source a leak is.

use crate::analysis::functions::Function;
use crate::analysis::leaks::{LeakRow, Leaks};

/// A place in the source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place<'t> {
    /// Path of the file, printable.
    pub file: &'t str,
    /// From 1.
    pub line: u32,
}

/// A function of a chain and where it made its call.
#[derive(Debug, Clone, Copy)]
pub struct Call<'t> {
    /// The function.
    pub function: &'t Function,
    /// `None` where there is no debug information.
    pub place: Option<Place<'t>>,
}

/// The calls of a row's chain, innermost first.
pub fn calls<'t>(leaks: &Leaks<'t>, row: &LeakRow) -> Vec<Call<'t>> {
    let place = |site: crate::analysis::tree::Site| {
        let file = site.file.filter(|_| site.line > 0).map(|file| leaks.file(file))?;
        Some(Place { file, line: site.line })
    };
    leaks.chain(row).map(|(function, site)| Call { function, place: place(site) }).collect()
}

/// The line that a person should look at first: of the innermost call that is not in a system's header or library.
pub fn blamed<'t>(calls: &[Call<'t>]) -> Option<Place<'t>> {
    let places = || calls.iter().filter_map(|call| call.place);
    places().find(|place| !is_system(place.file)).or_else(|| places().next())
}

/// Whether a source file belongs to the system: headers, the libraries' own sources, and those of Rust's library.
fn is_system(file: &str) -> bool {
    const FOLDERS: [&str; 4] = ["/usr/include/", "/usr/lib/", "/usr/src/", "/rustc/"];
    // Without an absolute path it is one of the C library, which is built by relative paths.
    !file.starts_with('/') || FOLDERS.iter().any(|folder| file.starts_with(folder))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::functions::FunctionKind;

    #[test]
    fn headers_and_libraries_are_not_blamed_unless_there_is_nothing_else() {
        let function = Function::new(FunctionKind::Named, "f".into(), None, None);
        let call = |file, line| Call { function: &function, place: Some(Place { file, line }) };
        let nowhere = Call { function: &function, place: None };
        let header = call("/usr/include/c++/12/bits/new_allocator.h", 137);
        let own = call("/src/shop/cart.cc", 12);
        assert_eq!(blamed(&[nowhere, header, own]), own.place);
        assert_eq!(blamed(&[call("string/strdup.c", 42), own]), own.place);
        assert_eq!(blamed(&[header]), header.place);
        assert_eq!(blamed(&[nowhere]), None);
    }
}
