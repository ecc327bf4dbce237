//! Raw bytes of a profile as text that is safe to print.

use std::fmt::Write;

/// The bytes as text. What would act on a terminal or break a line (control characters) is written as an
/// escape; bytes that are not UTF-8 become U+FFFD.
pub fn printable(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    if !text.chars().any(acts) {
        return text.into_owned();
    }
    let mut safe = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        if acts(character) {
            // Writing to a string cannot fail.
            let _ = write!(safe, "{}", character.escape_default());
        } else {
            safe.push(character);
        }
    }
    safe
}

/// Control characters, and the marks that change the direction of what follows.
fn acts(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}')
}

/// The last component of a path, or the whole where it has none.
pub fn base_name(path: &str) -> &str {
    match path.trim_end_matches('/').rsplit('/').next() {
        Some(name) if !name.is_empty() => name,
        _ => path,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_escaped() {
        assert_eq!(printable(b"a\x1b[31mb\nc"), "a\\u{1b}[31mb\\nc");
        assert_eq!(printable("naïve\u{202e}".as_bytes()), "naïve\\u{202e}");
        assert_eq!(printable(b"\xff"), "\u{fffd}");
    }

    #[test]
    fn base_names() {
        assert_eq!(base_name("/usr/lib/libc.so.6"), "libc.so.6");
        assert_eq!(base_name("a/b/"), "b");
        assert_eq!(base_name("/"), "/");
        assert_eq!(base_name(""), "");
    }
}
