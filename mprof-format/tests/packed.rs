//! Packed counters: what is told of one context and category in one entry, coded bit by bit.
#![cfg(feature = "std")]

mod common;

use common::{Bytes, PACKED_V1, file_with, history, numbers, read_whole, record_ends, written};
use mprof_format::layout::Tag;
use mprof_format::model::*;
use mprof_format::read;
use mprof_format::write::{Entry, MIN_BUFFER, Writer};
use proptest::prelude::*;

/// Context, category; allocations, bytes, frees, freed bytes; objects and bytes at the peak; classes, temporary objects, sum
/// of ages, bytes of class 0.
type Numbers = (u32, u8, Option<[u64; 4]>, Option<[u64; 2]>, Option<[u64; 28]>);

/// Numbers of any size, many of them small or the last ones that there are.
fn number() -> impl Strategy<Value = u64> {
    prop_oneof![
        0..4u64,
        0..1000u64,
        any::<u64>(),
        Just(u64::MAX),
        (0..64u32).prop_map(|shift| u64::MAX >> shift)
    ]
}

/// All of one context and category, as a program has it or with any numbers.
fn entry() -> impl Strategy<Value = Numbers> {
    let category = prop_oneof![4 => 0..5u8, 1 => any::<u8>()];
    let amounts =
        (number(), number(), number(), number(), 0..4u8).prop_map(|(a, b, c, d, kind)| match kind {
            0 => [a, a.wrapping_mul(b), a, a.wrapping_mul(b)],
            1 => [a, b, 0, 0],
            2 => [a % 5000, a % 5000 * (b % 4096), a % 5000 / 2, a % 5000 / 2 * (b % 4096)],
            _ => [a, b, c, d],
        });
    let lives =
        (prop::collection::vec(number(), 28), any::<u32>(), any::<bool>()).prop_map(|(all, mask, one)| {
            let all: [u64; 28] = all.try_into().unwrap();
            let mask = if one { 1 << (mask % 25) | mask >> 25 << 25 } else { mask };
            std::array::from_fn(|index| if mask >> index & 1 == 1 { all[index] } else { 0 })
        });
    let live = [number(), number()];
    (
        0..50u32,
        category,
        prop::option::weighted(0.9, amounts),
        prop::option::of(live),
        prop::option::of(lives),
    )
}

/// A profile with these entries, as the reader gives it.
fn profile(entries: &[Numbers]) -> Profile {
    let mut entries = entries.to_vec();
    entries.sort_by_key(|entry| (entry.0, Category::from_index(entry.1)));
    entries.dedup_by_key(|entry| (entry.0, Category::from_index(entry.1)));
    let mut profile = Profile {
        threads: vec![Thread::default()],
        contexts: vec![Context { parent: None, frame: Frame::Thread(0) }; 50],
        ..Profile::default()
    };
    let peak = profile.history.peak.get_or_insert_default();
    for (context, category, counter, live, lives) in entries {
        let category = Category::from_index(category);
        profile.counters.extend(counter.map(|[allocs, bytes, frees, freed_bytes]| Counter {
            context,
            category,
            allocs,
            bytes,
            frees,
            freed_bytes,
        }));
        peak.live.extend(live.map(|[objects, bytes]| Live { context, category, objects, bytes }));
        profile.history.lifetimes.extend(lives.map(|lives| {
            let classes: [u64; LIFETIME_CLASSES] = lives[..25].try_into().unwrap();
            let is_old = classes[1..].iter().any(|count| *count > 0);
            Lifetime {
                context,
                category,
                classes,
                temporary: lives[25],
                ages: if is_old { lives[26] } else { 0 },
                young_bytes: if classes[0] > 0 { lives[27] } else { 0 },
            }
        }));
    }
    profile
}

/// The payloads of a file's packed records.
fn payloads(file: &[u8]) -> Vec<&[u8]> {
    let ends = record_ends(file);
    let starts = [20].into_iter().chain(ends.iter().copied());
    let records = starts.zip(&ends).map(|(start, end)| &file[start..*end]);
    let packed = records.filter(|record| record[..2] == Tag::Packed.number().to_le_bytes());
    packed.map(|record| &record[8..record.len() - 4]).collect()
}

/// A file with one packed record, after so many contexts and perhaps a peak.
fn file(contexts: u64, has_peak: bool, payload: &[u8]) -> Vec<u8> {
    let contexts: Vec<u64> = [0].into_iter().chain((0..contexts).flat_map(|_| [0, 1, 0])).collect();
    let mut records = vec![(Tag::Contexts, numbers(&contexts))];
    if has_peak {
        records.push((Tag::Peak, vec![0; 6]));
    }
    records.push((Tag::Packed, payload.to_vec()));
    file_with(&records)
}

/// Where and what the damage in such a file is, from the payload's start, and what was read before it.
fn problem(contexts: u64, has_peak: bool, payload: &[u8]) -> (u64, String, Profile) {
    let bytes = file(contexts, has_peak, payload);
    let ends = record_ends(&bytes);
    let start = ends[ends.len() - 2] - 4 - payload.len();
    let loaded = read(&bytes).unwrap();
    let damage = loaded.damage.expect("damage");
    (damage.offset - start as u64, damage.problem.into_owned(), loaded.profile)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn any_numbers_come_back(entries in prop::collection::vec(entry(), 0..60)) {
        let profile = profile(&entries);
        prop_assert_eq!(&read_whole(&written(&profile)), &profile);
    }

    #[test]
    fn any_bytes_are_entries_or_damage(
        payload in prop::collection::vec(prop_oneof![any::<u8>(), Just(0), Just(0xff)], 0..500),
    ) {
        let loaded = read(&file(50, true, &payload)).unwrap();
        let history = &loaded.profile.history;
        prop_assert!(loaded.profile.counters.len() <= payload.len());
        prop_assert!(history.lifetimes.len() <= payload.len());
        let whole = Profile { incomplete: false, ..loaded.profile };
        prop_assert_eq!(&read_whole(&written(&whole)), &whole);
    }
}

#[test]
fn the_most_surprising_entries_fit_the_smallest_buffer() {
    let mut buffer = [0; MIN_BUFFER];
    let mut out = Writer::new(Bytes::default(), &mut buffer);
    let mut expected = vec![];
    out.header(0).unwrap();
    out.process(&Default::default()).unwrap();
    out.context(None, Frame::Special(Special::Unknown)).unwrap();
    for round in 0..2000u64 {
        // What has been certain for long, and then all at once is different.
        let is_odd = round % 500 == 499;
        let number =
            |at: u64| if is_odd { u64::MAX - (round + at).wrapping_mul(0x9e37_79b9_7f4a_7c15) } else { 0 };
        let lifetime = Lifetime {
            context: 0,
            category: Category::from_index(if is_odd { 255 } else { 0 }),
            classes: std::array::from_fn(|class| number(class as u64)),
            temporary: number(31),
            ages: number(32),
            young_bytes: number(33),
        };
        out.entry(&Entry { lifetime: Some(&lifetime), ..Entry::default() }).unwrap();
        expected.extend(is_odd.then_some(lifetime));
    }
    let bytes = out.finish().unwrap().0;
    let lifetimes = read_whole(&bytes).history.lifetimes;
    assert_eq!(lifetimes.len(), 2, "one of each category");
    let sum = expected.iter().fold(0u64, |sum, lifetime| sum.saturating_add(lifetime.ages));
    assert_eq!(lifetimes[1].ages, sum);
}

#[test]
fn an_entry_takes_at_least_a_byte() {
    let entry = |context: u32| (context % 50, 0, Some([1, 16, 1, 16]), None, None);
    let mut profile = profile(&(0..50).map(entry).collect::<Vec<_>>());
    profile.contexts = vec![profile.contexts[0]; 5000];
    profile.counters = (0..5000).map(|context| Counter { context, ..profile.counters[0] }).collect();
    let bytes = written(&profile);
    let [payload] = payloads(&bytes)[..] else { panic!("one record expected") };
    assert_eq!(payload.len(), 5000);
    let told = payload.iter().rposition(|byte| *byte != 0).unwrap() + 1;
    assert!(told < 100, "{told} bytes");
    assert_eq!(read_whole(&bytes), profile);
    // Without the zeros there are more entries than bytes.
    let (offset, what, before) = problem(5000, true, &payload[..told]);
    assert_eq!((what.as_str(), before.counters.len()), ("no more entries than bytes expected", told));
    assert!(offset < told as u64);
    // With more of them, or others, there is something behind the end.
    let end = "the end of the record expected";
    assert_eq!(problem(5000, true, &[payload, &[0]].concat()).1, end);
    let mut other = payload.to_vec();
    *other.last_mut().unwrap() = 1;
    assert_eq!(problem(5000, true, &other).1, end);
}

#[test]
fn entries_refer_to_what_is_there() {
    let [payload] = payloads(PACKED_V1)[..] else { panic!("one record expected") };
    let good = read_whole(&file(12, true, payload));
    assert_eq!(good.counters, history().counters);
    assert_eq!(good.history.lifetimes, history().history.lifetimes);
    let (_, what, before) = problem(11, true, payload);
    assert_eq!((what.as_str(), before.counters.len()), ("context 11 expected to be one of 11", 4));
    let (offset, what, before) = problem(12, false, payload);
    assert_eq!(what, "the peak expected before what was alive then");
    assert_eq!((offset, before.counters.len()), (0, 1));
}

#[test]
fn what_follows_the_last_entry_is_damage() {
    let [payload] = payloads(PACKED_V1)[..] else { panic!("one record expected") };
    for more in [&b"x"[..], b"xxxx", &[0; 9]] {
        let long = [payload, &[0; 4], more].concat();
        let (offset, what, before) = problem(12, true, &long);
        assert_eq!(what, "the end of the record expected");
        assert_eq!(before.counters, history().counters);
        assert!(offset <= payload.len() as u64 + 4, "{offset}");
    }
    assert_eq!(problem(12, true, &[0; 100]).1, "the end of the record expected");
    assert_eq!(read_whole(&file(12, true, &[])).counters, []);
}

#[test]
fn what_was_learnt_goes_on_from_record_to_record() {
    let entry = |n: u32| {
        let allocs = 1000 + u64::from(n.wrapping_mul(0x9e37_79b9) >> 17);
        let mut lives = [0; 28];
        (lives[3], lives[4]) = (allocs / 3, allocs - allocs / 3);
        lives[26] = 9 * allocs;
        (
            n,
            1,
            Some([allocs, 48 * allocs, allocs, 48 * allocs]),
            Some([n.into(), 48 * u64::from(n)]),
            Some(lives),
        )
    };
    let mut profile = profile(&[]);
    profile.contexts = vec![profile.contexts[0]; 20_000];
    let one = self::profile(&(0..20_000).map(entry).collect::<Vec<_>>());
    (profile.counters, profile.history) = (one.counters, one.history);
    let bytes = written(&profile);
    assert_eq!(payloads(&bytes).len(), 2);
    assert_eq!(read_whole(&bytes), profile);
    // The second alone cannot be understood; a file that is cut before it has the first.
    let ends = record_ends(&bytes);
    let end = ends[ends.len() - 3];
    let cut = read(&bytes[..end]).unwrap();
    let count = cut.profile.counters.len();
    assert!(count > 5000);
    assert_eq!(cut.profile.counters, profile.counters[..count]);
}
