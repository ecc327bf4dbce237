//! The hot path keeps its number of instructions: `bench/instructions.txt` has them, and none may grow by over 5 %.
//!
//! `make instructions` writes the file anew.

use std::env;
use std::fmt::Write as _;
use std::fs;

use c_tests::bare_only;
use c_tests::instructions::{Unavailable, WORKLOADS, counts_file};

/// How much more a count may be than the one kept.
const TOLERANCE: f64 = 1.05;

const HEAD: &str = "\
# Instructions inside libmprof.so for each unit of the workloads in bench/workloads/ (an allocation with its free and
# what else the workload does with objects; cpp: about eleven of them), as callgrind counts them. A test fails where
# one has grown by over 5 %. `make instructions` writes this file anew.
";

/// Each count in the file, by name.
fn kept() -> Vec<(String, f64)> {
    let text = fs::read_to_string(counts_file()).expect("bench/instructions.txt");
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let count = |line: &str| {
        let (name, count) = line.split_once(' ')?;
        Some((name.to_owned(), count.trim().parse().ok()?))
    };
    lines.map(|line| count(line).unwrap_or_else(|| panic!("not a count: {line}"))).collect()
}

#[test]
fn the_hot_path_keeps_its_instructions() {
    if bare_only() {
        return;
    }
    let mut counts = Vec::new();
    for workload in WORKLOADS {
        match workload.count() {
            Ok(count) => counts.push((workload.name, count)),
            Err(Unavailable(why)) => return eprintln!("SKIPPED: counts of instructions: {why}"),
        }
    }
    let mut text = HEAD.to_owned();
    for (name, count) in &counts {
        let _ = writeln!(text, "{name:<8} {count:8.1}");
    }
    print!("{text}");
    if env::var_os("C_TESTS_RENEW").is_some() {
        fs::write(counts_file(), text).expect("bench/instructions.txt can be written");
        return;
    }
    let kept = kept();
    for (name, count) in counts {
        let (_, before) =
            kept.iter().find(|(known, _)| known == name).unwrap_or_else(|| panic!("{name} is missing"));
        assert!(
            count <= before * TOLERANCE,
            "{name}: {count:.1} instructions, {before:.1} before; if this is as it should be: make instructions"
        );
    }
}
