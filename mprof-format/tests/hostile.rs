//! Replays what fuzzing (`fuzz/fuzz_targets/read.rs`) found: the smallest file for each message of the reader, named
//! after it; `sealed` where it comes after the checksums were put right.
#![cfg(feature = "std")]

mod common;

use common::{EVERY_KIND_V1, HISTORY_V1, PACKED_V1, REACHABILITY_V1, hostile};

#[test]
fn the_corpus_holds_what_must_hold() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/files/corpus");
    let mut files = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let bytes = std::fs::read(&path).unwrap();
        println!("{}", path.display());
        hostile::check(&bytes);
        hostile::check(&hostile::sealed(&bytes));
        files += 1;
    }
    assert!(files > 100, "{files} files in {folder}");
}

#[test]
fn the_golden_files_with_any_byte_changed_and_its_checksums_put_right() {
    for golden in [EVERY_KIND_V1, HISTORY_V1, PACKED_V1, REACHABILITY_V1] {
        for index in 0..golden.len() {
            for value in [0, 1, 0x7f, 0x80, 0xff] {
                let mut bytes = golden.to_vec();
                bytes[index] = value;
                hostile::check(&hostile::sealed(&bytes));
            }
        }
    }
}

#[test]
fn a_good_file_is_sealed_already() {
    let (sealed, end) = EVERY_KIND_V1.split_at(EVERY_KIND_V1.len() - 13);
    assert_eq!(hostile::sealed(sealed), [sealed, end].concat());
}
