//! Damage is a normal case: what came before it is read, and it is told where it is. Nothing panics.
#![cfg(feature = "std")]

mod common;

use common::generate::profile;
use common::{
    EVERY_KIND_V1, HISTORY_V1, PACKED_V1, REACHABILITY_V1, every_kind, file_with, header, history, numbers,
    reachability, read_whole, record, record_ends,
};
use mprof_format::layout::{LITTLE_ENDIAN, POINTER_WIDTH, Tag, VERSION};
use mprof_format::model::{Context, Frame, History, Names, Profile, RawRecord, Special};
use mprof_format::{Damage, Loaded, ReadError, read};
use proptest::prelude::*;

/// Asserts that `part` is the beginning of `whole`, table by table.
fn assert_is_beginning(part: &Profile, whole: &Profile) {
    let arguments = &part.process.arguments;
    assert!(whole.process.arguments.starts_with(arguments));
    let process = mprof_format::model::Process { arguments: arguments.clone(), ..whole.process.clone() };
    assert_eq!(part.process, process);
    assert!(whole.modules.starts_with(&part.modules));
    assert!(whole.threads.starts_with(&part.threads));
    assert!(whole.contexts.starts_with(&part.contexts));
    assert!(whole.counters.starts_with(&part.counters));
    assert!(whole.bins.starts_with(&part.bins));
    assert!(whole.extra.starts_with(&part.extra));
    assert_is_beginning_of_history(&part.history, &whole.history);
    if let Some(part) = &part.reachability {
        let whole = whole.reachability.as_ref().unwrap();
        assert_eq!(part.unseen_threads, whole.unseen_threads);
        assert!(whole.kept.starts_with(&part.kept));
    }
    if let Some(names) = &part.names {
        let whole = whole.names.as_ref().unwrap();
        assert!(whole.files.starts_with(&names.files));
        assert!(whole.functions.starts_with(&names.functions));
        assert!(whole.sites.iter().take(names.sites.len()).eq(&names.sites));
        assert!(whole.types.starts_with(&names.types));
    }
}

fn assert_is_beginning_of_history(part: &History, whole: &History) {
    if let Some(peak) = &part.peak {
        let whole = whole.peak.as_ref().unwrap();
        assert_eq!(peak.totals, whole.totals);
        assert!(whole.live.starts_with(&peak.live));
    }
    assert!(whole.curve.starts_with(&part.curve));
    assert!(whole.snapshots.len() >= part.snapshots.len());
    for (part, whole) in part.snapshots.iter().zip(&whole.snapshots) {
        assert_eq!(part.totals, whole.totals);
        assert!(whole.changes.starts_with(&part.changes));
    }
    assert!(whole.lifetimes.starts_with(&part.lifetimes));
    assert!(whole.ages.starts_with(&part.ages));
    assert!(whole.growth.starts_with(&part.growth));
    assert!(whole.rounding.starts_with(&part.rounding));
}

/// Reads beginnings of `bytes`, each record border being one of them: nothing but the whole is without damage, what
/// is read is the beginning of `whole`, and it is all that lies in whole records.
fn cut(bytes: &[u8], lengths: impl Fn(usize) -> bool, whole: &Profile) {
    let ends = record_ends(bytes);
    let mut at_border: Option<Loaded> = None;
    for length in (0..bytes.len()).filter(|length| ends.contains(length) || lengths(*length)) {
        let result = read(&bytes[..length]);
        if ends.contains(&length) {
            at_border = result.clone().ok();
            assert_eq!(at_border.as_ref().unwrap().damage.as_ref().unwrap().offset, length as u64);
        }
        match (result, &at_border) {
            (Ok(loaded), Some(border)) => {
                let damage = loaded.damage.expect("a cut is noticed");
                assert!(damage.offset <= length as u64);
                assert_eq!(loaded.profile, border.profile);
                assert_is_beginning(&loaded.profile, whole);
            }
            (Err(_), None) => {}
            (result, _) => panic!("cut at {length}: {result:?}"),
        }
    }
    assert_eq!(&read_whole(bytes), whole);
}

#[test]
fn the_golden_files_cut_at_every_length() {
    cut(EVERY_KIND_V1, |_| true, &every_kind());
    cut(HISTORY_V1, |_| true, &history());
    cut(PACKED_V1, |_| true, &history());
    cut(REACHABILITY_V1, |_| true, &reachability());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 16, ..ProptestConfig::default() })]

    #[test]
    fn any_file_cut_somewhere(numbers in prop::collection::vec(any::<u64>(), 0..1000), step in 50usize..500) {
        let profile = Profile { incomplete: false, ..profile(&numbers) };
        cut(&common::written(&profile), |length| length % step < 2, &profile);
    }
}

#[test]
fn every_flipped_bit_is_noticed() {
    for (golden, whole) in [
        (EVERY_KIND_V1, every_kind()),
        (HISTORY_V1, history()),
        (PACKED_V1, history()),
        (REACHABILITY_V1, reachability()),
    ] {
        for bit in 0..golden.len() * 8 {
            let mut bytes = golden.to_vec();
            bytes[bit / 8] ^= 1 << (bit % 8);
            match read(&bytes) {
                Err(_) => assert!(bit / 8 < record_ends(golden)[0], "bit {bit}"),
                Ok(loaded) => {
                    let damage = loaded.damage.unwrap_or_else(|| panic!("bit {bit} passed unnoticed"));
                    assert!(damage.offset <= bit as u64 / 8);
                    assert_is_beginning(&loaded.profile, &whole);
                }
            }
        }
    }
}

#[test]
fn bytes_after_the_end_are_damage() {
    let bytes = [EVERY_KIND_V1, b"x"].concat();
    let loaded = read(&bytes).unwrap();
    assert_eq!(loaded.damage.unwrap().offset, EVERY_KIND_V1.len() as u64);
    assert_eq!(Profile { incomplete: false, ..loaded.profile }, every_kind());
}

#[test]
fn what_is_no_data_file_is_told_apart() {
    let message = |bytes: &[u8]| read(bytes).unwrap_err().to_string();
    assert_eq!(message(b""), "the file is empty; copy the file or run the program again");
    let other = "byte 0: not an mprof data file; give the file that a program run under mprof wrote";
    assert_eq!(message(b"\x7fELF\x02\x01\x01"), other);
    assert_eq!(message(b"m"), other);
    let text = "byte 0: changed by a copy in text mode; copy the file again in binary mode";
    for changed in
        [&b"\x8dmprof\n\x01\x00"[..], b"\x8dmprof\r\r\n\x01", b"\x0dmprof\r\n", b"\xc2\x8dmprof\r\n\x01"]
    {
        assert_eq!(message(changed), text, "{changed:?}");
    }
    assert_eq!(
        message(&EVERY_KIND_V1[..4]),
        "file header damaged at byte 4: 20 bytes expected, 4 there; copy the file or run the program again"
    );
    assert_eq!(
        message(&EVERY_KIND_V1[..20]),
        "nothing to show: damaged at byte 20: the file is cut off: another record or the end record expected; \
         copy the file or run the program again"
    );
}

#[test]
fn a_file_without_a_process_has_nothing_to_show() {
    let mut bytes = header(VERSION, LITTLE_ENDIAN, POINTER_WIDTH, 0);
    bytes.extend(record(Tag::End.number(), 1, &[0]));
    assert_eq!(
        read(&bytes),
        Err(ReadError::NoProcess(Damage { offset: 33, problem: "a process record expected".into() }))
    );
    let mut bytes = header(VERSION, LITTLE_ENDIAN, POINTER_WIDTH, 0);
    bytes.extend(record(Tag::Bins.number(), 1, &[]));
    let problem = "one process record expected, before all others".into();
    assert_eq!(read(&bytes), Err(ReadError::NoProcess(Damage { offset: 28, problem })));
}

/// The problem in a file with these records, and the profile before it.
fn problem(records: &[(Tag, Vec<u8>)]) -> (String, Profile) {
    let loaded = read(&file_with(records)).unwrap();
    (loaded.damage.expect("damage").problem.into_owned(), loaded.profile)
}

/// The problem with one record after others.
fn problem_with(tag: Tag, values: &[u64]) -> String {
    problem(&[(Tag::Contexts, vec![0, 0, 1, 0]), (tag, numbers(values))]).0
}

#[test]
fn the_files_of_these_tests_are_good_but_for_what_they_test() {
    let profile = read_whole(&file_with(&[(Tag::Contexts, vec![0, 0, 1, 0])]));
    assert_eq!(profile.contexts, [Context { parent: None, frame: Frame::Thread(0) }]);
}

#[test]
fn parents_lie_before_their_children() {
    // id 1 with parents 1 (itself), 2 (a later one) and so on up to the largest number.
    let early = |up: u64| numbers(&[0, 0, 1, 0, up << 2, 0, 0]);
    assert_eq!(read_whole(&file_with(&[(Tag::Contexts, early(1))])).contexts.len(), 2);
    for up in [2, 3, 1 << 32, (1 << 32) + 1, u64::MAX >> 2] {
        let (problem, profile) = problem(&[(Tag::Contexts, early(up))]);
        assert_eq!(problem, "the parent of context 1 expected before it", "{up}");
        assert_eq!(profile.contexts, [Context { parent: None, frame: Frame::Thread(0) }]);
    }
}

#[test]
fn frames_fit_their_place() {
    let place = "context 1: another kind of frame expected at its place";
    // Code without a caller, anonymous code without a caller, a thread with a caller.
    assert_eq!(problem_with(Tag::Contexts, &[1, 0, 16, 0]), place);
    assert_eq!(problem_with(Tag::Contexts, &[1, 0, 2, 0]), place);
    assert_eq!(problem_with(Tag::Contexts, &[1, 1 << 2, 1, 0]), place);
    assert_eq!(problem_with(Tag::Contexts, &[1, 0, 1, 1]), "thread 1 expected to be one of 1");
    assert_eq!(problem_with(Tag::Contexts, &[1, 4, 18, 0]), "module 1 expected to be one of 1");
    assert_eq!(problem_with(Tag::Contexts, &[1, 4, 5, 7]), "a frame of a known space expected");
    assert_eq!(problem_with(Tag::Contexts, &[1, 4, 4, 7]), "Lisp function 7 expected to be one of 0");
    assert_eq!(problem_with(Tag::Contexts, &[1, 5, 7]), "a frame of a known space expected");
    // An interpreted function without a caller, and one with.
    let function = (Tag::LispFunctions, vec![0, 0, 0, 0]);
    let without = [function.clone(), (Tag::Contexts, numbers(&[0, 0, 1, 0, 0, 4, 0]))];
    assert_eq!(problem(&without).0, place);
    let with = file_with(&[function, (Tag::Contexts, numbers(&[0, 0, 1, 0, 4, 4, 0]))]);
    assert_eq!(read_whole(&with).contexts[1], Context { parent: Some(0), frame: Frame::Lisp(0) });
    // What follows the frame before a record's first is the special frame 0.
    let root = file_with(&[(Tag::Contexts, numbers(&[0, 2, 3]))]);
    let unknown = Context { parent: None, frame: Frame::Special(Special::Unknown) };
    assert_eq!(read_whole(&root).contexts, [unknown; 2]);
}

#[test]
fn tables_go_on_where_they_stopped() {
    for (tag, next) in [
        (Tag::Modules, 1),
        (Tag::Threads, 1),
        (Tag::LispFunctions, 0),
        (Tag::Contexts, 1),
        (Tag::Files, 0),
        (Tag::Functions, 0),
    ] {
        let expected = format!("the entry with id {next} expected, not {}", next + 1);
        assert_eq!(problem_with(tag, &[next + 1]), expected);
        let expected = format!("the entry with id {next} expected, not {}", u64::MAX);
        assert_eq!(problem_with(tag, &[u64::MAX]), expected);
    }
}

#[test]
fn ids_point_into_their_tables() {
    assert_eq!(problem_with(Tag::Counters, &[2, 4, 1, 1]), "context 1 expected to be one of 1");
    assert_eq!(
        problem_with(Tag::Counters, &[1, 4, 1, 1]),
        format!("context {} expected to be one of 1", u64::MAX)
    );
    assert_eq!(problem_with(Tag::Counters, &[0, 3, 1, 1]), "a counter of another kind expected");
    assert_eq!(problem_with(Tag::Counters, &[0, 1 << 10, 1, 1]), "a smaller category expected");
    assert_eq!(problem_with(Tag::Functions, &[0, 0, 0, 2]), "module 1 expected to be one of 1");
    assert_eq!(problem_with(Tag::Functions, &[0, 0, 0, 1, 1]), "file 0 expected to be one of 0");
    assert_eq!(problem_with(Tag::Types, &[8, 0, 0, 1]), "module 1 expected to be one of 1");
    assert_eq!(problem_with(Tag::Sites, &[4, 16, 0, 0]), "function 0 expected to be one of 0");
    assert_eq!(problem_with(Tag::Sites, &[0, 16, 0]), "a source frame expected");
    assert_eq!(problem_with(Tag::Sites, &[4, 1, 0]), "a frame of code expected");
    assert_eq!(problem_with(Tag::Threads, &[1, 0, 0, 0, 1, 0, 1, 0]), "a frame of code expected");
}

#[test]
fn bins_rise() {
    let order = "a larger bin expected, up to the one for the largest objects";
    assert_eq!(problem_with(Tag::Bins, &[8, 1, 1, 0, 1, 1]), order);
    assert_eq!(problem_with(Tag::Bins, &[1026 << 1, 1, 1]), order);
    assert_eq!(problem_with(Tag::Bins, &[u64::MAX, 1, 1]), order);
    let two = problem(&[(Tag::Bins, numbers(&[8, 1, 1])), (Tag::Bins, numbers(&[8, 1, 1]))]);
    assert_eq!((two.0.as_str(), two.1.bins.len()), (order, 1));
    // Where the bytes cannot be computed they must be there: the bin of all larger sizes, and an overflow.
    assert_eq!(problem_with(Tag::Bins, &[1025 << 1, 1, 1]), "the bin's bytes expected");
    assert_eq!(problem_with(Tag::Bins, &[4, u64::MAX, 0]), "the bin's bytes expected");
}

#[test]
fn records_about_the_course_of_time_keep_their_order() {
    let peak = (Tag::Peak, vec![1; 6]);
    let other = (Tag::Peak, vec![1, 1, 2, 1, 1, 1]);
    assert_eq!(problem(&[peak.clone(), peak.clone(), other]).0, "the peak as told before expected");
    assert_eq!(problem(&[(Tag::Peak, vec![1; 7])]).0, "context 0 expected to be one of 0");
    let point = |ns| (Tag::Curve, numbers(&[ns, 0, 0, 0, 0, 0]));
    assert_eq!(problem(&[point(7), point(6)]).0, "a point of the curve after the one before expected");
    let far = (Tag::Curve, numbers(&[u64::MAX, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0]));
    let (far, profile) = problem(&[far]);
    assert_eq!((far.as_str(), profile.history.curve.len()), ("time of a point is too large", 1));
    let snapshots = (Tag::Snapshots, vec![0; 1 + 3 * 5]);
    let changes = |snapshot| (Tag::Changes, vec![snapshot]);
    assert_eq!(problem(&[changes(0)]).0, "snapshot 0 expected to be one of 0");
    assert_eq!(problem(&[snapshots.clone(), changes(3)]).0, "snapshot 3 expected to be one of 3");
    let order = problem(&[snapshots.clone(), changes(2), changes(1)]);
    assert_eq!(order.0, "changes in the order of their snapshots expected");
    assert_eq!(problem(&[snapshots.clone(), snapshots]).0, "the entry with id 3 expected, not 0");
}

#[test]
fn ages_have_as_many_classes_as_there_are() {
    assert_eq!(problem_with(Tag::Lifetimes, &[0, 1 << (3 + 25)]), "fewer classes of ages expected");
    assert_eq!(problem_with(Tag::Lifetimes, &[0, 1 << (3 + 24)]), "objects of an age: a number expected");
    assert_eq!(problem_with(Tag::Ages, &[0, 1 << 33]), "fewer classes of ages expected");
    assert_eq!(problem_with(Tag::Growth, &[3, 256]), "category 256 is too large");
    let order = "a larger bin expected, up to the one for the largest objects";
    assert_eq!(problem_with(Tag::Rounding, &[5, 1, 0, 1]), order);
    assert_eq!(problem_with(Tag::Rounding, &[1026, 1]), order);
}

#[test]
fn a_frame_has_one_meaning() {
    let function = (Tag::Functions, vec![0, 0, 0, 0, 0, 0]);
    let twice = (Tag::Sites, numbers(&[4, 16, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0]));
    assert_eq!(problem(&[function, twice]).0, "one meaning for each frame expected");
}

#[test]
fn numbers_are_bounded_by_their_kind() {
    let process = problem(&[(Tag::Process, vec![0; 10])]);
    assert_eq!(process.0, "one process record expected, before all others");
    assert_eq!(problem_with(Tag::Threads, &[1, 0, 1 << 32]), "thread id 4294967296 is too large");
    assert_eq!(problem_with(Tag::Modules, &[1, 256]), "module kind 256 is too large");
    let eleven = (Tag::Counters, vec![0xff; 11]);
    assert_eq!(problem(&[eleven]).0, "context: a number expected");
    assert_eq!(problem_with(Tag::Names, &[0]), "the end of the record expected");
}

#[test]
fn claims_of_ten_gigabytes_take_no_memory() {
    let ten_gb = 10_000_000_000;
    for tag in [Tag::Arguments, Tag::Modules, Tag::Threads, Tag::Files, Tag::Functions, Tag::Types] {
        let values = match tag {
            Tag::Arguments => vec![ten_gb],
            Tag::Modules => vec![1, 0, ten_gb],
            Tag::Threads => vec![1, ten_gb],
            Tag::Types => vec![8, 0, ten_gb],
            _ => vec![0, ten_gb],
        };
        let problem = problem_with(tag, &values);
        assert!(problem.ends_with(" of 10000000000 bytes expected, 0 there"), "{problem}");
    }
    let function = (Tag::Functions, vec![0, 0, 0, 0, 0, 0]);
    let site = (Tag::Sites, numbers(&[ten_gb << 2, 16, 0, 0, 0, 0, 0]));
    assert_eq!(problem(&[function, site]).0, "function: a number expected");
    let mut bytes = file_with(&[]);
    bytes.truncate(record_ends(&bytes)[2]);
    bytes.extend([5, 0, 1, 0, 0xff, 0xff, 0xff, 0xff, 1, 2, 3]);
    let damage = read(&bytes).unwrap().damage.unwrap();
    assert_eq!(damage.problem, "record of 4294967295 bytes expected, 3 there");
}

#[test]
fn the_end_record_counts() {
    let mut bytes = file_with(&[]);
    bytes.truncate(record_ends(&bytes)[2]);
    bytes.extend(record(Tag::End.number(), 1, &[4]));
    assert_eq!(read(&bytes).unwrap().damage.unwrap().problem, "4 records expected, 3 there");
}

#[test]
fn unknown_records_are_kept_or_refused() {
    let with = |flags| {
        let mut bytes = file_with(&[]);
        bytes.truncate(record_ends(&bytes)[2]);
        bytes.extend(record(20, flags, b"later"));
        bytes.extend(record(Tag::End.number(), 1, &[4]));
        bytes
    };
    let profile = read_whole(&with(0xfffe));
    assert_eq!(profile.extra, [RawRecord { tag: 20, flags: 0xfffe, payload: b"later".to_vec() }]);
    assert_eq!(read_whole(&common::written(&profile)), profile);
    assert_eq!(
        read(&with(1)).unwrap_err().to_string(),
        "byte 78: record kind 20 is not known to this program; use the mprof that wrote the file"
    );
}

#[test]
fn names_are_there_as_soon_as_one_of_their_records_is() {
    assert_eq!(read_whole(&file_with(&[])).names, None);
    assert_eq!(read_whole(&file_with(&[(Tag::Names, vec![])])).names, Some(Names::default()));
    let file = read_whole(&file_with(&[(Tag::Files, vec![0, 1, b'x'])]));
    assert_eq!(file.names.unwrap().files, [b"x"]);
}
