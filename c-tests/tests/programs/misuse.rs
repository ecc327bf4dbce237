//! Frees of what must not be freed: the program ends as it does without us, and before that it is said what happened.

use std::process::Command;

use c_tests::{Outcome, Program, Status};

fn misuse(way: &str, signal: i32) -> Program {
    let program = Program::c("misuse").flags("-O2").args(&[way]).prints(&format!("{way}\n"));
    program.ends(Status::Signalled(signal)).any_data().may_complain()
}

/// The report, without `mprof: `, in which the program's own places are the names of their functions.
fn report(run: &Outcome) -> Vec<String> {
    let lines = run.output.stderr.lines().filter_map(|line| line.strip_prefix("mprof: "));
    lines.map(named).collect()
}

/// `  it was freed first by /path/misuse+0x1234` becomes `  it was freed first by first_free`.
fn named(line: &str) -> String {
    let Some((before, offset)) = line.rsplit_once("/misuse+") else { return line.to_owned() };
    let (before, folder) = before.rsplit_once(' ').unwrap();
    let mut addr2line = Command::new("addr2line");
    let output = addr2line.args(["-f", "-e", &format!("{folder}/misuse"), offset]).output().unwrap();
    let function = String::from_utf8(output.stdout).unwrap().lines().next().unwrap().to_owned();
    format!("{before} {function}")
}

/// The innermost two callers, and who freed first, and who allocated.
fn assert_double_free(way: &str, freed_by: [&str; 2], allocated_by: &str) {
    misuse(way, libc::SIGABRT).check(|run| {
        let report = report(run);
        assert!(report[0].starts_with("double free of 0x"), "{way}: {report:#?}");
        let [again, first] = freed_by;
        assert_eq!(report[1], "  it is freed by", "{way}");
        assert_eq!(report[2..4], [format!("    {again}"), "    main".to_owned()], "{way}");
        let at = report.iter().position(|line| line.starts_with("  it was freed")).expect("a first free");
        assert_eq!(report[at], format!("  it was freed first by {first}"), "{way}");
        assert_eq!(report[at + 1], "  it was allocated by", "{way}");
        assert_eq!(report[at + 2], format!("    {allocated_by}"), "{way}");
    });
}

#[test]
fn double_frees() {
    assert_double_free("small", ["second_free", "first_free"], "maker");
    assert_double_free("large", ["second_free", "first_free"], "maker");
    assert_double_free("aligned", ["second_free", "first_free"], "main");
    assert_double_free("page", ["second_free", "first_free"], "main");
    assert_double_free("later", ["second_free", "first_free"], "maker");
}

#[test]
fn realloc_of_a_freed_object() {
    assert_double_free("grown", ["grower", "first_free"], "maker");
}

#[test]
fn wild_frees() {
    for (way, signal, said) in [
        ("data", libc::SIGABRT, "which no allocator gave: it lies in "),
        ("odd", libc::SIGABRT, "which no allocator gave"),
    ] {
        misuse(way, signal).check(|run| {
            let report = report(run);
            assert!(report[0].starts_with("free of 0x") && report[0].contains(said), "{report:#?}");
            assert_eq!(report[1..4], ["  it is freed by", "    second_free", "    main"], "{way}");
        });
    }
    // Of an address inside an object nothing is known for sure.
    misuse("inside", libc::SIGABRT).check(|run| assert_eq!(report(run), [""; 0]));
    // Nor is there anything before the first page.
    misuse("size", libc::SIGSEGV).check(|run| assert_eq!(report(run), [""; 0]));
}
