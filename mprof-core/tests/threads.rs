//! Histories of several threads' heaps. The threads work in turn, so that it is known what must come out; the engine
//! does not know that they do. What it says is right within the uncertainty that it states.

mod support;

use std::sync::atomic::Ordering;

use mprof_core::process::OPTIONS;
use mprof_format::model::Profile;
use support::crew::Worker;
use support::history::{Character, Random};
use support::truth::{Alive, Heap, Truth, ages_of, peak_of};
use support::{SITES, allocate, engine, profile, release, renew, site_of};

const MIB: usize = 1 << 20;

fn uncertainty(profile: &Profile) -> u64 {
    profile.history.peak.as_ref().unwrap().totals.uncertainty
}

/// The first thread frees a lot and then waits: what it freed is for the others, and their allocations are no new
/// maximum.
#[test]
fn headroom_of_a_thread_that_waits() {
    let _engine = engine();
    let mut truth = Truth::default();
    let objects: Vec<_> = (0..64).map(|_| truth.allocate(allocate(0, MIB), MIB)).collect();
    for alive in &objects {
        truth.free(*alive);
        release(alive.made.object);
    }
    let worker = Worker::start();
    let made: Vec<_> = (0..40).map(|_| worker.allocate(1, MIB)).collect();
    for made in &made {
        truth.allocate(*made, MIB);
    }
    let profile = profile();
    assert_eq!(uncertainty(&profile), 2 * 64 * 1024);
    assert_eq!(peak_of(&profile), truth.peak());
    assert_eq!(peak_of(&profile).bytes, 64 * MIB as u64);
    made.iter().for_each(|made| worker.free(made.object));
}

/// The first thread climbs and then waits; the second climbs on.
#[test]
fn a_climb_of_two_threads() {
    let _engine = engine();
    let first: Vec<_> = (0..10).map(|_| allocate(0, MIB)).collect();
    let worker = Worker::start();
    let second: Vec<_> = (0..10).map(|_| worker.allocate(1, MIB)).collect();
    worker.free(second[9].object);
    second[..5].iter().for_each(|made| release(made.object));
    let peak = peak_of(&profile());
    let heap: Heap = [((first[0].site, 3), (10, 10 << 20)), ((second[0].site, 3), (10, 10 << 20))].into();
    assert_eq!((peak.bytes, peak.objects, peak.number, peak.heap), (20 << 20, 20, 20, heap));
    second[5..9].iter().for_each(|made| release(made.object));
    first.iter().for_each(|made| worker.free(made.object));
}

/// The clock of a thread that does nothing goes on with what others allocate.
#[test]
fn ages_of_a_thread_that_waits() {
    let _engine = engine();
    let worker = Worker::start();
    let old = worker.allocate(0, 100);
    for _ in 0..1024 {
        release(allocate(1, 10 * 1024).object);
    }
    worker.free(old.object);
    let profile = profile();
    let ages = ages_of(&profile)[&(old.site, 1)];
    // 10 MiB, less what had not been passed on.
    assert!((10 * 1024 - 64..=10 * 1024).contains(&ages.ages), "{ages:?}");
    assert_eq!((ages.temporary, ages.young_bytes), (1, 0));
}

/// An object is temporary if its own thread frees it before it allocates anything else, whatever others do.
#[test]
fn temporary_objects_of_threads() {
    let _engine = engine();
    let worker = Worker::start();
    let (mine, its) = (allocate(0, 40), worker.allocate(1, 40));
    release(mine.object);
    worker.free(its.object);
    // Freed by the other: neither.
    let (mine, its) = (allocate(2, 40), worker.allocate(3, 40));
    release(its.object);
    worker.free(mine.object);
    // Freed by a later thread that has the same heap.
    let left = worker.allocate(4, 40);
    drop(worker);
    let worker = Worker::start();
    worker.free(left.object);
    let profile = profile();
    let temporary: Vec<_> = ages_of(&profile).into_values().map(|ages| ages.temporary).collect();
    assert_eq!(temporary.iter().sum::<u64>(), 2);
    assert_eq!(temporary.len(), 5);
    drop(worker);
}

/// A thread that sleeps over a round of marks: what it put aside long ago is not what it holds at the peak.
#[test]
fn a_round_of_marks_while_a_thread_sleeps() {
    let _engine = engine();
    let worker = Worker::start();
    // An epoch, in which the worker puts aside that it holds nothing.
    release(allocate(0, MIB).object);
    let held = worker.allocate(1, 1000);
    worker.free(worker.allocate(1, 1000).object);
    // As many epochs as there are marks, each a maximum beyond what may be in hand.
    let mut kept = vec![allocate(0, MIB)];
    for _ in 0..32_768 {
        kept.push(allocate(2, 256 * 1024));
        release(kept.pop().unwrap().object);
        kept.push(allocate(3, 1));
        release(kept.pop().unwrap().object);
    }
    let heap = peak_of(&profile()).heap;
    assert_eq!(heap[&(held.site, 2)], (1, 1000));
    kept.iter().for_each(|made| release(made.object));
    worker.free(held.object);
}

/// What a thread frees after it has given up its heap has an unknown age, and its share in the peak.
#[test]
fn events_of_a_thread_that_ends() {
    let _engine = engine();
    let worker = Worker::start();
    let held: Vec<_> = (0..20).map(|_| worker.allocate(0, MIB)).collect();
    worker.detach();
    held[..10].iter().for_each(|made| worker.free(made.object));
    let late = worker.allocate(1, 3000);
    let profile = profile();
    let peak = peak_of(&profile);
    assert_eq!(peak.bytes, 20 << 20);
    assert_eq!(ages_of(&profile).len(), 0);
    let freed: u64 = profile.counters.iter().map(|counter| counter.freed_bytes).sum();
    assert_eq!(freed, 10 << 20);
    let unknown = profile.counters.iter().find(|counter| site_of(&profile, counter.context) == 0).unwrap();
    assert_eq!((unknown.allocs, unknown.bytes), (1, 3000));
    worker.free(late.object);
    held[10..].iter().for_each(|made| worker.free(made.object));
}

/// What differs between two heaps, bytes.
fn distance(one: &Heap, other: &Heap) -> u64 {
    let missing = |from: &Heap, to: &Heap| -> u64 {
        from.iter().map(|(key, amount)| amount.1.saturating_sub(to.get(key).map_or(0, |other| other.1))).sum()
    };
    missing(one, other) + missing(other, one)
}

/// A thread and what it allocated last.
struct Member {
    worker: Worker,
    last: usize,
}

impl Member {
    fn start() -> Member {
        Member { worker: Worker::start(), last: 0 }
    }
}

/// Events of threads that begin and end, free each other's objects, and take over heaps.
fn run(random: &mut Random, threads: usize, events: u64, truth: &mut Truth) -> (Vec<Alive>, Vec<Member>) {
    let character = Character::random(random);
    let mut crew: Vec<Member> = (0..threads).map(|_| Member::start()).collect();
    let mut objects: Vec<(Alive, usize)> = Vec::new();
    for event in 0..events {
        let number = random.below(threads as u64) as usize;
        if random.below(500) == 0 {
            // One goes; the next comes when it is gone, and takes over its heap.
            drop(crew.remove(number));
            crew.insert(number, Member::start());
            objects
                .iter_mut()
                .filter(|(_, owner)| *owner == number)
                .for_each(|(_, owner)| *owner = usize::MAX);
        }
        let member = &mut crew[number];
        let frees = character.frees[(event / character.turn % 2) as usize];
        let is_free = random.below(100) < frees && !objects.is_empty();
        let is_reallocation = random.below(100) < character.reallocations && !objects.is_empty();
        let size = 1 + character.size(random);
        let mut made = None;
        if is_free || is_reallocation {
            let index = random.below(objects.len() as u64) as usize;
            let index = if random.below(2) == 0 { objects.len() - 1 } else { index };
            let (old, owner) = objects.swap_remove(index);
            truth.free_by(old, owner == number && member.last == old.made.object);
            if is_free {
                member.worker.free(old.made.object);
            } else {
                made = Some(member.worker.reallocate(random.below(2) as usize, old.made.object, size));
            }
        } else {
            made = Some(member.worker.allocate(random.below(SITES as u64) as usize, size));
        }
        if let Some(made) = made {
            member.last = made.object;
            objects.push((truth.allocate(made, size), number));
        }
    }
    (objects.into_iter().map(|(alive, _)| alive).collect(), crew)
}

fn check(profile: &Profile, truth: &mut Truth, threads: u64, batch: u64) {
    let peak = peak_of(profile);
    let expected = truth.peak();
    let uncertainty = uncertainty(profile);
    assert!(uncertainty <= threads * 2 * batch, "{uncertainty}");
    let off = peak.bytes.abs_diff(expected.bytes);
    assert!(off <= uncertainty, "{} bytes and not {}, within {uncertainty}", peak.bytes, expected.bytes);
    let sum: u64 = peak.heap.values().map(|amount| amount.1).sum();
    assert!(sum.abs_diff(peak.bytes) <= uncertainty, "{sum} of {}", peak.bytes);
    // It is what the heap was at some moment when it was nearly as large as ever.
    let near = truth.heaps.iter().zip(&truth.past).map(|(heap, sums)| (distance(heap, &peak.heap), sums.0));
    let (apart, bytes) = near.min().unwrap_or_default();
    assert!(apart <= uncertainty, "{apart} bytes apart");
    assert!(bytes + uncertainty >= expected.bytes, "at {bytes} bytes of {}", expected.bytes);
    let ages = ages_of(profile);
    assert!(ages.keys().eq(truth.ages.keys()));
    for (key, expected) in &truth.ages {
        let (found, count) = (ages[key], expected.classes.iter().sum::<u64>());
        assert_eq!((found.temporary, found.classes.iter().sum::<u64>()), (expected.temporary, count));
        let behind = threads * batch / 1024 + 1;
        assert!(found.ages.abs_diff(expected.ages) <= count * behind, "{found:?} {expected:?}");
    }
}

#[test]
fn random_histories_of_threads() {
    let _engine = engine();
    for seed in 0..60 {
        renew();
        let mut random = Random(seed);
        let batch = [1u32, 1000, 16 * 1024, 64 * 1024][random.below(4) as usize];
        OPTIONS.peak_batch.store(batch, Ordering::Relaxed);
        let threads = 1 + random.below(5) as usize;
        let events = 500 + random.below(1500);
        let mut truth = Truth::default();
        truth.keep_heaps = true;
        println!("seed {seed}: {threads} threads, batches of {batch}, {events} events");
        let (objects, crew) = run(&mut random, threads, events, &mut truth);
        check(&profile(), &mut truth, threads as u64, batch.into());
        objects.iter().for_each(|alive| crew[0].worker.free(alive.made.object));
    }
}

/// Threads that really run at once: what can be known after all is that nothing is lost.
#[test]
fn threads_at_once() {
    let _engine = engine();
    const BYTES: u64 = 4 * 1000 * 1000;
    std::thread::scope(|scope| {
        for thread in 0..4 {
            scope.spawn(move || {
                let mut random = Random(thread);
                let held: Vec<_> = (0..1000).map(|_| allocate(thread as usize, 1000)).collect();
                for _ in 0..30_000 {
                    let size = random.below(2000) as usize;
                    release(allocate(4 + thread as usize, size).object);
                }
                held.iter().for_each(|made| release(made.object));
                mprof_core::thread::Thread::detach();
            });
        }
    });
    let profile = profile();
    let peak = peak_of(&profile);
    let uncertainty = uncertainty(&profile);
    assert!(peak.bytes + uncertainty >= BYTES / 4, "{}", peak.bytes);
    assert!(peak.bytes <= BYTES + 4 * 2000 + uncertainty, "{}", peak.bytes);
    let ages: u64 = ages_of(&profile).values().map(|ages| ages.classes.iter().sum::<u64>()).sum();
    assert_eq!(ages, 4 * 31_000);
    let temporary: u64 = ages_of(&profile).values().map(|ages| ages.temporary).sum();
    assert!((120_000..=120_004).contains(&temporary), "{temporary}");
}
