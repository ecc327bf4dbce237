//! Callgrind's format, as callgrind_annotate reads it.

use super::{Recorded, consume, hostile, recursive, widgets};

/// What callgrind_annotate prints.
fn annotated(recorded: &Recorded, export: &[&str], arguments: &[&str]) -> Option<String> {
    let path = recorded.file(&[&["--format", "callgrind"], export].concat(), "callgrind.out");
    let path = path.to_string_lossy();
    let arguments = [arguments, &["--auto=no", "--show-percs=no", &path]].concat();
    consume("callgrind_annotate", &arguments, recorded)
}

/// The numbers of a function's row.
fn numbers(text: &str, function: &str) -> Vec<u64> {
    let end = format!(":{function} [");
    let row =
        text.lines().find(|line| line.contains(&end)).unwrap_or_else(|| panic!("no {function} in {text}"));
    let numbers = row.split_whitespace().map_while(|word| word.replace(',', "").parse().ok());
    numbers.collect()
}

#[test]
fn functions_have_what_they_allocated() {
    let recorded = Recorded::new(&widgets());
    let Some(text) = annotated(&recorded, &[], &[]) else { return };
    assert!(text.contains("Events recorded:  Bytes Objects KeptBytes KeptObjects"), "{text}");
    let sums: Vec<&str> = text
        .lines()
        .find(|line| line.ends_with("  PROGRAM TOTALS"))
        .expect("sums")
        .split_whitespace()
        .collect();
    assert_eq!(sums[..4], ["2,040,000", "10,000", "1,023,876", "5,019"]);
    assert_eq!(numbers(&text, "make_widget"), [2_040_000, 10_000, 1_023_876, 5019]);
    let Some(text) = annotated(&recorded, &[], &["--inclusive=yes"]) else { return };
    assert_eq!(numbers(&text, "main"), [2_040_000, 10_000, 1_023_876, 5019]);
    assert_eq!(numbers(&text, "make_red_widget"), [1_023_876, 5019, 1_023_876, 5019]);
    assert_eq!(numbers(&text, "make_blue_widget")[..2], [1_016_124, 4981]);
}

#[test]
fn the_measure_comes_first() {
    let recorded = Recorded::new(&widgets());
    let Some(text) = annotated(&recorded, &["--measure", "kept"], &[]) else { return };
    assert!(text.contains("Event sort order: KeptBytes Bytes Objects KeptObjects"), "{text}");
    assert_eq!(numbers(&text, "make_widget"), [1_023_876, 2_040_000, 10_000, 5019]);
}

/// Recursion counts nothing twice.
#[test]
fn sums_of_recursive_functions_are_exact() {
    let recorded = Recorded::new(&recursive());
    let Some(text) = annotated(&recorded, &[], &["--inclusive=yes", "--threshold=100"]) else { return };
    assert_eq!(numbers(&text, "main"), [2310, 6, 210, 3]);
    assert_eq!(numbers(&text, "F")[..2], [10, 1]);
    assert_eq!(numbers(&text, "G")[..2], [10, 1]);
    assert_eq!(numbers(&text, "walk"), [300, 3, 200, 2]);
    assert_eq!(numbers(&text, "outer")[..2], [2000, 2]);
    assert_eq!(numbers(&text, "inner")[..2], [2000, 2]);
}

#[test]
fn hostile_names_are_read() {
    let recorded = Recorded::new(&hostile());
    let Some(text) = annotated(&recorded, &[], &["--threshold=100"]) else { return };
    assert_eq!(numbers(&text, "semi;colon 12"), [4, 1, 4, 1]);
    assert_eq!(numbers(&text, "(3) 7"), [5, 1, 5, 1]);
    assert_eq!(numbers(&text, "# heading"), [7, 1, 7, 1]);
}
