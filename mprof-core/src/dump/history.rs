//! The part of the profile about the course of time.

use mprof_format::history::{
    Ages, Change, Growth, Lifetime, Live, PeakTotals, Point, Rounding, SnapshotTotals,
};
use mprof_format::kinds::{Category, LAST_BIN};
use mprof_format::write::Sink;

use super::straight::Straight;
use super::{Dump, lenient};
use crate::ledger::{self, Peak};
use crate::records::{self, Chunk, Tally};
use crate::snapshots::{self, Alive};
use crate::{curve, lifetimes, process, watch};

/// Bytes that the curve takes in the file at most, its record's own among them.
const CURVE_LENGTH: usize = 24 * 1024;
/// A point of the curve is left out where none of its numbers is off the straight line by one part in so many of its
/// greatest: a screen would not show it.
const FINENESS: u64 = 400;

/// Turns the processor's time stamps into nanoseconds since the start of the recording, by two moments of which both
/// are known: that start, and now.
#[derive(Debug, Clone, Copy)]
pub(super) struct Clock {
    start: u64,
    now: u64,
    elapsed: u64,
}

impl Clock {
    pub(super) fn now() -> Clock {
        Clock { start: process::start_stamp(), now: ledger::time_stamp(), elapsed: process::elapsed() }
    }

    /// Nanoseconds from the start of the recording to now.
    pub(super) fn elapsed(&self) -> u64 {
        self.elapsed
    }

    fn nanoseconds(&self, stamp: u64) -> u64 {
        let length = self.now.saturating_sub(self.start).max(1);
        let passed = stamp.saturating_sub(self.start).min(length);
        (u128::from(passed) * u128::from(self.elapsed) / u128::from(length)) as u64
    }

    fn point(&self, point: &curve::Point) -> Point {
        let curve::Point { time, live_bytes, live_objects, bytes, objects, most_bytes } = *point;
        Point { ns: self.nanoseconds(time), live_bytes, live_objects, most_bytes, bytes, objects }
    }
}

impl<S: Sink> Dump<'_, S> {
    /// Says when the peak was. What was alive then follows, heap by heap.
    pub(super) fn peak(&mut self) -> Result<(), S::Error> {
        let Peak { bytes, objects, number, time, uncertainty, .. } = self.peak;
        let ns = self.clock.nanoseconds(time);
        let incomplete = records::is_peak_lost();
        lenient(self.writer.peak(&PeakTotals { bytes, objects, number, ns, uncertainty, incomplete }))
    }

    /// The ages of a chunk's freed objects in allocations, where these are watched.
    pub(super) fn ages(&mut self, chunk: &Chunk, id: impl Fn(u32) -> Option<u32>) -> Result<(), S::Error> {
        for (node, category, ages) in chunk.all_ages() {
            let (classes, sum) = ages.get();
            if let (Some(context), true) = (id(node), classes.iter().any(|count| *count > 0)) {
                let category = Category::from_index(category as u8);
                lenient(self.writer.ages(&Ages { context, category, classes, ages: sum }))?;
            }
        }
        Ok(())
    }

    /// The reallocations that made a chunk's objects, where these are watched.
    pub(super) fn growth(&mut self, chunk: &Chunk, id: impl Fn(u32) -> Option<u32>) -> Result<(), S::Error> {
        for (node, category, growth) in chunk.all_growth() {
            let [reallocations, first, moved, copied_bytes, smallest, largest] = growth.get();
            let Some(context) = id(node).filter(|_| reallocations > 0) else { continue };
            let category = Category::from_index(category as u8);
            lenient(self.writer.growth(&Growth {
                context,
                category,
                reallocations,
                first,
                moved,
                copied_bytes,
                smallest,
                largest,
            }))?;
        }
        Ok(())
    }

    /// What the allocator added, where it is watched.
    pub(super) fn rounding(&mut self) -> Result<(), S::Error> {
        for (bin, bytes) in watch::added().into_iter().flatten().enumerate() {
            let size = Some(bin as u64).filter(|size| *size <= LAST_BIN);
            if bytes > 0 {
                lenient(self.writer.rounding(&Rounding { size, bytes }))?;
            }
        }
        Ok(())
    }

    /// The snapshots, after all heaps: what each has that the one before had not.
    pub(super) fn snapshots(&mut self) -> Result<(), S::Error> {
        let clock = self.clock;
        let all = snapshots::all();
        let mut last = 0;
        for snapshot in all {
            let alive = |sum: (u64, u64), alive: &Alive| (sum.0 + alive.objects, sum.1 + alive.bytes);
            let (live_objects, live_bytes) = snapshot.alive().iter().fold((0, 0), alive);
            let ns = clock.nanoseconds(snapshot.time).max(last);
            last = ns;
            let (bytes, objects) = (snapshot.bytes, snapshot.objects);
            lenient(
                self.writer
                    .snapshot(&SnapshotTotals { ns, live_bytes, live_objects, bytes, objects })
                    .map(drop),
            )?;
        }
        let mut before: &[Alive] = &[];
        for (id, snapshot) in (0..).zip(all) {
            for (record, objects, bytes) in changes(before, snapshot.alive()) {
                let Some((context, category)) = records::written(record) else { continue };
                let category = Category::from_index(category as u8);
                if context < self.contexts {
                    lenient(self.writer.change(id, &Change { context, category, objects, bytes }))?;
                }
            }
            before = snapshot.alive();
        }
        Ok(())
    }

    /// The curve, from the start to now, with fewer points where it would take too much room.
    pub(super) fn curve(&mut self) -> Result<(), S::Error> {
        let sums = ledger::sums();
        let live_bytes = sums.live_bytes.max(0) as u64;
        let end = Point {
            ns: self.clock.elapsed(),
            live_bytes,
            live_objects: sums.live_objects.max(0) as u64,
            most_bytes: live_bytes,
            bytes: sums.bytes,
            objects: sums.objects,
        };
        let clock = self.clock;
        let points = |parts| {
            let drawn = curve::points();
            let most = |value: fn(&curve::Point) -> u64| drawn.iter().map(value).max().unwrap_or(0);
            let scale = curve::Point {
                time: clock.now.saturating_sub(clock.start),
                live_bytes: most(|point| point.most_bytes),
                live_objects: most(|point| point.live_objects),
                bytes: sums.bytes,
                objects: sums.objects,
                most_bytes: 0,
            };
            let start = curve::Point { time: clock.start, ..curve::Point::default() };
            let straight = Straight::new(start, drawn, scale, parts).map(move |point| clock.point(&point));
            rising(core::iter::once(Point::default()).chain(straight).chain(core::iter::once(end)))
        };
        let mut parts = FINENESS;
        while Point::length_of(points(parts)) + RECORD > CURVE_LENGTH && parts > 1 {
            parts /= 2;
        }
        points(parts).try_for_each(|point| lenient(self.writer.point(&point)))
    }
}

/// What was alive at the peak of one record's objects, if anything was.
pub(super) fn live(context: u32, category: Category, tally: &Tally) -> Option<Live> {
    let (objects, bytes) = (tally.peak_objects, tally.peak_bytes);
    (objects > 0).then_some(Live { context, category, objects, bytes })
}

/// How long the freed objects of one record lived, if that is known of any.
pub(super) fn lifetime(context: u32, category: Category, counts: &lifetimes::Lifetime) -> Option<Lifetime> {
    let lifetimes::Lifetime { classes, temporary, ages, young_bytes } = *counts;
    let is_any = classes.iter().any(|count| *count > 0);
    is_any.then_some(Lifetime { context, category, classes, temporary, ages, young_bytes })
}

/// What has changed from one snapshot to the next, by rising record: its number, objects and bytes more.
fn changes<'a>(before: &'a [Alive], after: &'a [Alive]) -> impl Iterator<Item = (u32, i64, i64)> + 'a {
    let (mut before, mut after) = (before.iter().peekable(), after.iter().peekable());
    let all = core::iter::from_fn(move || {
        let next = [before.peek(), after.peek()].into_iter().flatten().map(|alive| alive.record).min()?;
        let then =
            before.next_if(|alive| alive.record == next).map_or((0, 0), |alive| (alive.objects, alive.bytes));
        let now =
            after.next_if(|alive| alive.record == next).map_or((0, 0), |alive| (alive.objects, alive.bytes));
        let more = |now: u64, then: u64| now.wrapping_sub(then) as i64;
        Some((next, more(now.0, then.0), more(now.1, then.1)))
    });
    all.filter(|&(_, objects, bytes)| (objects, bytes) != (0, 0))
}

/// A record's own bytes.
const RECORD: usize = mprof_format::layout::RECORD_HEADER + mprof_format::layout::CRC;

/// The points with times and sums that do not fall: processors' clocks may differ a little, and another thread's counts
/// are seen later than its own.
fn rising(points: impl Iterator<Item = Point>) -> impl Iterator<Item = Point> {
    let mut last = Point::default();
    points.map(move |point| {
        last = Point {
            ns: point.ns.max(last.ns),
            bytes: point.bytes.max(last.bytes),
            objects: point.objects.max(last.objects),
            ..point
        };
        last
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_those_of_either() {
        let alive = |record, objects, bytes| Alive { record, objects, bytes };
        let before = [alive(1, 1, 10), alive(2, 5, 50), alive(4, 1, 8)];
        let after = [alive(2, 6, 40), alive(3, 2, 20), alive(4, 1, 8)];
        assert!(changes(&before, &after).eq([(1, -1, -10), (2, 1, -10), (3, 2, 20)]));
    }

    #[test]
    fn time_stamps_become_nanoseconds() {
        let clock = Clock { start: 1000, now: 4000, elapsed: 1500 };
        let times = [0, 1000, 1001, 2000, 4000, 9000].map(|stamp| clock.nanoseconds(stamp));
        assert_eq!(times, [0, 0, 0, 500, 1500, 1500]);
        let long = Clock { start: 0, now: u64::MAX, elapsed: u64::MAX / 2 };
        assert_eq!(long.nanoseconds(u64::MAX / 2), u64::MAX / 4);
    }

    #[test]
    fn points_rise() {
        let point = |ns, bytes| Point { ns, bytes, ..Point::default() };
        let fallen = [point(5, 50), point(4, 60), point(6, 40)];
        assert!(rising(fallen.into_iter()).eq([point(5, 50), point(5, 60), point(6, 60)]));
    }
}
