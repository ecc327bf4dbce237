//! The size goal: at most 8 bytes a context + 16 a context with allocations + 4 KB; 10 KB for a tiny program.
#![cfg(feature = "std")]

mod common;

use common::{code, every_kind, read_whole, written};
use mprof_format::model::*;

/// A linear congruential generator (Knuth, TAOCP volume 2, section 3.3.4), for trees that are always the same.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

/// A tree as a program grows it: an allocation leaves the chain of the one before somewhere and goes down anew,
/// through functions that each have a few call sites and callees, in ten modules.
fn program(contexts: usize) -> Profile {
    let mut random = Random(1);
    let mut profile = Profile {
        process: every_kind().process,
        modules: (0..10).map(|_| every_kind().modules[0].clone()).collect(),
        threads: vec![Thread::default()],
        contexts: vec![Context { parent: None, frame: Frame::Thread(0) }],
        ..Profile::default()
    };
    let mut chain = vec![(0u32, 0u64)];
    while profile.contexts.len() < contexts {
        let keep = chain.len() as u64 / 2 + random.below(chain.len() as u64 / 2 + 1);
        chain.truncate(keep.max(1) as usize);
        for _ in 0..=random.below(12) {
            let (parent, function) = *chain.last().unwrap();
            let site = random.below(4);
            let frame = code((function % 10) as u32, function * 700 % 2_000_000 + site * 30);
            let child = profile.contexts.len() as u32;
            profile.contexts.push(Context { parent: Some(parent), frame });
            chain.push((child, (function * 31 + site + 1) % 3000));
        }
        let context = profile.contexts.len() as u32 - 1;
        let allocs = 1 + random.below(3000);
        let size = 1 + random.below(3000);
        let frees = if random.below(3) == 0 { random.below(allocs) } else { allocs };
        let (bytes, freed_bytes) = (allocs * size, frees * size);
        let category = Category::of_size(size);
        profile.counters.push(Counter { context, category, allocs, bytes, frees, freed_bytes });
    }
    profile
}

#[test]
fn a_tree_of_50000_contexts_keeps_the_goal() {
    let profile = program(50_000);
    let bytes = written(&profile);
    assert_eq!(read_whole(&bytes), profile);
    let goal = 8 * profile.contexts.len() + 16 * profile.counters.len() + 4096;
    assert!(bytes.len() <= goal, "{} bytes, goal {goal}", bytes.len());
    // What this version takes, so that a change for the worse is seen.
    assert_eq!((profile.contexts.len(), profile.counters.len(), bytes.len()), (50_003, 7759, 280_241));
}

#[test]
fn the_worst_frames_keep_to_the_longest_encoding() {
    let mut random = Random(2);
    let mut profile = program(1);
    for id in 1..20_000u32 {
        let parent = Some(random.below(id.into()) as u32);
        let address = random.below(u64::MAX) << 33 | random.below(1 << 33);
        profile.contexts.push(Context { parent, frame: code(id % 10, address) });
    }
    let bytes = written(&profile);
    assert_eq!(read_whole(&bytes), profile);
    assert!(bytes.len() <= 14 * profile.contexts.len() + 4096, "{} bytes", bytes.len());
}

#[test]
fn a_tiny_program_takes_little() {
    // With every size of bin, as many as a small program could have.
    let mut profile = Profile { names: None, extra: vec![], ..every_kind() };
    let bin = |size| Bin { size: Some(size), allocs: 3, frees: 2, bytes: 3 * size, freed_bytes: 2 * size };
    assert_eq!(written(&profile).len(), 361);
    profile.bins = (0..=LAST_BIN).map(bin).collect();
    assert_eq!(written(&profile).len(), 3419);
}

#[test]
fn the_length_of_points_is_what_they_take() {
    let mut random = Random(3);
    let mut profile = program(1);
    let mut last = Point::default();
    for _ in 0..1536 {
        let live_bytes = random.below(1 << 40);
        last = Point {
            ns: last.ns + random.below(1 << 33),
            live_bytes,
            live_objects: random.below(1 << 30),
            most_bytes: live_bytes + random.below(1 << 35),
            bytes: last.bytes + random.below(1 << 40),
            objects: last.objects + random.below(1 << 20),
        };
        profile.history.curve.push(last);
    }
    let without = written(&Profile { history: History::default(), ..profile.clone() }).len();
    let length = Point::length_of(profile.history.curve.iter().copied());
    assert_eq!(written(&profile).len(), without + 12 + length);
    assert_eq!(read_whole(&written(&profile)), profile);
}

#[test]
fn peak_and_lifetimes_take_no_more_than_they_say() {
    // 4000 counters of 200 objects each, which live as long as chance has it: nothing is to be learnt but the shares.
    let mut random = Random(4);
    let mut profile = program(1);
    profile.contexts.resize(4000, Context { parent: None, frame: Frame::Thread(0) });
    let peak = profile.history.peak.get_or_insert_default();
    for context in 0..4000 {
        let (category, size) = (Category::Medium, 64);
        let (allocs, bytes) = (200, 200 * size);
        profile.counters.push(Counter {
            context,
            category,
            allocs,
            bytes,
            frees: allocs,
            freed_bytes: bytes,
        });
        let objects = (0..allocs).filter(|_| random.below(80) == 0).count() as u64;
        if objects > 0 {
            peak.live.push(Live { context, category, objects, bytes: size * objects });
        }
        let mut classes = [0; LIFETIME_CLASSES];
        let mut ages = 0;
        for _ in 0..allocs {
            // Each octave is as likely as all lower ones.
            let age = random.below(1 << 12) + 1;
            classes[Lifetime::class_of(age)] += 1;
            ages += age;
        }
        profile.history.lifetimes.push(Lifetime {
            context,
            category,
            classes,
            temporary: 0,
            ages,
            young_bytes: 0,
        });
    }
    let without = written(&Profile { history: History::default(), ..profile.clone() }).len();
    let bytes = written(&profile);
    assert_eq!(read_whole(&bytes), profile);
    assert!(bytes.len() - without <= 8 * profile.counters.len());
    assert_eq!(bytes.len() - without, 18_126);
}
