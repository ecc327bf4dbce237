//! Random histories of one thread's heap, booked twice: by the engine, and the plain way. What the profile says of the
//! peak, the curve and the lifetimes is exact.

mod support;

use mprof_format::model::Profile;
use support::history::{Character, Random, run};
use support::truth::{Alive, Sums, Truth, ages_of, peak_of};
use support::{SITES, allocate, engine, profile, release, renew};

fn check(profile: &Profile, truth: &mut Truth) {
    let totals = &profile.history.peak.as_ref().unwrap().totals;
    assert_eq!(totals.uncertainty, 0);
    assert!(totals.ns <= profile.process.elapsed_ns);
    assert_eq!(peak_of(profile), truth.peak());
    assert_eq!(ages_of(profile), truth.ages);
    check_curve(profile, &truth.past);
}

/// Each point of the curve is what was at some event, in the order of the events; the last one is the end.
fn check_curve(profile: &Profile, past: &[Sums]) {
    let curve = &profile.history.curve;
    let mut events = std::iter::once(&(0, 0, 0, 0)).chain(past);
    for point in curve {
        let sums = (point.live_bytes, point.live_objects, point.bytes, point.objects);
        let end = past.last().copied().unwrap_or_default();
        assert!(events.any(|event| *event == sums) || sums == end, "{point:?}");
        assert!(point.most_bytes >= point.live_bytes);
    }
    let (first, last) = (curve.first().unwrap(), curve.last().unwrap());
    assert_eq!((first.ns, first.objects), (0, 0));
    let end = past.last().copied().unwrap_or_default();
    assert_eq!((last.live_bytes, last.live_objects, last.bytes, last.objects), end);
    assert_eq!(last.ns, profile.process.elapsed_ns);
}

fn release_all(objects: Vec<Alive>) {
    objects.iter().for_each(|alive| release(alive.made.object));
}

#[test]
fn a_thousand_short_histories() {
    let _engine = engine();
    for seed in 0..1000 {
        renew();
        let mut random = Random(seed);
        let mut truth = Truth::default();
        let character = Character::random(&mut random);
        let events = random.below(400);
        let objects = run(&mut random, character, events, &mut truth);
        let profile = profile();
        println!("seed {seed}: {character:?}, {events} events");
        check(&profile, &mut truth);
        release_all(objects);
    }
}

#[test]
fn a_history_looked_at_again_and_again() {
    let _engine = engine();
    let mut random = Random(1);
    let mut truth = Truth::default();
    let mut objects = Vec::new();
    for part in 0..60 {
        let character = Character::random(&mut random);
        objects.extend(run(&mut random, character, 200, &mut truth));
        println!("part {part}");
        check(&profile(), &mut truth);
    }
    release_all(objects);
}

/// Makes an epoch: a new maximum, and a free after it. One object more is alive then.
fn epoch(truth: &mut Truth, objects: &mut Vec<Alive>, sites: [usize; 2]) {
    for site in sites {
        objects.push(truth.allocate(allocate(site, 1), 1));
    }
    let last = objects.pop().unwrap();
    truth.free(last);
    release(last.made.object);
}

/// Marks of epochs are used anew after 32 768 of them. What was put aside then must not be taken for what it was now.
#[test]
fn more_epochs_than_marks() {
    let _engine = engine();
    let mut truth = Truth::default();
    let mut objects = Vec::new();
    let mut random = Random(3);
    for number in 1..=70_000u64 {
        let mut sites = [random.below(4) as usize, random.below(6) as usize];
        if number % 10_000 == 5 {
            sites = [6, 7];
        }
        epoch(&mut truth, &mut objects, sites);
        // Just before, at, and just after the use of the first marks anew.
        if number % 32_768 < 3 || number % 32_768 > 32_765 || number % 32_768 == 5 {
            let profile = profile();
            assert_eq!(peak_of(&profile), truth.peak(), "{number}");
        }
    }
    let profile = profile();
    check(&profile, &mut truth);
    assert!(profile.history.curve.len() <= 1538);
    release_all(objects);
}

/// A record that was put aside in one epoch and not touched for exactly a round of marks.
#[test]
fn a_record_untouched_for_a_round_of_marks() {
    let _engine = engine();
    let mut truth = Truth::default();
    let mut objects = Vec::new();
    for _ in 0..10 {
        epoch(&mut truth, &mut objects, [0, 1]);
    }
    // Site 2 puts aside what it holds, and holds more from then on.
    epoch(&mut truth, &mut objects, [2, 2]);
    objects.push(truth.allocate(allocate(2, 0), 0));
    for _ in 0..32_768 {
        epoch(&mut truth, &mut objects, [0, 1]);
    }
    assert_eq!(peak_of(&profile()), truth.peak());
    release_all(objects);
}

/// A long run: the points are as few as in a short one, and the file's part for them is not larger.
#[test]
fn a_curve_of_bounded_length() {
    let _engine = engine();
    let mut truth = Truth::default();
    let mut random = Random(5);
    let mut objects = Vec::new();
    for _ in 0..400 {
        let character = Character { largest: 1 << 20, frees: [45, 55], reallocations: 0, turn: 100 };
        objects.extend(run(&mut random, character, 500, &mut truth));
        if objects.len() > 1000 {
            for alive in objects.drain(..) {
                truth.free(alive);
                release(alive.made.object);
            }
        }
    }
    let profile = profile();
    check(&profile, &mut truth);
    let curve = &profile.history.curve;
    assert!((500..=1538).contains(&curve.len()), "{} points", curve.len());
    let length = mprof_format::model::Point::length_of(curve.iter().copied());
    assert!(length <= 24 * 1024, "{length} bytes");
    // The points are spread evenly over what was allocated.
    let total = curve.last().unwrap().bytes;
    let widest = curve.windows(2).map(|pair| pair[1].bytes - pair[0].bytes).max().unwrap();
    assert!(widest < total / 100, "{widest} of {total}");
    // No more than a step's allocations are missing from the maximum.
    let most = curve.iter().map(|point| point.most_bytes).max().unwrap();
    let peak = truth.peak().bytes;
    assert!(most <= peak && most + 2 * total / 500 >= peak, "{most} of {peak}");
    release_all(objects);
}

#[test]
fn sites_are_told_apart() {
    let _engine = engine();
    let made: Vec<_> = (0..SITES).map(|site| allocate(site, 100)).collect();
    let mut sites: Vec<usize> = made.iter().map(|made| made.site).collect();
    sites.sort();
    sites.dedup();
    assert_eq!(sites.len(), SITES);
    assert_eq!(peak_of(&profile()).heap.len(), SITES);
    made.iter().for_each(|made| release(made.object));
}
