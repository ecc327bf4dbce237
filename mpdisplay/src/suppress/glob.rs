//! The two kinds of wildcards.

/// Whether `pattern` matches the whole of `text` in the manner of Valgrind: `*` stands for any characters, `?` for one.
pub(super) fn matches(pattern: &str, text: &str) -> bool {
    let (pattern, text) = (pattern.as_bytes(), text.as_bytes());
    let (mut at, mut begin) = (0, 0);
    // Where to go on when a character does not fit: behind the last `*`, which then takes one character more.
    let mut retry: Option<(usize, usize)> = None;
    while begin < text.len() {
        match pattern.get(at) {
            Some(b'*') => {
                retry = Some((at + 1, begin));
                at += 1;
            }
            Some(&character) if character == b'?' || character == text[begin] => {
                // A character of several bytes is one for `?`.
                begin += if character == b'?' { width(text[begin]) } else { 1 };
                at += 1;
            }
            _ => match retry {
                Some((after, taken)) => {
                    retry = Some((after, taken + 1));
                    (at, begin) = (after, taken + 1);
                }
                None => return false,
            },
        }
    }
    pattern[at.min(pattern.len())..].iter().all(|&character| character == b'*')
}

/// Bytes of the UTF-8 character that begins so.
fn width(first: u8) -> usize {
    match first {
        0xf0.. => 4,
        0xe0.. => 3,
        0xc0.. => 2,
        _ => 1,
    }
}

/// Whether `pattern` is found in `text` in the manner of LeakSanitizer: anywhere, unless it begins with `^` or ends
/// with `$`; `*` stands for any characters.
pub(super) fn found(pattern: &str, text: &str) -> bool {
    let (begin, pattern) = match pattern.strip_prefix('^') {
        Some(rest) => ("", rest),
        None => ("*", pattern),
    };
    let (pattern, end) = match pattern.strip_suffix('$') {
        Some(rest) => (rest, ""),
        None => (pattern, "*"),
    };
    // `?` has no meaning there; symbols hold none, and file names hardly.
    matches(&format!("{begin}{pattern}{end}"), text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wildcards_match_whole_names() {
        assert!(matches("malloc", "malloc"));
        assert!(!matches("malloc", "mallocs"));
        assert!(!matches("malloc", "mallo"));
        assert!(matches("*alloc", "realloc"));
        assert!(matches("g_*_new*", "g_hash_table_new_full"));
        assert!(!matches("g_*_new", "g_hash_table_new_full"));
        assert!(matches("?alloc", "xalloc"));
        assert!(matches("?", "ä"));
        assert!(!matches("?alloc", "alloc"));
        assert!(matches("*", ""));
        assert!(matches("**a**", "banana"));
        assert!(!matches("", "x"));
    }

    #[test]
    fn many_stars_take_no_time() {
        assert!(!matches(&"*a".repeat(40), &"a".repeat(39).repeat(20).replace("aaa", "b")));
        assert!(!matches(&format!("{}b", "*a".repeat(30)), &"a".repeat(4000)));
    }

    #[test]
    fn sanitizer_patterns_are_found_anywhere_unless_anchored() {
        assert!(found("load", "config_load_all"));
        assert!(found("^config*all$", "config_load_all"));
        assert!(!found("^load", "config_load_all"));
        assert!(!found("load$", "config_load_all"));
        assert!(found("libfoo.so", "/usr/lib/libfoo.so.1"));
        assert!(!found("Load", "config_load_all"));
    }
}
