//! Files of released format versions stay readable; files of others are refused with the remedy.
#![cfg(feature = "std")]

mod common;

use common::{
    EVERY_KIND_V1, HISTORY_V1, LISP_V1, PACKED_V1, REACHABILITY_V1, every_kind, header, history, lisp,
    reachability, read_whole, written,
};
use mprof_format::layout::{Tag, VERSION};
use mprof_format::{ReadError, read};

#[test]
fn version_1_is_read() {
    assert_eq!(read_whole(EVERY_KIND_V1), every_kind());
    assert_eq!(read(EVERY_KIND_V1).unwrap().version, 1);
    assert_eq!(read_whole(LISP_V1), lisp());
    assert_eq!(read_whole(HISTORY_V1), history());
    assert_eq!(read_whole(REACHABILITY_V1), reachability());
    assert_eq!(read_whole(PACKED_V1), history());
}

/// The records of a file but for those whose place packed counters have taken, and their number at the end.
fn others(file: &[u8]) -> Vec<&[u8]> {
    let ends = common::record_ends(file);
    let starts = [20].into_iter().chain(ends.iter().copied());
    let records = starts.zip(&ends).map(|(start, end)| &file[start..*end]);
    let packed = [Tag::Counters, Tag::Peak, Tag::Lifetimes, Tag::Packed, Tag::End].map(Tag::number);
    records.filter(|record| !packed.contains(&u16::from_le_bytes([record[0], record[1]]))).collect()
}

#[test]
fn version_1_is_written() {
    assert_eq!(VERSION, 1);
    assert_eq!(written(&history()), PACKED_V1);
    for (profile, golden) in [
        (every_kind(), EVERY_KIND_V1),
        (lisp(), LISP_V1),
        (history(), HISTORY_V1),
        (reachability(), REACHABILITY_V1),
    ] {
        assert_eq!(others(&written(&profile)), others(golden));
    }
}

#[test]
fn a_version_from_the_future_is_refused_with_both_versions_and_the_remedy() {
    let error = read(&header(2, 1, 8, 0)).unwrap_err();
    assert_eq!(error, ReadError::Version { file: 2 });
    assert_eq!(
        error.to_string(),
        "byte 8: format version 2, and this program reads up to 1; use the mprof that wrote the file, or a newer one"
    );
}

#[test]
fn a_version_that_never_was_is_refused() {
    let error = read(&header(0, 1, 8, 0)).unwrap_err();
    assert_eq!(error, ReadError::Version { file: 0 });
    assert_eq!(
        error.to_string(),
        "byte 8: format version 0, and this program reads from 1 to 1; use the mprof that wrote the file, or run \
         the program again"
    );
}

#[test]
fn files_of_other_machines_are_refused() {
    let error = read(&header(1, 2, 8, 0)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "byte 10: written with another byte order than little-endian; use the mprof of the machine that wrote it"
    );
    let error = read(&header(1, 1, 4, 0)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "byte 11: written by a program whose pointers are not 8 bytes long; use the mprof of the machine that \
         wrote it"
    );
}

#[test]
fn unknown_file_flags_are_overlooked_or_refused_by_their_place() {
    let body = &EVERY_KIND_V1[20..];
    let with = |flags| read(&[header(1, 1, 8, flags).as_slice(), body].concat());
    assert_eq!(with(0x8000).unwrap().profile, every_kind());
    assert_eq!(
        with(0x1_0000).unwrap_err().to_string(),
        "byte 12: file flag 0x10000 is not known to this program; use the mprof that wrote the file"
    );
}
