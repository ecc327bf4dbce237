//! Linker names to names for people.
//!
//! C++ names (Itanium ABI) lose their parameter lists and return types but keep template arguments; Rust names
//! (legacy and v0) lose their hash; suffixes that the compiler adds to clones of a function are left out.

use std::fmt::{self, Write};

use cpp_demangle::{DemangleOptions, Symbol};

/// Longest linker name that is looked at, bytes, and longest name that is made of it: a hostile name could
/// otherwise unfold to any length.
const MAX_NAME: usize = 64 * 1024;
/// Qualifiers of member functions, after their parameters.
const QUALIFIERS: [&str; 4] = [" const", " volatile", " &", " &&"];
/// Longest linker name with unknown types that is looked at again, bytes, and how many ends of its name are tried.
const MAX_UNKNOWN: usize = 4 * 1024;
const MAX_ENDS: usize = 64;
/// How deep a C++ name may be nested.
const MAX_DEPTH: u32 = 192;

/// The name for people of a linker name. Names that are not mangled are given back without version and clone
/// suffix.
pub(crate) fn demangle(linkage_name: &[u8]) -> Vec<u8> {
    let base = base_name(linkage_name);
    let Ok(text) = std::str::from_utf8(base) else {
        return base.to_vec();
    };
    rust(text).or_else(|| cpp(text)).map_or_else(|| base.to_vec(), String::into_bytes)
}

/// Whether a linker name is a C++ or Rust name.
pub(crate) fn is_mangled(linkage_name: &[u8]) -> bool {
    linkage_name.starts_with(b"_Z") || linkage_name.starts_with(b"_R")
}

fn rust(text: &str) -> Option<String> {
    if !(text.starts_with("_R") || text.starts_with("_ZN")) || text.len() > MAX_NAME {
        return None;
    }
    let name = rustc_demangle::try_demangle(text).ok()?;
    let mut out = Bounded::default();
    write!(out, "{name:#}").ok()?;
    Some(out.text)
}

fn cpp(text: &str) -> Option<String> {
    if !text.starts_with("_Z") || text.len() > MAX_NAME {
        return None;
    }
    let options = DemangleOptions::new()
        .no_params()
        .no_return_type()
        .hide_expression_literal_types()
        .recursion_limit(MAX_DEPTH);
    let mut out = Bounded::default();
    let symbol = Symbol::new(text).ok().or_else(|| name_alone(text))?;
    symbol.structured_demangle(&mut out, &options).ok()?;
    let mut name = out.text;
    // Members of a function's local classes keep the qualifiers that belong to the parameter list.
    while let Some(shorter) =
        QUALIFIERS.iter().find_map(|of| name.strip_suffix(of)).filter(|_| text.starts_with("_ZZ"))
    {
        name.truncate(shorter.len());
    }
    // A lambda's body is the call operator of a nameless class: the class says it all.
    if let Some(class) = name.strip_suffix("::operator()") {
        let own = class.rsplit("::").next().unwrap_or(class);
        if class.ends_with('}') || own.starts_with("$_") {
            name.truncate(class.len());
        }
    }
    Some(name)
}

/// The name of a function without the types after it, some of which the parser does not know (`srSt8is_array…` in what
/// `std::make_shared` returns). A name that is nested or has template arguments ends with an `E`, and no shorter part
/// of it is a name.
fn name_alone(text: &str) -> Option<Symbol<&str>> {
    let ends = text.match_indices('E').map(|(place, _)| place + 1).take(MAX_ENDS);
    ends.filter(|_| text.len() <= MAX_UNKNOWN).find_map(|end| Symbol::new(&text[..end]).ok())
}

/// A linker name without symbol version (`@GLIBC_2.2.5`) and clone suffixes.
pub(crate) fn base_name(name: &[u8]) -> &[u8] {
    let end = name.iter().skip(1).position(|&byte| byte == b'@').map_or(name.len(), |at| at + 1);
    let name = &name[..end];
    // The first dot (after the first byte: some assembly names begin with one) from which only suffixes follow.
    let mut dots = (1..name.len()).filter(|&at| name[at] == b'.');
    dots.find(|&at| name[at + 1..].split(|&byte| byte == b'.').all(is_clone_word))
        .map_or(name, |at| &name[..at])
}

/// If this is the cold part of a function, the name of that function.
pub(crate) fn cold_part_of(name: &[u8]) -> Option<&[u8]> {
    let at = name.windows(5).rposition(|window| window == b".cold")?;
    let rest = &name[at + 5..];
    let numbered = rest.strip_prefix(b".").is_some_and(|digits| digits.iter().all(u8::is_ascii_digit));
    (at > 0 && (rest.is_empty() || numbered)).then_some(&name[..at])
}

/// Words that gcc and LLVM append to the names of clones, parts and promoted local functions, and their numbers.
fn is_clone_word(word: &[u8]) -> bool {
    const WORDS: [&[u8]; 10] = [
        b"constprop",
        b"part",
        b"isra",
        b"cold",
        b"lto_priv",
        b"clone",
        b"localalias",
        b"llvm",
        b"ipa-sra",
        b"__uniq",
    ];
    WORDS.contains(&word) || (!word.is_empty() && word.iter().all(u8::is_ascii_digit))
}

/// Text that refuses to grow beyond [`MAX_NAME`].
#[derive(Default)]
struct Bounded {
    text: String,
}

impl Write for Bounded {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        if self.text.len() + part.len() > MAX_NAME {
            return Err(fmt::Error);
        }
        self.text.push_str(part);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(linkage_name: &str) -> String {
        String::from_utf8(demangle(linkage_name.as_bytes())).expect("text")
    }

    #[test]
    fn cpp_names_keep_template_arguments_and_lose_parameters() {
        assert_eq!(name("_ZN4shop5ShelfIiLi7EE5stockEi"), "shop::Shelf<int, 7>::stock");
        assert_eq!(name("_ZN4shop5ShelfIbLin3EE5stockEi"), "shop::Shelf<bool, -3>::stock");
        assert_eq!(name("_ZN4shopplENS_4ItemES0_"), "shop::operator+");
        assert_eq!(name("_ZN4shop5ShelfIiLi7EElsIcEERS1_T_"), "shop::Shelf<int, 7>::operator<< <char>");
        assert_eq!(name("_ZNK4shop5ShelfIiLi7EEcvbEv"), "shop::Shelf<int, 7>::operator bool");
        assert_eq!(name("_ZN4shop8variadicILb1EJiPcEEEiDpT0_"), "shop::variadic<true, int, char*>");
        assert_eq!(name("_ZN4shop12_GLOBAL__N_16hiddenEv"), "shop::(anonymous namespace)::hidden");
        assert_eq!(name("_Znwm"), "operator new");
        assert_eq!(name("_ZN4shop3FooC4Ev"), "shop::Foo::Foo");
        assert_eq!(name("_ZN4shop3FooD2Ev"), "shop::Foo::~Foo");
    }

    #[test]
    fn names_are_read_where_the_types_behind_them_cannot_be() {
        let make_shared = "_ZSt11make_sharedIN4shop4ItemEJS1_EESt10shared_ptrINSt9enable_ifI\
                           XntsrSt8is_arrayIT_E5valueES5_E4typeEEDpOT0_";
        assert_eq!(name(make_shared), "std::make_shared<shop::Item, shop::Item>");
    }

    #[test]
    fn lambdas_are_named_by_where_they_stand() {
        assert_eq!(name("_ZZ4mainENKUlvE_clEv"), "main::{lambda()#1}");
        assert_eq!(name("_ZZ4mainENK3$_0clEv"), "main::$_0");
        assert_eq!(name("_ZZ4mainENK5Local5stockEv"), "main::Local::stock");
        assert_eq!(name("_ZN4shop5applyIZ4mainEUlvE_EEvT_"), "shop::apply<main::{lambda()#1}>");
    }

    #[test]
    fn rust_names_lose_their_hash() {
        assert_eq!(name("_RNvCs1234_7mycrate3foo"), "mycrate::foo");
        assert_eq!(
            name("_ZN5alloc3vec16Vec$LT$T$C$A$GT$4push17h0123456789abcdefE"),
            "alloc::vec::Vec<T,A>::push"
        );
    }

    #[test]
    fn clone_suffixes_and_versions_are_left_out() {
        for linkage_name in [
            "foo.constprop.0",
            "foo.part.0",
            "foo.isra.0",
            "foo.cold",
            "foo.lto_priv.0",
            "foo.constprop.0.isra.0.cold",
            "foo.llvm.1234567890",
            "foo@@GLIBC_2.34",
        ] {
            assert_eq!(name(linkage_name), "foo", "{linkage_name}");
        }
        assert_eq!(name("_ZN4shopplENS_4ItemES0_.part.0"), "shop::operator+");
        // Not suffixes of ours: variants of a function that a person chose.
        assert_eq!(name("sum.avx2"), "sum.avx2");
        assert_eq!(name(".hidden"), ".hidden");
        assert_eq!(name("odd."), "odd.");
        assert_eq!(name(""), "");
    }

    #[test]
    fn cold_parts_know_their_function() {
        assert_eq!(cold_part_of(b"foo.cold"), Some(&b"foo"[..]));
        assert_eq!(cold_part_of(b"foo.cold.12"), Some(&b"foo"[..]));
        assert_eq!(cold_part_of(b"foo.constprop.0.cold"), Some(&b"foo.constprop.0"[..]));
        assert_eq!(cold_part_of(b"foo.colder"), None);
        assert_eq!(cold_part_of(b".cold"), None);
        assert_eq!(cold_part_of(b"foo"), None);
    }

    #[test]
    fn hostile_names_are_given_back_as_they_are() {
        let nested = format!("_Z1f{}i", "P".repeat(100_000));
        assert_eq!(name(&nested), nested);
        // Each substitution doubles the text.
        let mut doubling = String::from("_Z1fSt4pairIiiE");
        for _ in 0..60 {
            doubling.push_str("St4pairIS_S_E");
        }
        let _ = name(&doubling);
        for cut in 0..60 {
            let _ = demangle(&b"_ZN4shop5ShelfIiLi7EElsIcEERS1_T_\xff\x80"[..cut.min(35)]);
        }
    }
}
