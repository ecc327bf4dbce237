//! Stacks that mislead, overflow, or are small.

use c_tests::{Program, freed, kept};

#[test]
fn misleading() {
    let program = Program::c("misleading").also("-pthread").prints("not misled\n").varies().no_reference();
    program.check(|run| assert_eq!(run.facts().direct("leaf"), freed(4000, 228_000)));
}

#[test]
fn overflow_survived() {
    let program = Program::c("overflow_survived").prints("survived\n").no_reference().uncounted();
    program.check(|run| assert_eq!(run.facts().chain("main > recovered"), kept(20, 1060)));
}

/// Under 4 KiB where the program allocates and frees, under 12 KiB anywhere.
#[test]
fn stack_use() {
    let program = Program::c("stack_use").flags("-O2 -pthread").prints("measured\n").uncounted().varies();
    program.no_reference().any_data().may_complain().check(|run| {
        let text = std::fs::read_to_string(run.folder.join("use")).unwrap();
        let uses: Vec<(&str, u64)> = text
            .lines()
            .map(|line| line.split_once(' ').unwrap())
            .map(|(name, bytes)| (name, bytes.parse().unwrap()))
            .collect();
        assert_eq!(uses.len(), 11, "{text}");
        for (name, bytes) in uses {
            let limit = if name == "warm" { 4096 } else { 12 * 1024 };
            assert!(bytes < limit, "{name}: {bytes} bytes of stack\n{text}");
        }
    });
}
