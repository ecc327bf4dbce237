//! What is recorded only where it is asked for: ages in allocations, reallocations, what the allocator adds, snapshots.
//! The process of this file's tests is watched from the start.

mod support;

use std::collections::BTreeMap;

use mprof_core::{snapshots, watch};
use mprof_format::model::Profile;
use support::history::{Character, Random, run};
use support::truth::{ByAllocations, Growth, Heap, Key, Truth, ages_of, peak_of};
use support::{allocate, engine, profile, release, renew, site_of};

/// What malloc_usable_size(3) says.
fn usable(block: *mut u8) -> usize {
    unsafe extern "C" {
        fn malloc_usable_size(block: *mut u8) -> usize;
    }
    // SAFETY: the engine asks about blocks of malloc(3).
    unsafe { malloc_usable_size(block) }
}

fn watched() -> std::sync::MutexGuard<'static, ()> {
    let engine = engine();
    watch::start_lifetimes();
    watch::start_usable(usable);
    engine
}

fn by_allocations_of(profile: &Profile) -> ByAllocations {
    let mut all = ByAllocations::new();
    for ages in &profile.history.ages {
        let key = (site_of(profile, ages.context), ages.category.index());
        assert!(all.insert(key, (ages.classes, ages.ages)).is_none(), "one for each");
    }
    all
}

fn growth_of(profile: &Profile) -> BTreeMap<Key, Growth> {
    let growth = |growth: &mprof_format::model::Growth| {
        let key = (site_of(profile, growth.context), growth.category.index());
        let mprof_format::model::Growth { reallocations, first, moved, copied_bytes, .. } = *growth;
        let (smallest, largest) = (growth.smallest, growth.largest);
        (key, Growth { reallocations, first, moved, copied_bytes, smallest, largest })
    };
    profile.history.growth.iter().map(growth).collect()
}

#[test]
fn ages_and_reallocations_of_random_histories() {
    let _engine = watched();
    for seed in 0..200 {
        renew();
        let mut random = Random(seed);
        let mut truth = Truth::default();
        let character = Character { reallocations: 30, ..Character::random(&mut random) };
        let events = random.below(500);
        let objects = run(&mut random, character, events, &mut truth);
        let profile = profile();
        println!("seed {seed}: {character:?}, {events} events");
        assert_eq!(peak_of(&profile), truth.peak());
        assert_eq!(ages_of(&profile), truth.ages);
        assert_eq!(by_allocations_of(&profile), truth.by_allocations);
        assert_eq!(growth_of(&profile), truth.growth);
        objects.iter().for_each(|alive| release(alive.made.object));
    }
}

#[test]
fn what_the_allocator_adds_is_counted_by_size() {
    let _engine = watched();
    let sizes = [0, 1, 24, 25, 100, 1024, 1025, 5000];
    let made: Vec<_> = sizes.iter().map(|&size| (size, allocate(0, size))).collect();
    let mut expected: BTreeMap<Option<u64>, u64> = BTreeMap::new();
    for &(size, made) in &made {
        // 16 bytes of header and 16 of birth lie before the object.
        let added = usable((made.object - 32) as *mut u8) - 32 - size;
        *expected.entry(Some(size as u64).filter(|size| *size <= 1024)).or_default() += added as u64;
    }
    expected.retain(|_, added| *added > 0);
    let profile = profile();
    let rounding = profile.history.rounding.iter().map(|rounding| (rounding.size, rounding.bytes));
    assert_eq!(rounding.collect::<BTreeMap<_, _>>(), expected);
    made.iter().for_each(|(_, made)| release(made.object));
}

#[test]
fn snapshots_are_what_was_alive() {
    let _engine = watched();
    for (seed, wanted) in [(1, 10), (2, 3), (3, 1), (4, 1000)] {
        renew();
        snapshots::ask_for(wanted);
        let mut random = Random(seed);
        let mut truth = Truth::default();
        truth.keep_heaps = true;
        let character = Character { largest: 3000, frees: [20, 70], reallocations: 10, turn: 200 };
        let objects = run(&mut random, character, 3000, &mut truth);
        let profile = profile();
        snapshots::ask_for(0);
        let snapshots = &profile.history.snapshots;
        assert!(!snapshots.is_empty() && snapshots.len() <= wanted as usize, "{}", snapshots.len());
        assert!(wanted < 5 || snapshots.len() >= wanted as usize / 2 || wanted == 1000);
        let mut heap = Heap::new();
        let mut heaps = truth.heaps.iter();
        for snapshot in snapshots {
            for change in &snapshot.changes {
                let key = (site_of(&profile, change.context), change.category.index());
                let amount = heap.entry(key).or_default();
                *amount = (
                    amount.0.checked_add_signed(change.objects).unwrap(),
                    amount.1.checked_add_signed(change.bytes).unwrap(),
                );
            }
            heap.retain(|_, amount| amount.0 > 0);
            assert!(heaps.any(|then| *then == heap), "no such heap");
            let sum = heap.values().fold((0, 0), |sum, amount| (sum.0 + amount.0, sum.1 + amount.1));
            assert_eq!((snapshot.totals.live_objects, snapshot.totals.live_bytes), sum);
        }
        objects.iter().for_each(|alive| release(alive.made.object));
    }
}
