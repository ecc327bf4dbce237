//! `lisp/numbers.lisp`: one function a kind of object.

use crate::ecl::{compiled, interpreted};
use crate::facts::{LispFacts, by_category};

const PRINTS: &str = "20 1500.0d0 30414093201713378043612608166064768844377641568960512000000000000\n";

#[test]
fn compiled_functions_allocate_what_they_are_written_to() {
    let Some(program) = compiled("numbers.lisp") else { return };
    program.check(|run| {
        assert!(run.output.stdout.ends_with(PRINTS), "{:?}", run.output);
        let facts = LispFacts::of(run);
        for (function, parts) in
            [("pushes", &[('c', 1000, 16_000)][..]), ("collects", &[('c', 1001, 16_016)])]
        {
            assert_eq!(facts.through(function), by_category(parts), "{function}");
        }
    });
}

#[test]
fn interpreted_functions_allocate_what_they_are_written_to() {
    let Some(program) = interpreted("numbers.lisp") else { return };
    program.check(|run| {
        assert!(run.output.stdout.ends_with(PRINTS), "{:?}", run.output);
        let facts = LispFacts::of(run);
        for function in [
            "pushes",
            "collects",
            "makes-list",
            "lists",
            "doubles",
            "declared",
            "singles",
            "points",
            "trios",
            "arrays",
            "double-arrays",
            "vectors",
            "strings",
            "base-strings",
            "closures",
            "complexes",
            "table",
            "factorial",
            "instances",
            "idle",
        ] {
            eprintln!("(\"{function}\", &{:?}),", facts.through(function));
        }
    });
}
