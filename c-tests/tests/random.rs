//! Random programs under the profiler: every chain, function, edge and kept path exactly as the program counted it.
//!
//! `C_TESTS_SEEDS=1000` runs as many seeds, `C_TESTS_SEED=17` just that one; two dozen from 0 on without either.

use std::env;

use c_tests::bare_only;
use c_tests::random::{RandomProgram, Run};

/// Seeds that run one program. A compilation costs more than a run.
const RUNS: u64 = 6;
/// Seeds where nothing else is asked for.
const USUAL: u64 = 24;
/// Tests, which the test runner spreads over the processors.
const PARTS: u64 = 4;

fn number(variable: &str) -> Option<u64> {
    let value = env::var(variable).ok()?;
    Some(value.parse().unwrap_or_else(|_| panic!("{variable} is not a number: {value}")))
}

/// Runs the programs that are this part's, each with all of its seeds.
fn check(part: u64) {
    if bare_only() {
        return;
    }
    let seeds = match number("C_TESTS_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("C_TESTS_SEEDS").unwrap_or(USUAL),
    };
    let mut program: Option<(u64, RandomProgram)> = None;
    let mut sum = Run::default();
    for seed in seeds.filter(|seed| seed / RUNS % PARTS == part) {
        let number = seed / RUNS;
        if program.as_ref().is_none_or(|(made, _)| *made != number) {
            let Some(new) = RandomProgram::new(number) else { return };
            program = Some((number, new));
        }
        let (_, program) = program.as_ref().expect("just made");
        let run = program.check(seed, seed % RUNS == 0);
        sum.chains += run.chains;
        sum.allocs += run.allocs;
    }
    println!("{} chains, {} allocations", sum.chains, sum.allocs);
}

#[test]
fn random_programs_first_part() {
    check(0);
}

#[test]
fn random_programs_second_part() {
    check(1);
}

#[test]
fn random_programs_third_part() {
    check(2);
}

#[test]
fn random_programs_fourth_part() {
    check(3);
}
