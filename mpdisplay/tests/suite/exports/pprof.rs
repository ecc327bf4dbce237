//! profile.proto, as `go tool pprof` reads it.

use super::{Recorded, consume, deep, hostile, recursive, widgets};

/// What `go tool pprof` prints.
fn read(recorded: &Recorded, export: &[&str], arguments: &[&str]) -> Option<String> {
    let path = recorded.file(&[&["--format", "pprof"], export].concat(), "heap.pb.gz");
    consume("go", &[&["tool", "pprof"], arguments, &[&*path.to_string_lossy()]].concat(), recorded)
}

/// The flat and cumulated numbers of a function.
fn numbers(text: &str, function: &str) -> (String, String) {
    let row = text.lines().find(|line| line.ends_with(&format!("  {function}")));
    let words: Vec<&str> =
        row.unwrap_or_else(|| panic!("no {function} in {text}")).split_whitespace().collect();
    (words[0].to_owned(), words[3].to_owned())
}

#[test]
fn all_sample_types() {
    let recorded = Recorded::new(&widgets());
    // -unit=B writes it after everything.
    let all = [
        ("alloc_objects", "10000B", "5019B"),
        ("alloc_space", "2040000B", "1023876B"),
        ("inuse_objects", "5019B", "5019B"),
        ("inuse_space", "1023876B", "1023876B"),
    ];
    for (sample_type, all, red) in all {
        let index = format!("-sample_index={sample_type}");
        let Some(text) = read(&recorded, &[], &["-top", "-unit=B", &index]) else { return };
        assert!(text.contains(&format!("Type: {sample_type}")), "{text}");
        assert_eq!(numbers(&text, "make_widget"), (all.into(), all.into()));
        assert_eq!(numbers(&text, "make_red_widget"), ("0".into(), red.into()));
    }
}

#[test]
fn the_measure_is_the_default_sample_type() {
    let recorded = Recorded::new(&widgets());
    for (measure, sample_type) in
        [("bytes", "alloc_space"), ("kept", "inuse_space"), ("allocs", "alloc_objects")]
    {
        let Some(text) = read(&recorded, &["--measure", measure], &["-top"]) else { return };
        assert!(text.contains(&format!("Type: {sample_type}")), "{text}");
    }
}

/// Lines, inlined functions and mappings with build-ids.
#[test]
fn places_are_whole() {
    let mut profile = recursive();
    let module = &mut profile.modules[0];
    (module.build_id, module.start, module.bias, module.length) =
        (vec![0xab, 0xcd], 0x40_0000, 0x40_0000, 0x9000);
    let recorded = Recorded::new(&profile);
    let Some(text) = read(&recorded, &[], &["-raw"]) else { return };
    assert!(text.contains("1: 0x400000/0x409000/0x0 /usr/bin/recursive abcd [FN][FL][LN][IN]"), "{text}");
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let inner = lines
        .iter()
        .position(|line| line.contains("inner /src/recursive.c:12"))
        .expect("the inlined function");
    assert!(lines[inner].contains(": 0x40"), "with its address: {}", lines[inner]);
    assert_eq!(lines[inner + 1], "outer /src/recursive.c:40 s=0", "in the function it is inlined in");
    let Some(text) = read(&recorded, &[], &["-top", "-lines", "-unit=B"]) else { return };
    assert!(text.contains("leaf /src/recursive.c:7"), "{text}");
    let Some(text) = read(&recorded, &[], &["-tags"]) else { return };
    assert!(text.contains("category: Total"), "{text}");
}

#[test]
fn recursion_counts_once() {
    let recorded = Recorded::new(&recursive());
    let Some(text) = read(&recorded, &[], &["-top", "-unit=B", "-nodefraction=0"]) else { return };
    assert_eq!(numbers(&text, "walk"), ("300B".into(), "300B".into()));
    assert_eq!(numbers(&text, "F"), ("0".into(), "10B".into()));
    assert_eq!(numbers(&text, "G"), ("10B".into(), "10B".into()));
}

#[test]
fn hostile_names_and_deep_chains_are_read() {
    let Some(text) = read(&Recorded::new(&hostile()), &[], &["-top", "-unit=B"]) else { return };
    assert_eq!(numbers(&text, "semi;colon 12").0, "4B");
    let Some(text) = read(&Recorded::new(&deep()), &[], &["-top", "-unit=B"]) else { return };
    assert_eq!(numbers(&text, "main").1, "1000B");
}
