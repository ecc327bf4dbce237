//! Comma-separated values, as Python's `csv` and anything else reads them.

use super::{HOSTILE, Recorded, hostile, widgets};
use csv::{ReaderBuilder, StringRecord};

/// The rows of a table, the titles first.
fn rows(recorded: &Recorded, arguments: &[&str]) -> Vec<Vec<String>> {
    let bytes = recorded.bytes(&[&["--format", "csv"], arguments].concat());
    let text = String::from_utf8(bytes).expect("text");
    assert!(text.ends_with("\r\n") && text.matches('\n').count() == text.matches("\r\n").count(), "{text:?}");
    let mut reader = ReaderBuilder::new().has_headers(false).from_reader(text.as_bytes());
    let row = |record: Result<StringRecord, _>| {
        record.expect("rows of one length").iter().map(String::from).collect()
    };
    reader.records().map(row).collect()
}

fn strings(row: &[&str]) -> Vec<String> {
    row.iter().map(|text| (*text).to_owned()).collect()
}

#[test]
fn leaks() {
    let rows = rows(&Recorded::new(&widgets()), &["--tables", "leaks"]);
    assert_eq!(
        rows[0],
        strings(&["allocs", "bytes", "frees", "freed_bytes", "kept_objects", "kept_bytes", "path"])
    );
    let path = "|| > main > make_red_widget > make_widget";
    assert_eq!(rows[1..], [strings(&["5019", "1023876", "0", "0", "5019", "1023876", path])]);
}

#[test]
fn bins() {
    let rows = rows(&Recorded::new(&widgets()), &["--tables", "bins"]);
    assert_eq!(rows[0][..2], strings(&["size_from", "size_to"]));
    assert_eq!(
        rows[1],
        strings(&["204", "204", "10000", "2040000", "4981", "1016124", "5019", "1023876", "widget"])
    );
    assert_eq!(rows[2], strings(&["1025", "", "0", "0", "0", "0", "0", "0", ""]));
}

#[test]
fn direct() {
    let rows = rows(&Recorded::new(&widgets()), &["--tables", "direct"]);
    let wanted = [
        &["make_widget", "widgets", "/src/widgets.c", ""][..],
        &["10000", "2040000", "4981", "1016124", "5019", "1023876"],
        &["0", "2040000", "0", "0", "0", "1023876", "0", "0"],
    ];
    assert_eq!(rows[1..], [strings(&wanted.concat())]);
    assert_eq!(rows[0].len(), rows[1].len());
}

#[test]
fn graph() {
    let rows = rows(&Recorded::new(&widgets()), &["--tables", "graph"]);
    let lines: Vec<String> =
        rows[1..].iter().map(|row| [&row[..4], &row[5..6], &row[14..]].concat().join(" ")).collect();
    let wanted = [
        "0 entry 0 main 2040000 0 0 0 0  ",
        "0 descendent 2 make_red_widget 1023876     5019 0",
        "0 descendent 3 make_blue_widget 1016124     4981 0",
        "1 ancestor 2 make_red_widget 1023876     5019 0",
        "1 ancestor 3 make_blue_widget 1016124     4981 0",
        "1 entry 1 make_widget 2040000 10000 2040000 10000 0  ",
    ];
    assert_eq!(lines[..6], wanted);
}

#[test]
fn call_chains() {
    let rows = rows(&Recorded::new(&widgets()), &[]);
    let red = [
        &["m", "5019", "1023876", "0", "0", "5019", "1023876"][..],
        &["make_widget", "widgets", "/src/widgets.c", "", "/src/widgets.c", "17", "3"],
        &["main > make_red_widget > make_widget"],
    ];
    assert_eq!(rows[1], strings(&red.concat()));
    assert_eq!(rows.len(), 3);
}

#[test]
fn hostile_names_stay_in_their_cells() {
    let rows = rows(&Recorded::new(&hostile()), &["--tables", "direct", "--sort", "bytes"]);
    assert_eq!(rows.len(), HOSTILE.len() + 1);
    let names: Vec<&str> = rows[1..].iter().rev().map(|row| row[0].as_str()).collect();
    assert_eq!(names[0], HOSTILE[0]);
    assert_eq!(names[5], HOSTILE[5]);
    assert_eq!(names[7], "line\\nbreak\\rand\\ttab \\u{1b}[31m");
}

/// Python's `csv`, as its manual says to use it, reads the numbers and the names.
#[test]
fn python_reads_it() {
    const SUM: &str = "\
import csv, sys
with open(sys.argv[1], newline='') as file:
    rows = list(csv.DictReader(file, strict=True))
print(len(rows), sum(int(row['bytes']) for row in rows), all(None not in row for row in rows))
for row in rows:
    print(ascii(row['function']))";
    let recorded = Recorded::new(&hostile());
    let path = recorded.file(&["--format", "csv", "--tables", "direct", "--sort", "bytes"], "direct.csv");
    let Some(said) = super::consume("python3", &["-c", SUM, &path.to_string_lossy()], &recorded) else {
        return;
    };
    let mut lines = said.lines();
    let bytes: usize = (1..=HOSTILE.len()).sum();
    assert_eq!(lines.next(), Some(format!("{} {bytes} True", HOSTILE.len()).as_str()));
    let names: Vec<&str> = lines.rev().collect();
    assert_eq!(names[2], r#"'"quoted" \'twice\' \\ back\\'"#);
    assert_eq!(names[5], r#"'comma, "and" so on'"#);
}
