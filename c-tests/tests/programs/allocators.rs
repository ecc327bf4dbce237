//! Allocators and loaders around us: other libraries' malloc, link-map namespaces, bindings past us, functions by
//! address, and what the C library loads by itself.

use std::path::Path;

use crate::libraries::with_plugins;
use c_tests::{Outcome, Program, freed, kept, totals};

/// The library of this name, where it is installed; else the test says that it is skipped.
fn installed(name: &str) -> Option<String> {
    let path = format!("/usr/lib/x86_64-linux-gnu/{name}");
    if Path::new(&path).exists() {
        return Some(path);
    }
    eprintln!("SKIPPED: {path} is not installed");
    None
}

/// What `wrapped.c` does, by itself.
fn assert_wrapped(run: &Outcome) {
    let facts = run.facts();
    assert_eq!(facts.chain("main > keeper"), kept(100, 3100));
    assert_eq!(facts.chain("main > grower"), freed(2000, 1_200_000));
    assert_eq!(facts.chain("main > zeroed"), freed(399, 3 * 399 * 400 / 2));
}

/// Linked with it, as programs are; and preloaded behind us.
fn with_allocator(name: &str) {
    let Some(path) = installed(name) else { return };
    let wrapped = || Program::c("wrapped").flags("-O2").prints("as ever\n").uncounted();
    wrapped().link(&path).check(assert_wrapped);
    wrapped().preload_behind(&path).check(assert_wrapped);
}

#[test]
fn jemalloc() {
    with_allocator("libjemalloc.so.2");
}

#[test]
fn tcmalloc() {
    with_allocator("libtcmalloc_minimal.so.4");
}

#[test]
fn mimalloc() {
    with_allocator("libmimalloc.so.2");
}

#[test]
fn allocator_calls() {
    Program::c("allocator_calls").uncounted().prints("passed on\n").check(|run| {
        assert_eq!(run.facts().chain("main > hold"), kept(100, 5000));
    });
}

#[test]
fn bound_deep() {
    for way in ["now", "lazy"] {
        let library = "-O1 -g -shared -fPIC -fno-builtin";
        let program = Program::c("bound_deep").companion("deep.c", "deep.so", library).args(&[way]);
        let program = program.also("-rdynamic").link("-ldl -Wl,-rpath,$ORIGIN").uncounted();
        program.prints("crossed\n").check(|run| {
            let facts = run.facts();
            let made = facts.chain("main > deep_make");
            assert_eq!(made, totals(100, 4500, 60, 2700), "{way}: {:#?}", facts.chains());
            assert_eq!(facts.chain("main > make"), freed(50, 2300), "{way}");
        });
    }
}

#[test]
fn by_handle() {
    Program::c("by_handle").uncounted().prints("called by address\n").check(|run| {
        assert_eq!(run.facts().chain("main > made"), freed(200, 13_000), "{:#?}", run.facts().chains());
    });
}

#[test]
fn own_namespace() {
    with_plugins("own_namespace").uncounted().prints("apart\n").check(|run| {
        assert_eq!(run.facts().chain("main > hold"), kept(10, 840), "{:#?}", run.facts().chains());
    });
}

/// The names are those of the file that was loaded, or none.
#[test]
fn replaced() {
    for way in ["kept", "removed", "replaced"] {
        with_plugins("replaced").args(&[way]).prints(&format!("{way}\n")).check(|run| {
            let facts = run.facts();
            assert_eq!(facts.bin(Some(220)), kept(2, 440), "{way}");
            assert_eq!(facts.through("second_keep"), kept(0, 0), "{way}: {:#?}", facts.chains());
            if way == "kept" {
                assert_eq!(facts.chain("main > plugin_entry > first_keep"), kept(2, 440));
            } else {
                assert_eq!(facts.through("first_keep"), kept(0, 0), "{way}: the file is no longer there");
                assert_eq!(facts.ending("[copy.so]").allocs, 4, "{way}: {:#?}", facts.chains());
            }
        });
    }
}

#[test]
fn static_tls() {
    let program = Program::c("static_tls").companion("tls.c", "tls.so", "-O1 -g -shared -fPIC");
    let program = program.also("-pthread").link("-ldl -Wl,-rpath,$ORIGIN").prints("fits\n");
    program.check(|run| assert_eq!(run.facts().chain("worker"), kept(1, 37)));
}

/// No conversion's chain is cut off, though its library comes and goes.
#[test]
fn conversions() {
    Program::c("conversions").prints("converted\n").check(|run| {
        let facts = run.facts();
        assert_eq!(facts.beginning("main > convert"), facts.through("convert"));
        assert_eq!(facts.beginning("[unknown]"), kept(0, 0), "{:#?}", facts.chains());
        assert!(facts.through("convert").allocs >= 160);
    });
}

#[test]
fn name_services() {
    let program = Program::c("name_services").prints("looked up\n").varies().uncounted();
    program.check(|run| assert_eq!(run.facts().chain("main > hold"), kept(4, 376)));
}
