//! The heap over time, as ms_print reads it.

use super::{Recorded, consume};
use crate::when::{server, with_snapshots};

/// The lines of massif's snapshot of this number.
fn snapshot(text: &str, number: usize) -> Vec<&str> {
    let begin = format!("snapshot={number}");
    let lines = text.lines().skip_while(|line| *line != begin).skip(2);
    lines.take_while(|line| !line.starts_with('#')).collect()
}

#[test]
fn the_peak_stands_among_the_points() {
    let recorded = Recorded::new(&server());
    let text = recorded.text(&["--format", "massif", "--limit", "4"]);
    assert!(
        text.starts_with("desc: recorded by mprof\ncmd: ./server\ntime_unit: ms\n#-----------\nsnapshot=0\n")
    );
    let heap = |number| {
        let lines = snapshot(&text, number);
        (lines[0].to_owned(), lines[1].to_owned(), lines[4].to_owned())
    };
    let expected = [
        ("time=500", "mem_heap_B=156024", "heap_tree=empty"),
        ("time=1005", "mem_heap_B=306024", "heap_tree=empty"),
        ("time=1250", "mem_heap_B=306024", "heap_tree=peak"),
        ("time=1510", "mem_heap_B=306024", "heap_tree=empty"),
        ("time=2000", "mem_heap_B=180000", "heap_tree=empty"),
    ];
    let mut found = Vec::new();
    for number in 0..5 {
        found.push(heap(number));
    }
    let found: Vec<(&str, &str, &str)> =
        found.iter().map(|(time, bytes, tree)| (time.as_str(), bytes.as_str(), tree.as_str())).collect();
    assert_eq!(found, expected);
    let tree = &snapshot(&text, 2)[5..];
    assert_eq!(tree[0], "n3: 306024 (heap allocation functions) malloc/new/new[], --alloc-fns, etc.");
    assert!(tree[1].starts_with(" n1: 300000 0x") && tree[1].contains(": load ("), "{tree:?}");
    assert!(tree[2].starts_with("  n0: 300000 0x") && tree[2].contains(": main ("), "{tree:?}");
}

#[test]
fn snapshots_are_detailed() {
    let text = Recorded::new(&with_snapshots()).text(&["--format", "massif", "--limit", "1"]);
    let lines = snapshot(&text, 0);
    assert_eq!(lines[..2], ["time=500", "mem_heap_B=150000"]);
    assert_eq!(lines[4], "heap_tree=detailed");
    assert_eq!(lines[5], "n1: 150000 (heap allocation functions) malloc/new/new[], --alloc-fns, etc.");
    let lines = snapshot(&text, 2);
    assert_eq!(lines[..2], ["time=1750", "mem_heap_B=240000"]);
    assert!(lines[6].starts_with(" n1: 240000 0x") && lines[6].contains(": load ("), "{lines:?}");
    assert!(lines[8].starts_with(" n0: 48 in 1 place below"), "{lines:?}");
}

#[test]
fn times_are_those_asked_for() {
    let recorded = Recorded::new(&server());
    for (unit, name, end) in [("B", "time_unit: B", "time=820000"), ("i", "time_unit: i", "time=5800")] {
        let text = recorded.text(&["--format", "massif", "--time-unit", unit]);
        assert!(text.contains(name) && text.contains(end), "{text}");
    }
}

#[test]
fn ms_print_draws_it() {
    let recorded = Recorded::new(&server());
    recorded.file(&["--format", "massif"], "massif.out");
    let Some(printed) = consume("ms_print", &["massif.out"], &recorded) else { return };
    assert!(printed.contains("Command:            ./server"), "{printed}");
    assert!(printed.contains("(peak)"), "{printed}");
    assert!(printed.contains("->98.03% (300,000B) 0x"), "{printed}");
    assert!(!printed.to_lowercase().contains("error"), "{printed}");
}

#[test]
fn several_processes_have_no_one_course() {
    let recorded = Recorded::new(&server());
    let output = recorded.run(&["--format", "massif", "mprof.data"]);
    assert_eq!(output.status.code(), Some(2));
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(message.contains("choose it with --pid"), "{message}");
}
