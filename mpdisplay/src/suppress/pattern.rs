//! What a rule says about the frames of a chain.

use super::glob;

/// One element of a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Any number of frames, also none: Valgrind's `...`.
    Any,
    /// One frame.
    Frame(Matcher),
}

/// What a frame must be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Matcher {
    /// Its function: the name for people or the linker's name.
    Function(String),
    /// Its module's path.
    Object(String),
    /// Its source file, and the line where one is given.
    Source {
        /// Base name or whole path.
        file: String,
        /// `None`: any.
        line: Option<u32>,
    },
    /// LeakSanitizer's: function, source file or module, and found anywhere in the name.
    Anything(String),
}

/// A frame as matchers see it. Empty strings stand for what is not known, and match nothing but `*`.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Frame<'a> {
    pub(super) name: &'a str,
    pub(super) linkage_name: &'a str,
    pub(super) module: &'a str,
    pub(super) file: &'a str,
    pub(super) line: u32,
}

impl Matcher {
    /// Whether the frame is one.
    pub(super) fn matches(&self, frame: &Frame<'_>) -> bool {
        match self {
            Matcher::Function(pattern) => {
                glob::matches(pattern, frame.name)
                    || (!frame.linkage_name.is_empty() && glob::matches(pattern, frame.linkage_name))
            }
            Matcher::Object(pattern) => glob::matches(pattern, frame.module),
            Matcher::Source { file, line } => {
                line.is_none_or(|line| line == frame.line)
                    && !frame.file.is_empty()
                    && (glob::matches(file, frame.file)
                        || glob::matches(file, crate::analysis::text::base_name(frame.file)))
            }
            Matcher::Anything(pattern) => [frame.name, frame.linkage_name, frame.file, frame.module]
                .into_iter()
                .any(|text| !text.is_empty() && glob::found(pattern, text)),
        }
    }

    /// Whether it looks at the place of a call, so that two calls in one function may differ.
    pub(super) fn looks_at_source(&self) -> bool {
        matches!(self, Matcher::Source { .. } | Matcher::Anything(_))
    }

    /// Whether it may stand for the allocation function itself. A profile's chains begin at its caller; Valgrind's
    /// and its suppressions begin one frame further in.
    pub(super) fn is_allocation(&self) -> bool {
        const NAMES: [&str; 17] = [
            "malloc",
            "calloc",
            "realloc",
            "reallocarray",
            "memalign",
            "posix_memalign",
            "aligned_alloc",
            "valloc",
            "pvalloc",
            "_Znwm",
            "_Znam",
            "_ZnwmRKSt9nothrow_t",
            "_ZnamRKSt9nothrow_t",
            "_ZnwmSt11align_val_t",
            "_ZnamSt11align_val_t",
            "operator new",
            "operator new[]",
        ];
        match self {
            Matcher::Function(pattern) => NAMES.iter().any(|name| glob::matches(pattern, name)),
            // As `obj:` names Valgrind's own replacement library.
            Matcher::Object(pattern) => pattern.contains("vgpreload") || pattern == "*",
            _ => false,
        }
    }

    /// Whether it may stand for the loader, which chains leave out above a library's constructor.
    pub(super) fn is_loader(&self) -> bool {
        match self {
            Matcher::Function(pattern) => {
                ["call_init", "_dl_init", "_dl_start_user"].iter().any(|name| glob::matches(pattern, name))
            }
            Matcher::Object(pattern) => {
                ["/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2", "/lib64/ld-linux-x86-64.so.2"]
                    .iter()
                    .any(|name| glob::matches(pattern, name))
            }
            _ => false,
        }
    }

    /// Whether it may stand for the start of a program or thread, which chains leave out above `main`.
    pub(super) fn is_start(&self) -> bool {
        const NAMES: [&str; 10] = [
            "(below main)",
            "_start",
            "__libc_start_main",
            "__libc_start_main@@GLIBC_2.34",
            "__libc_start_call_main",
            "start_thread",
            "clone",
            "clone3",
            "__clone",
            "__clone3",
        ];
        const MODULES: [&str; 2] = ["/lib/x86_64-linux-gnu/libc.so.6", "/lib64/libc.so.6"];
        match self {
            Matcher::Function(pattern) => NAMES.iter().any(|name| glob::matches(pattern, name)),
            Matcher::Object(pattern) => MODULES.iter().any(|name| glob::matches(pattern, name)),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAME: Frame<'_> = Frame {
        name: "shop::Cart::add",
        linkage_name: "_ZN4shop4Cart3addEv",
        module: "/opt/shop/lib/libcart.so.2",
        file: "/src/shop/cart.cc",
        line: 42,
    };

    #[test]
    fn functions_match_by_either_name() {
        assert!(Matcher::Function("_ZN4shop*".into()).matches(&FRAME));
        assert!(Matcher::Function("shop::Cart::*".into()).matches(&FRAME));
        assert!(!Matcher::Function("Cart".into()).matches(&FRAME));
    }

    #[test]
    fn source_files_match_by_path_or_base_name_and_line() {
        let source = |file: &str, line| Matcher::Source { file: file.into(), line };
        assert!(source("cart.cc", None).matches(&FRAME));
        assert!(source("cart.cc", Some(42)).matches(&FRAME));
        assert!(!source("cart.cc", Some(41)).matches(&FRAME));
        assert!(source("/src/*.cc", None).matches(&FRAME));
        assert!(!source("*", None).matches(&Frame { file: "", ..FRAME }));
    }

    #[test]
    fn sanitizer_patterns_look_at_everything() {
        for pattern in ["Cart::add", "cart.cc", "libcart.so", "_ZN4shop"] {
            assert!(Matcher::Anything(pattern.into()).matches(&FRAME), "{pattern}");
        }
        assert!(!Matcher::Anything("till".into()).matches(&FRAME));
    }

    #[test]
    fn the_ends_that_chains_do_not_have() {
        assert!(Matcher::Function("*alloc".into()).is_allocation());
        assert!(Matcher::Function("_Znw*".into()).is_allocation());
        assert!(!Matcher::Function("g_malloc".into()).is_allocation());
        assert!(Matcher::Function("(below main)".into()).is_start());
        assert!(Matcher::Object("/lib/x86_64-linux-gnu/libc*.so*".into()).is_start());
        assert!(!Matcher::Function("main".into()).is_start());
        assert!(Matcher::Object("*/ld-linux*.so*".into()).is_loader());
        assert!(!Matcher::Object("*/ld-linux*.so*".into()).is_start());
    }
}
