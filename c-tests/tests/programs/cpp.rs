//! C++ and Rust.

use c_tests::{Program, Totals, freed, kept};

#[test]
fn new_delete() {
    Program::cpp("new_delete").prints("5 kept\n").check(|run| {
        let facts = run.facts();
        assert_eq!(facts.chain("main > singles > operator new"), freed(20, 480), "{:#?}", facts.chains());
        assert_eq!(facts.through("arrays"), freed(10, 4000));
        assert_eq!(facts.through("without_throwing"), freed(10, 240));
        assert_eq!(facts.chain("main > lost > operator new"), kept(5, 120));
        let thrown = facts.through("too_much");
        assert_eq!((thrown.frees, thrown.freed_bytes), (thrown.allocs, thrown.bytes));
        assert_eq!(thrown.allocs, 2, "an exception object each");
    });
}

#[test]
fn new_aligned() {
    Program::cpp("new_aligned").prints("aligned\n").check(|run| {
        let facts = run.facts();
        assert_eq!(facts.through("keep_lines"), kept(8, 1024));
        assert_eq!(facts.through("pages"), freed(16, 65_536));
        assert_eq!(facts.bin(Some(384)), freed(1, 384));
    });
}

#[test]
fn exceptions() {
    let program = Program::cpp("exceptions").also("-pthread").prints("caught 500, alive 0\n");
    // How the threads' exceptions interleave decides nothing that is allocated.
    program.check(|run| {
        let facts = run.facts();
        assert_eq!(facts.chain("main > catch_keep"), kept(4, 1332));
        let below = |function| facts.through(function);
        for function in ["thrower", "rethrower"] {
            let total = below(function);
            assert_eq!((total.frees, total.freed_bytes), (total.allocs, total.bytes), "{function}");
        }
        assert!(below("thrower").allocs > 2000);
    });
}

#[test]
fn static_destructors() {
    Program::cpp("static_destructors").prints("50 names\n").check(|run| {
        let facts = run.facts();
        assert_eq!(facts.chain("main > forgotten"), kept(3, 570));
        let filled = facts.through("fill");
        assert!(filled.allocs > 150, "{filled:?}");
        assert_eq!(
            (filled.frees, filled.freed_bytes),
            (filled.allocs, filled.bytes),
            "{:#?}",
            facts.chains()
        );
    });
}

#[test]
fn thread_locals() {
    Program::cpp("thread_locals").also("-pthread").prints("100 threads\n").check(|run| {
        let facts = run.facts();
        assert_eq!(facts.ending("at_thread_end"), kept(100, 2900));
        let text = facts.through("local_text");
        assert_eq!((text.frees, text.freed_bytes), (text.allocs, text.bytes));
        assert!(text.allocs >= 100, "{text:?}");
    });
}

/// Rust's own runtime allocates a little; what the functions of the program do is exact.
#[test]
fn lives() {
    Program::rust("lives").also("--edition=2024").prints("1000 true 800\n").check(|run| {
        let facts = run.facts();
        assert_eq!(facts.through("lives::lost"), kept(4, 480), "{:#?}", facts.chains());
        assert_eq!(facts.through("lives::dropped"), freed(10, 1200));
        assert_eq!(facts.through("lives::aligned"), freed(3, 768));
        let grown = facts.through("lives::grows");
        assert_eq!((grown.frees, grown.freed_bytes), (grown.allocs, grown.bytes));
        assert_eq!(grown.allocs, 9, "4, 8, ... 1024 numbers");
        assert_eq!(facts.bin(Some(333)), freed(1, 333));
        assert_ne!(facts.through("lives::in_thread"), Totals::default());
    });
}
