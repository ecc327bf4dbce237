//! The shared library as a file: what it exports, what it may not import, and how the loader is to treat it.

use std::collections::BTreeSet;
use std::process::Command;

use c_tests::{Tools, bare_only};

/// The output of a tool of binutils, or `None` where only the bare programs are looked at.
fn ask(tool: &str, options: &[&str]) -> Option<String> {
    if bare_only() {
        return None;
    }
    let output = Command::new(tool).args(options).arg(&Tools::get().library).env("LC_ALL", "C").output();
    let output = output.unwrap_or_else(|error| panic!("{tool}: {error}"));
    assert!(output.status.success(), "{tool}: {}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The names of dynamic symbols, without versions.
fn symbols(which: &str) -> Option<BTreeSet<String>> {
    let text = ask("nm", &["-D", which])?;
    let names = text.lines().filter_map(|line| line.split_whitespace().last());
    Some(names.map(|name| name.split('@').next().unwrap_or(name).to_owned()).collect())
}

/// Whatever else were exported would stand before the program's own functions of that name. The list is renewed by
/// `nm -D --defined-only libmprof.so | awk '{print $3}' | LC_ALL=C sort`.
#[test]
fn exported_symbols() {
    let Some(exported) = symbols("--defined-only") else { return };
    let expected: BTreeSet<String> =
        include_str!("../expected/exported_symbols.txt").lines().map(str::to_owned).collect();
    let missing: Vec<&String> = expected.difference(&exported).collect();
    let extra: Vec<&String> = exported.difference(&expected).collect();
    assert!(missing.is_empty() && extra.is_empty(), "missing {missing:?}, extra {extra:?}");
}

/// Functions that allocate, buffer or lock through the program's C library.
#[test]
fn nothing_that_allocates_is_imported() {
    let Some(imported) = symbols("--undefined-only") else { return };
    let forbidden = [
        "malloc",
        "calloc",
        "realloc",
        "reallocarray",
        "free",
        "posix_memalign",
        "aligned_alloc",
        "memalign",
        "strdup",
        "strndup",
        "asprintf",
        "vasprintf",
        "printf",
        "fprintf",
        "vfprintf",
        "puts",
        "fputs",
        "fwrite",
        "fopen",
        "fdopen",
        "fclose",
        "getline",
        "opendir",
        "setenv",
        "putenv",
        "atexit",
        "pthread_create",
        "pthread_getattr_np",
        "pthread_mutex_lock",
        "backtrace",
        "backtrace_symbols",
        "dlerror",
        "__cxa_thread_atexit_impl",
    ];
    let found: Vec<&str> = forbidden.into_iter().filter(|name| imported.contains(*name)).collect();
    assert!(found.is_empty(), "{found:?}");
}

/// Its constructor runs first, all its symbols are bound at the start, and it needs few other libraries.
#[test]
fn loader_flags() {
    let Some(text) = ask("readelf", &["-dW"]) else { return };
    let flags = text.lines().find(|line| line.contains("(FLAGS_1)")).expect("flags");
    assert!(flags.contains("INITFIRST"), "{flags}");
    assert!(flags.contains("NOW"), "{flags}");
    let needed: BTreeSet<&str> = text
        .lines()
        .filter(|line| line.contains("(NEEDED)"))
        .filter_map(|line| line.split(['[', ']']).nth(1))
        .collect();
    let known = BTreeSet::from(["libc.so.6", "libgcc_s.so.1", "ld-linux-x86-64.so.2"]);
    assert!(needed.is_subset(&known), "{needed:?}");
}
