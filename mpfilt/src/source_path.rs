//! Paths of source files as debug information gives them.

/// Puts the parts of a source path together (compilation folder, folder, file): an absolute part starts anew.
/// `.` and `..` are taken out, so that one file has one name however it was included.
pub(crate) fn join(parts: &[&[u8]]) -> Vec<u8> {
    let first = parts.iter().rposition(|part| part.starts_with(b"/")).unwrap_or(0);
    let components = parts[first.min(parts.len())..].iter().flat_map(|part| part.split(|&byte| byte == b'/'));
    let absolute = parts.get(first).is_some_and(|part| part.starts_with(b"/"));
    let mut kept: Vec<&[u8]> = Vec::new();
    for component in components {
        match component {
            b"" | b"." => {}
            b".." if kept.last().is_some_and(|last| *last != b"..") => {
                kept.pop();
            }
            b".." if absolute => {}
            _ => kept.push(component),
        }
    }
    let mut path = kept.join(&b'/');
    if absolute {
        path.insert(0, b'/');
    }
    path
}

/// Whether a file is a system header, or the source of a language's own library.
pub(crate) fn is_system(path: &[u8]) -> bool {
    const FOLDERS: [&[u8]; 9] = [
        b"/usr/include/",
        b"/usr/local/include/",
        b"/usr/lib/gcc/",
        b"/usr/lib/gcc-cross/",
        b"/usr/local/lib/gcc/",
        b"/usr/lib/clang/",
        b"/usr/lib/llvm",
        b"/rustc/",
        b"/rust/deps/",
    ];
    let is_below = |folder: &&[u8]| path.starts_with(folder);
    // The Rust library's sources where the toolchain carries them.
    FOLDERS.iter().any(is_below) || contains(path, b"/lib/rustlib/src/rust/library/")
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined(parts: &[&str]) -> String {
        let parts: Vec<&[u8]> = parts.iter().map(|part| part.as_bytes()).collect();
        String::from_utf8(join(&parts)).expect("text")
    }

    #[test]
    fn absolute_parts_start_anew_and_dots_go() {
        assert_eq!(joined(&["/home/me/shop", "src", "a.c"]), "/home/me/shop/src/a.c");
        assert_eq!(joined(&["/home/me/shop/build", "../src", "./a.c"]), "/home/me/shop/src/a.c");
        assert_eq!(joined(&["/home/me", "/usr/include", "stdio.h"]), "/usr/include/stdio.h");
        assert_eq!(joined(&["/home/me", "src", "/tmp/x/../a.c"]), "/tmp/a.c");
        assert_eq!(joined(&["/../..", "a.c"]), "/a.c");
        assert_eq!(joined(&["", "../a.c"]), "../a.c");
        assert_eq!(joined(&["..", "../x", "..", "a.c"]), "../../a.c");
        assert_eq!(joined(&["a.c"]), "a.c");
        assert_eq!(joined(&[]), "");
    }

    #[test]
    fn system_headers_are_known_by_their_folder() {
        assert!(is_system(b"/usr/include/c++/12/bits/stl_vector.h"));
        assert!(is_system(b"/usr/lib/gcc/x86_64-linux-gnu/12/include/stddef.h"));
        assert!(is_system(b"/rustc/59807616e/library/core/src/fmt/mod.rs"));
        assert!(is_system(b"/home/me/.rustup/toolchains/s/lib/rustlib/src/rust/library/std/src/lib.rs"));
        assert!(!is_system(b"/home/me/usr/include/shop.h"));
        assert!(!is_system(b"shop.h"));
    }
}
