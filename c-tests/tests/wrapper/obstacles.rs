//! Programs that cannot be profiled: they run, and it is said why there is no profile.

use crate::scratch::{Scratch, skipped, source};
use c_tests::executable;
use std::fs;
use std::os::unix::fs::PermissionsExt;

const LEAK: &str = "#include <stdlib.h>\nint main(void) { return malloc(10) == NULL; }\n";

#[test]
fn a_static_program_says_so_before_it_runs() {
    let scratch = Scratch::new();
    scratch.write("leak.c", LEAK);
    scratch.compile(&["-static", "-o", "leak", "leak.c"]);
    let expected = "mprof: ./leak: there will be no profile: it is linked statically, and the library cannot be loaded \
                    before it (link it dynamically: without -static)\n\
                    mprof: no profile was written: the reason is told above\n";
    let run = scratch.mprof("./leak");
    assert_eq!((run.status, run.stderr.as_str()), (0, expected));
    assert_eq!(scratch.mprof("--fail-on-leak ./leak").status, 2, "what was not checked has not passed");
    scratch.script("wrapped", &format!("#!{}\n", scratch.file("leak").display()));
    let run = scratch.mprof("./wrapped");
    assert!(
        run.stderr.starts_with("mprof: ./wrapped: there will be no profile: it is linked statically"),
        "{run:?}"
    );
}

#[test]
fn a_program_with_its_own_malloc_is_recognised() {
    let scratch = Scratch::new();
    let own = source("own_malloc.c");
    scratch.compile(&["-O0", "-g", "-o", "own", own.to_str().expect("text")]);
    let run = scratch.mprof("./own");
    assert_eq!(run.status, 0, "{run:?}");
    assert!(
        run.stderr.contains(
            "mprof: no profile was written: it brings an allocator of its own (malloc), whose objects are not seen"
        ),
        "{}",
        run.stderr
    );
}

#[test]
fn a_sanitized_program_is_recognised() {
    let scratch = Scratch::new();
    scratch.write("leak.c", LEAK);
    let built = scratch.command("gcc").args(["-fsanitize=address", "-o", "leak", "leak.c"]).output();
    if !built.is_ok_and(|output| output.status.success()) {
        return skipped("gcc has no AddressSanitizer");
    }
    let run = scratch.mprof("./leak");
    assert!(
        run.stderr.contains("it is built with AddressSanitizer, which replaces malloc itself"),
        "{}",
        run.stderr
    );
}

#[test]
fn a_program_with_more_rights_is_recognised() {
    let scratch = Scratch::new();
    scratch.c("leak", LEAK);
    fs::set_permissions(scratch.path(), fs::Permissions::from_mode(0o755)).expect("set");
    if std::os::unix::fs::chown(scratch.file("leak"), Some(65534), None).is_err() {
        return skipped("only root can give a file away");
    }
    fs::set_permissions(scratch.file("leak"), fs::Permissions::from_mode(0o4755)).expect("set");
    let run = scratch.mprof("./leak");
    assert_eq!(run.status, 0);
    assert!(
        run.stderr
            .starts_with("mprof: ./leak: there will be no profile: it is set-user-ID, set-group-ID or has"),
        "{}",
        run.stderr
    );
}

/// Files that look like programs and are none.
#[test]
fn hostile_files_are_no_trouble() {
    let scratch = Scratch::new();
    let program = fs::read("/bin/true").expect("every system has it");
    for length in [4, 20, 64, 500, program.len() / 2, program.len() - 100] {
        executable::write(&scratch.file("cut"), &program[..length]);
        let run = scratch.mprof("./cut");
        assert!(!run.stderr.contains("panicked"), "{length}: {}", run.stderr);
        assert_ne!(run.status, -6, "{length}: {}", run.stderr);
    }
    scratch.script("self", &format!("#!{}\n", scratch.file("self").display()));
    assert_eq!(scratch.mprof("./self").status, 126);
}
