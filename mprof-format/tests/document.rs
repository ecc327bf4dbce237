//! The bytes that are shown in `docs/FORMAT.md` and in `src/layout.rs` are those of the golden file.
#![cfg(feature = "std")]

mod common;

use common::{EVERY_KIND_V1, HISTORY_V1, LISP_V1, PACKED_V1, REACHABILITY_V1};

const DOCUMENT: &str = include_str!("../../docs/FORMAT.md");
const LAYOUT: &str = include_str!("../src/layout.rs");

/// All bytes in the blocks of a text that are marked as `wanted`, without the remarks after `#`.
fn shown(text: &str, comment: &str, wanted: &str) -> Vec<u8> {
    let mut bytes = vec![];
    let mut is_hex = false;
    for line in text.lines() {
        let line = line.trim().strip_prefix(comment).unwrap_or_default().trim();
        if let Some(kind) = line.strip_prefix("```") {
            is_hex = kind == wanted;
        } else if is_hex {
            let digits = line.split('#').next().unwrap().split_whitespace();
            bytes.extend(digits.map(|digits| u8::from_str_radix(digits, 16).expect(line)));
        }
    }
    bytes
}

#[test]
fn the_document_walks_through_the_whole_golden_file() {
    assert_eq!(shown(DOCUMENT, "", "hex"), EVERY_KIND_V1);
}

#[test]
fn the_layout_shows_the_header_and_the_payload_of_each_known_kind() {
    let mut bytes = EVERY_KIND_V1[..20].to_vec();
    let mut at = 20;
    for end in common::record_ends(EVERY_KIND_V1) {
        let unknown = EVERY_KIND_V1[at..at + 2] == 1000u16.to_le_bytes();
        if !unknown {
            bytes.extend(&EVERY_KIND_V1[at + 8..end - 4]);
        }
        at = end;
    }
    assert_eq!(shown(LAYOUT, "///", "hex"), bytes);
}

#[test]
fn both_show_the_records_of_lisp_programs() {
    let (mut records, mut payloads) = (vec![], vec![]);
    let mut at = 20;
    for end in common::record_ends(LISP_V1) {
        if [12u16, 13].iter().any(|tag| LISP_V1[at..at + 2] == tag.to_le_bytes()) {
            records.extend(&LISP_V1[at..end]);
            payloads.extend(&LISP_V1[at + 8..end - 4]);
        }
        at = end;
    }
    assert_eq!(shown(DOCUMENT, "", "hex lisp"), records);
    assert_eq!(shown(LAYOUT, "///", "hex lisp"), payloads);
}

#[test]
fn both_show_the_records_about_the_course_of_time() {
    both_show(HISTORY_V1, &[8, 9, 10, 11, 14, 15, 16, 17], "hex history");
}

#[test]
fn both_show_the_record_about_reachability() {
    both_show(REACHABILITY_V1, &[18], "hex reachability");
}

#[test]
fn both_show_the_record_of_packed_counters() {
    both_show(PACKED_V1, &[19], "hex packed");
}

/// The blocks marked as `wanted` are the records of these kinds in a golden file.
fn both_show(golden: &[u8], tags: &[u16], wanted: &str) {
    let (mut records, mut payloads) = (vec![], vec![]);
    let mut at = 20;
    for end in common::record_ends(golden) {
        if tags.iter().any(|tag| golden[at..at + 2] == tag.to_le_bytes()) {
            records.extend(&golden[at..end]);
            payloads.extend(&golden[at + 8..end - 4]);
        }
        at = end;
    }
    assert_eq!(shown(DOCUMENT, "", wanted), records);
    assert_eq!(shown(LAYOUT, "///", wanted), payloads);
}
