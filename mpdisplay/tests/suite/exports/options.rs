//! What all forms have in common.

use super::{FORMATS, Recorded, deep, hostile, idle, recursive, widgets};
use std::fs;
use std::os::unix::fs::PermissionsExt;

const MEASURES: [&str; 4] = ["bytes", "allocs", "kept", "kept-objects"];

#[test]
fn every_form_takes_every_measure_and_comes_out_the_same_twice() {
    let recorded = Recorded::new(&recursive());
    for format in FORMATS {
        for measure in MEASURES {
            let arguments = ["--format", format, "--measure", measure];
            let first = recorded.run(&arguments);
            assert!(first.status.success() && !first.stdout.is_empty(), "{format} {measure}: {first:?}");
            assert!(recorded.run(&arguments) == first, "{format} {measure}");
        }
    }
}

#[test]
fn programs_without_allocations_have_every_form() {
    let recorded = Recorded::new(&idle());
    for format in FORMATS {
        let output = recorded.run(&["--format", format]);
        assert!(output.status.success(), "{format}: {output:?}");
    }
}

#[test]
fn hostile_names_have_every_form() {
    let recorded = Recorded::new(&hostile());
    for format in FORMATS {
        recorded.bytes(&["--format", format, "--lines"]);
    }
}

/// Long chains take no recursion, and no time that grows with the square of their length.
#[test]
fn deep_chains_have_every_form() {
    let recorded = Recorded::new(&deep());
    for format in FORMATS {
        let output = recorded.run(&["--format", format]);
        assert!(output.status.success(), "{format}: {:?}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn a_file_is_written_whole_or_not_at_all() {
    let recorded = Recorded::new(&widgets());
    let path = recorded.folder.path().join("out.json");
    fs::write(&path, "old").expect("the file is written");
    let output = recorded.run(&["--format", "json", "-o", "out.json"]);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(0), 0));
    let written = fs::read(&path).expect("the file is there");
    assert!(written == recorded.bytes(&["--format", "json"]));
    let names: Vec<_> = fs::read_dir(recorded.folder.path()).expect("the folder").collect();
    assert_eq!(names.len(), 2, "nothing else is left: {names:?}");
    let mode = fs::metadata(&path).expect("the file is there").permissions().mode();
    assert_eq!(mode & 0o600, 0o600);

    let output = recorded.run(&["--format", "json", "-o", "missing/out.json"]);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2));
    assert!(message.starts_with("mpdisplay: missing/out.json: cannot write: "), "{message}");
}

#[test]
fn what_is_no_file_is_written_to() {
    let recorded = Recorded::new(&widgets());
    let output = recorded.run(&["--format", "folded", "-o", "/dev/stdout"]);
    assert_eq!(String::from_utf8_lossy(&output.stdout), recorded.text(&["--format", "folded"]));
}

#[test]
fn the_report_as_a_file_is_that_of_a_pipe() {
    let recorded = Recorded::new(&widgets());
    assert_eq!(recorded.run(&["-o", "report.txt"]).status.code(), Some(0));
    let written = fs::read_to_string(recorded.folder.path().join("report.txt")).expect("the report");
    assert_eq!(written, recorded.text(&[]));
}

/// The measure orders the rows of tables: F's objects are fewer than those of walk, but those are smaller.
#[test]
fn the_measure_orders_the_report() {
    let recorded = Recorded::new(&recursive());
    let first = |measure| {
        let report = recorded.text(&["--tables", "direct", "--measure", measure, "--limit", "1"]);
        let row = report
            .lines()
            .find(|line| line.contains("100.0") || line.ends_with("walk") || line.ends_with("leaf"));
        row.and_then(|row| row.split_whitespace().last()).unwrap_or_default().to_owned()
    };
    assert_eq!(["bytes", "allocs", "kept", "kept-objects"].map(first), ["leaf", "walk", "walk", "walk"]);
}

#[test]
fn filters_choose_what_is_taken_away() {
    let recorded = Recorded::new(&widgets());
    let folded = recorded.text(&["--format", "folded", "--focus", "make_red_widget"]);
    assert_eq!(folded, "main;make_red_widget;make_widget 1023876\n");
    let folded = recorded.text(&["--format", "folded", "--hide", "make_*_widget"]);
    assert_eq!(folded, "main;make_widget 2040000\n");
    let folded = recorded.text(&["--format", "folded", "--by", "module"]);
    assert_eq!(folded, "widgets 2040000\n");
}

#[test]
fn options_that_do_not_go_together_are_refused() {
    let recorded = Recorded::new(&widgets());
    let cases: [(&[&str], &str); 5] = [
        (&["--format", "html", "--diff", "mprof.data"], "--diff gives tables only: leave --format out"),
        (
            &["--format", "json", "--by", "thread"],
            "this format holds one report: choose a process or thread with --pid or --tid instead of --by",
        ),
        (
            &["--format", "dot", "--gen-suppressions"],
            "--gen-suppressions has a format of its own: leave --format out",
        ),
        (
            &["--format", "csv", "--tables", "leaks,bins"],
            "csv holds one table: name one of leaks, bins, direct, graph, or none for all call chains",
        ),
        (
            &["--format", "csv", "--tables", "bins", "--focus", "main"],
            "sizes are recorded for whole processes only, not by thread or call chain",
        ),
    ];
    for (arguments, message) in cases {
        let output = recorded.run(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), format!("mpdisplay: {message}\n"));
        assert_eq!(output.stdout, b"");
    }
}
