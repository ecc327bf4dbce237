//! The start: what allocates before us, what stands around us, and what is missing.

use c_tests::{Program, freed, kept, totals};

#[test]
fn preinit() {
    Program::c("preinit").prints("main\n").check(|run| {
        let facts = run.facts();
        assert_eq!(facts.ending("early"), freed(1, 91), "{:#?}", facts.chains());
        assert_eq!(facts.ending("middle"), kept(1, 92));
        assert_eq!(facts.ending("late"), kept(1, 93));
    });
}

#[test]
fn loader_errors() {
    Program::c("loader_errors").also("-pthread").prints("600 errors each\n").varies().check(|run| {
        assert_eq!(run.facts().chain("worker"), kept(8, 8 * 61));
    });
}

/// What `wrapped.c` does, by itself.
fn assert_wrapped(run: &c_tests::Outcome) {
    let facts = run.facts();
    assert_eq!(facts.chain("main > keeper"), kept(100, 3100));
    assert_eq!(facts.chain("main > grower"), freed(2000, 1_200_000));
    assert_eq!(facts.chain("main > zeroed"), freed(399, 3 * 399 * 400 / 2));
    assert_eq!(facts.beginning("main > strdup"), freed(1, 24), "{:#?}", facts.chains());
}

fn wrapped() -> Program {
    Program::c("wrapped").prints("as ever\n").uncounted()
}

const LIBRARY: &str = "-O1 -g -shared -fPIC -fno-builtin";

#[test]
fn preloaded_library_behind_us() {
    let program = wrapped().companion("wrapper.c", "wrapper.so", LIBRARY).preload_behind("wrapper.so");
    program.check(assert_wrapped);
}

/// The other library is the innermost caller then: `strdup > malloc`, `main > keeper > malloc`.
#[test]
fn preloaded_library_before_us() {
    let program = wrapped().companion("wrapper.c", "wrapper.so", LIBRARY).preload_before("wrapper.so");
    program.check(|run| {
        let facts = run.facts();
        assert_eq!(facts.chain("main > keeper > malloc"), kept(100, 3100), "{:#?}", facts.chains());
        assert_eq!(facts.beginning("main > grower"), freed(2000, 1_200_000));
    });
}

/// An allocator that the program is linked with gives addresses that are multiples of 8 only.
#[test]
fn addresses_that_are_multiples_of_8() {
    let flags = format!("{LIBRARY} -DUNALIGNED -Wl,-soname,wrapper.so");
    let program = wrapped().companion("wrapper.c", "wrapper.so", &flags);
    program.link("./wrapper.so -Wl,-rpath,$ORIGIN").check(assert_wrapped);
}

#[test]
fn streams_closed() {
    let program = Program::c("streams_closed").args(&["start", "whole"]).prints("closing\n").no_reference();
    program.check(|run| {
        assert_eq!(run.facts().chain("main > keep_three"), kept(3, 132));
        for name in ["zero", "one", "two"] {
            assert_eq!(std::fs::read_to_string(run.folder.join(name)).unwrap(), "mine\n", "{name}");
        }
    });
}

#[test]
fn streams_closed_and_nowhere_to_write() {
    let program = Program::c("streams_closed").args(&["start", "broken"]).prints("closing\n").any_data();
    program.check(|run| {
        for name in ["zero", "one", "two"] {
            assert_eq!(std::fs::read_to_string(run.folder.join(name)).unwrap(), "mine\n", "{name}");
        }
    });
}

#[test]
fn seen_from_inside() {
    Program::c("seen_from_inside").any_data().uncounted().check(|run| {
        assert!(run.output.stdout.ends_with("as without\n"));
        let facts = run.facts();
        // A snapshot, from before the program confined itself.
        assert_eq!(facts.beginning("main > work"), totals(2000, 20 * 5400, 2000, 20 * 5400));
    });
}
