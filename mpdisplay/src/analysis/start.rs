//! Which outer frames of a chain are the runtime's own start and are left out of the tables.
//!
//! A chain begins with frames that no programmer wrote: `_start` and libc above `main`, the loader above a
//! constructor, `clone` and `start_thread` above a thread's function, Rust's `lang_start` between C's `main` and
//! the program's own. They are recognised from the outer end inwards and only there; the same functions deeper in
//! a chain are shown. libc often comes without symbols, so *every* frame of libc or the loader at the outer end
//! is taken for the start, as long as the chain leaves them. A chain that ends among them (libc allocates while
//! it starts a thread) shows them, for else nothing would be left.

/// What a frame looks like to the start of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// A function whose name says that it does nothing but start the program or a thread.
    Starter,
    /// The same for a library's constructors, which may also be called far inside (by `dlopen`).
    Loader,
    /// Another function of libc or the loader.
    Runtime,
    /// An address in libc or the loader without a name.
    UnnamedRuntime,
    /// `main`.
    Main,
    /// Where Rust's runtime takes over: from `main`, or from libc in a new thread.
    RustEntry,
    /// Rust's mark between its runtime and the program.
    RustMark,
    /// The glue by which Rust calls a function or closure.
    RustCall,
    /// An address in another module without a name.
    Unnamed,
    /// Anything else.
    Other,
}

impl Role {
    /// Whether there is nothing but the start outside of such a frame, also where the chain could not be followed
    /// further: the unwinding information of these functions often has no end mark.
    pub(super) fn is_outermost(self) -> bool {
        matches!(self, Role::Starter | Role::Main)
    }

    /// Whether such a frame is left out even in a chain that ends in the runtime.
    pub(super) fn is_start_only(self) -> bool {
        matches!(self, Role::Starter | Role::Loader)
    }

    /// Judges a frame by its function's name (`None` where it has none) and its module's base name.
    pub(super) fn of(name: Option<&str>, module: &str) -> Role {
        let runtime = is_runtime(module);
        match name {
            None if runtime => Role::UnnamedRuntime,
            None => Role::Unnamed,
            Some(name) if is_starter(name, runtime) => Role::Starter,
            Some(name) if runtime && ["_dl_init", "call_init"].contains(&without_suffix(name)) => {
                Role::Loader
            }
            Some(_) if runtime => Role::Runtime,
            Some("main") => Role::Main,
            Some(name) if is_rust_entry(name) => Role::RustEntry,
            Some(name) if is_rust_mark(name) => Role::RustMark,
            Some(name) if is_rust_call(name) => Role::RustCall,
            Some(_) => Role::Other,
        }
    }
}

/// The C library (glibc, musl) or the loader, by the module's base name.
fn is_runtime(module: &str) -> bool {
    const STEMS: [&str; 5] = ["libc.so.", "libpthread.so.", "ld.so.", "ld-linux", "ld64.so."];
    const VERSIONED: [&str; 3] = ["libc-", "libpthread-", "ld-"];
    STEMS.iter().any(|stem| module.starts_with(stem))
        || (VERSIONED.iter().any(|stem| {
            module.strip_prefix(stem).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
        }) && module.ends_with(".so"))
        || module.starts_with("libc.musl-")
        || module.starts_with("ld-musl-")
}

/// The loader alone. (musl's is its C library.)
pub(super) fn is_loader(module: &str) -> bool {
    is_runtime(module) && module.starts_with("ld")
}

/// Names that only start-up code has; the plain English ones count in libc and the loader only.
fn is_starter(name: &str, runtime: bool) -> bool {
    const ANYWHERE: [&str; 2] = ["_start", "__libc_csu_init"];
    const BEGINNINGS: [&str; 3] = ["__libc_start_main", "__libc_start_call_main", "_dl_start"];
    const RUNTIME: [&str; 7] =
        ["clone", "__clone", "__clone_internal", "clone3", "__clone3", "start_thread", "__start_context"];
    ANYWHERE.contains(&name)
        || BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
        || (runtime && RUNTIME.iter().any(|&starter| starter == without_suffix(name)))
}

/// A symbol's name without its version (`@@GLIBC_2.34`) or a compiler's clone mark (`.constprop.0`).
fn without_suffix(name: &str) -> &str {
    name.split(['@', '.']).next().unwrap_or(name)
}

fn is_rust_entry(name: &str) -> bool {
    name.starts_with("std::rt::lang_start")
        || (name.starts_with("std::sys") && name.contains("::thread") && name.ends_with("::thread_start"))
}

/// With or without type arguments (`…short_backtrace::<fn(), ()>`) or a hash, as the name mangling has it.
fn is_rust_mark(name: &str) -> bool {
    name.starts_with("std::sys") && name.contains("::__rust_begin_short_backtrace")
}

fn is_rust_call(name: &str) -> bool {
    name.starts_with("core::ops::function::FnOnce::call_once")
        || (name.starts_with('<') && name.contains(" as core::ops::function::FnOnce<"))
}

/// How far a chain has come through the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// At the thread's top.
    Top,
    /// After an unnamed first frame, which is `_start` of a stripped program if libc's start follows.
    First,
    /// In libc or the loader.
    Runtime,
    /// In `main`, which is the program's own unless Rust's runtime follows.
    Main,
    /// In Rust's runtime, before its mark.
    Rust,
    /// Behind Rust's mark.
    RustMarked,
}

impl Phase {
    /// Whether frames of both phases stand and fall together: in a chain that ends in one of them, earlier ones
    /// of the same group are shown with it.
    pub(super) fn same_group(self, other: Phase) -> bool {
        let group = |phase| match phase {
            Phase::Top | Phase::First | Phase::Runtime => 0,
            Phase::Main | Phase::Rust | Phase::RustMarked => 1,
        };
        group(self) == group(other)
    }
}

/// What to do with the next frame inwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It belongs to the start, as far as can be said.
    Start(Phase),
    /// It is the first frame shown; the start above it is left out.
    Begin,
    /// It is shown, and so is what stood before it in its group: that was no start after all.
    Follow,
}

/// Judges the next frame inwards.
pub(super) fn step(phase: Phase, role: Role) -> Verdict {
    use Verdict::{Begin, Follow, Start};
    match (phase, role) {
        (
            Phase::Top | Phase::Runtime,
            Role::Starter | Role::Loader | Role::Runtime | Role::UnnamedRuntime,
        ) => Start(Phase::Runtime),
        (Phase::Top | Phase::Runtime, Role::Main) => Start(Phase::Main),
        (Phase::Top | Phase::Runtime, Role::RustEntry) => Start(Phase::Rust),
        (Phase::Top, Role::Unnamed) => Start(Phase::First),
        (Phase::Top | Phase::Runtime, _) => Begin,
        (Phase::First, Role::Starter | Role::UnnamedRuntime) => Start(Phase::Runtime),
        (Phase::First, _) => Follow,
        (Phase::Main, Role::RustEntry) => Start(Phase::Rust),
        (Phase::Main, _) => Follow,
        (Phase::Rust, Role::RustMark) => Start(Phase::RustMarked),
        (Phase::Rust, _) => Start(Phase::Rust),
        (Phase::RustMarked, Role::RustCall) => Start(Phase::RustMarked),
        (Phase::RustMarked, _) => Begin,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_c_library_and_the_loader_by_their_file_names() {
        for module in [
            "libc.so.6",
            "libc-2.31.so",
            "ld-linux-x86-64.so.2",
            "ld-2.31.so",
            "libpthread.so.0",
            "ld-musl-x86_64.so.1",
        ] {
            assert!(is_runtime(module), "{module}");
        }
        for module in ["libcrypto.so.3", "libc++.so.1", "libc-client.so", "ld", "libcurl.so.4", "prog"] {
            assert!(!is_runtime(module), "{module}");
        }
    }

    #[test]
    fn a_thread_function_called_start_thread_is_the_programs_own() {
        assert_eq!(Role::of(Some("start_thread"), "libc.so.6"), Role::Starter);
        assert_eq!(Role::of(Some("start_thread"), "prog"), Role::Other);
        assert_eq!(Role::of(Some("__libc_start_main@@GLIBC_2.34"), "libc.so.6"), Role::Starter);
        assert_eq!(Role::of(Some("_start"), "prog"), Role::Starter);
    }

    #[test]
    fn rust_roles() {
        assert_eq!(Role::of(Some("std::rt::lang_start::<()>"), "prog"), Role::RustEntry);
        assert_eq!(Role::of(Some("std::rt::lang_start_internal"), "prog"), Role::RustEntry);
        assert_eq!(
            Role::of(Some("std::sys::pal::unix::thread::Thread::new::thread_start"), "prog"),
            Role::RustEntry
        );
        let mark = "std::sys::backtrace::__rust_begin_short_backtrace";
        assert_eq!(Role::of(Some(mark), "prog"), Role::RustMark);
        assert_eq!(Role::of(Some(&format!("{mark}::<fn(), ()>")), "prog"), Role::RustMark);
        assert_eq!(Role::of(Some("core::ops::function::FnOnce::call_once"), "prog"), Role::RustCall);
        assert_eq!(
            Role::of(Some("<fn() as core::ops::function::FnOnce<()>>::call_once"), "prog"),
            Role::RustCall
        );
    }

    #[test]
    fn only_libcs_start_makes_an_unnamed_first_frame_the_start() {
        assert_eq!(step(Phase::First, Role::Starter), Verdict::Start(Phase::Runtime));
        assert_eq!(step(Phase::First, Role::Runtime), Verdict::Follow);
        assert_eq!(step(Phase::First, Role::Other), Verdict::Follow);
    }
}
