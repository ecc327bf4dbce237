//! `lisp/larger.lisp`: a program of many parts, with threads and a collector that runs. `Program::check` sees that it
//! prints what it prints without the profiler, and that two runs have the same tables of Lisp's objects. (What the C
//! library allocates for threads depends on how they come and go.)

use crate::ecl::{compiled, interpreted};
use crate::facts::{LispFacts, by_category};

const PRINTS: &str = "\
derivative at 2: 24576
Abelson: Structure and Interpretation (2); Goldberg (1), 0.9 hours; Queinnec: Lisp in Small Pieces (1)
lent: 48
words: (200 . even) (8 . one) (4 . eight) (4 . eighteen) (4 . eighty)
queens: 4
first job: JOB-53
code: 9 UNDERFLOW (HALTED (2 1)) (NOT-A-NUMBER A) 10
unwound: 5
matrix: 13.3125
factorial: 525
threads: 100
written and read: T
";

#[test]
fn a_larger_program_compiled() {
    let Some(program) = compiled("larger.lisp") else { return };
    program.varies().check(|run| {
        assert!(run.output.stdout.ends_with(PRINTS), "{}", run.output.stdout);
        // Threads of 1000 to 4000 rounds: a list of 50, and every hundredth time a cons.
        assert_eq!(LispFacts::of(run).through("garbage"), by_category(&[('c', 500_100, 8_001_600)]));
    });
}

/// Macros are expanded as it runs, for which ECL looks types up in caches that go by addresses and are emptied by the
/// collector.
#[test]
fn a_larger_program_interpreted() {
    let Some(program) = interpreted("larger.lisp") else { return };
    program
        .varies()
        .lisp_varies()
        .check(|run| assert!(run.output.stdout.ends_with(PRINTS), "{}", run.output.stdout));
}
