//! `lisp/numbers.lisp`: one function a kind of object.

use crate::ecl::{compiled, interpreted};
use crate::facts::{LispFacts, by_category};
use c_tests::Program;

const PRINTS: &str = "20 1500.0d0 30414093201713378043612608166064768844377641568960512000000000000\n";

/// A function, and what it allocates: category, objects, bytes.
type Row = (&'static str, &'static [(char, u64, u64)]);

fn check(program: Option<Program>, rows: &[Row]) {
    let Some(program) = program else { return };
    program.check(|run| {
        assert!(run.output.stdout.ends_with(PRINTS), "{:?}", run.output);
        let facts = LispFacts::of(run);
        for (function, parts) in rows {
            assert_eq!(facts.through(function), by_category(parts), "{function}");
        }
    });
}

#[test]
fn compiled_functions_allocate_what_they_are_written_to() {
    check(
        compiled("numbers.lisp"),
        &[
            ("pushes", &[('c', 1000, 16_000)]),
            // The list begins with a cons that is dropped.
            ("collects", &[('c', 1001, 16_016)]),
            ("makes-list", &[('c', 1000, 16_000)]),
            ("lists", &[('c', 3000, 48_000)]),
            ("doubles", &[('f', 1000, 16_000)]),
            // The compiler boxes the sum twice.
            ("declared", &[('f', 2000, 32_000)]),
            ("singles", &[('f', 1000, 8000)]),
            ("points", &[('s', 1000, 80_000)]),
            ("trios", &[('s', 1000, 88_000)]),
            ("arrays", &[('s', 1000, 128_000)]),
            ("double-arrays", &[('s', 1000, 128_000)]),
            ("vectors", &[('c', 4000, 64_000), ('s', 1000, 72_000)]),
            ("strings", &[('s', 1000, 80_000)]),
            ("base-strings", &[('s', 1000, 51_000)]),
            ("closures", &[('c', 1000, 16_000), ('o', 1000, 48_000)]),
            ("complexes", &[('o', 1000, 24_000)]),
            ("table", &[('f', 2, 32), ('o', 2, 41_232)]),
            ("factorial", &[('o', 31, 1608)]),
            // Lists of keywords, and the first dispatch.
            ("instances", &[('c', 16_059, 256_944), ('s', 1003, 80_216), ('o', 2, 96)]),
            // Dead code.
            ("idle", &[]),
        ],
    );
}

/// The interpreter of 21.2.1 conses for its own use: a list of the arguments of a call, two conses a variable and round.
#[test]
fn interpreted_functions_allocate_what_they_are_written_to() {
    check(
        interpreted("numbers.lisp"),
        &[
            ("pushes", &[('c', 1008, 16_128)]),
            ("collects", &[('c', 3013, 48_208)]),
            ("makes-list", &[('c', 1000, 16_000)]),
            ("lists", &[('c', 3008, 48_128)]),
            ("doubles", &[('c', 8, 128), ('f', 1999, 31_984)]),
            ("declared", &[('c', 8, 128), ('f', 1999, 31_984)]),
            ("singles", &[('c', 8, 128), ('f', 1999, 15_992)]),
            ("points", &[('c', 4008, 64_128), ('s', 1000, 80_000)]),
            ("trios", &[('c', 6008, 96_128), ('s', 1000, 88_000)]),
            ("arrays", &[('c', 8, 128), ('s', 1000, 128_000)]),
            ("double-arrays", &[('c', 8, 128), ('s', 1000, 128_000)]),
            ("vectors", &[('c', 4008, 64_128), ('s', 1000, 72_000)]),
            ("strings", &[('c', 8, 128), ('s', 1000, 80_000)]),
            ("base-strings", &[('c', 8, 128), ('s', 1000, 51_000)]),
            ("closures", &[('c', 2008, 32_128), ('o', 1000, 32_000)]),
            ("complexes", &[('c', 8, 128), ('o', 1000, 24_000)]),
            ("table", &[('c', 8, 128), ('f', 2, 32), ('o', 2, 41_232)]),
            ("factorial", &[('c', 100, 1600), ('o', 31, 1608)]),
            ("instances", &[('c', 16_067, 257_072), ('s', 1003, 80_216), ('o', 2, 96)]),
            ("idle", &[('c', 6, 96), ('o', 1000, 24_000)]),
        ],
    );
}
