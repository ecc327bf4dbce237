//! The heap over time, in at most [`POINTS`] points whatever the run's length: a point is drawn each time that so
//! many bytes were allocated or freed. When there are too many, the step grows, and points that are nearer to each
//! other are made one. It keeps the maximum of what it stands for, so peaks stay.

use core::cell::UnsafeCell;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use crate::heap::Heap;
use crate::{ledger, snapshots, sys};

/// Points at most.
pub const POINTS: usize = 1536;
/// Bytes allocated or freed from one point to the next, at first.
pub const FIRST_STEP: u64 = 16 * 1024;

/// A point.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Point {
    /// Processor's time stamp.
    pub time: u64,
    /// Bytes alive.
    pub live_bytes: u64,
    /// Objects alive.
    pub live_objects: u64,
    /// Bytes allocated so far.
    pub bytes: u64,
    /// Objects allocated so far.
    pub objects: u64,
    /// Most bytes alive at this and the points that were merged into it.
    pub most_bytes: u64,
}

impl Point {
    /// Bytes allocated and freed so far.
    pub fn passed(&self) -> u64 {
        self.bytes.wrapping_mul(2).wrapping_sub(self.live_bytes)
    }
}

struct Curve(UnsafeCell<[Point; POINTS]>);

// SAFETY: used by the thread that has set `DRAWING` only.
unsafe impl Sync for Curve {}

static CURVE: Curve = Curve(UnsafeCell::new(
    [Point { time: 0, live_bytes: 0, live_objects: 0, bytes: 0, objects: 0, most_bytes: 0 }; POINTS],
));
/// The heap whose owner draws; null: none does.
static DRAWING: AtomicPtr<Heap> = AtomicPtr::new(null_mut());
/// How often all was forgotten.
static FORGOTTEN: AtomicU64 = AtomicU64::new(0);
/// Points drawn, bytes from one to the next, and bytes since the last.
static LENGTH: AtomicU64 = AtomicU64::new(0);
static STEP: AtomicU64 = AtomicU64::new(FIRST_STEP);
static SINCE: AtomicU64 = AtomicU64::new(0);

/// Bytes allocated or freed from one point to the next.
pub fn step() -> u64 {
    STEP.load(Ordering::Relaxed)
}

/// Notes that so many bytes were allocated or freed, and draws a point if one is due. Where another thread is
/// drawing, what this one did shows in the next point. By the owner of `heap`.
pub fn pass(heap: *const Heap, bytes: u64) {
    let since = SINCE.fetch_add(bytes, Ordering::Relaxed) + bytes;
    let begin =
        || DRAWING.compare_exchange(null_mut(), heap.cast_mut(), Ordering::Acquire, Ordering::Relaxed);
    if since < step() || begin().is_err() {
        return;
    }
    let forgotten = FORGOTTEN.load(Ordering::Relaxed);
    SINCE.store(0, Ordering::Relaxed);
    // SAFETY: this thread draws.
    let points = unsafe { &mut *CURVE.0.get() };
    let sums = ledger::sums();
    draw(points, sums);
    snapshots::draw(sums);
    if FORGOTTEN.load(Ordering::Relaxed) != forgotten {
        // A signal handler has forked in the midst of this: what was drawn is the parent's.
        forget_drawn(false);
    }
    DRAWING.store(null_mut(), Ordering::Release);
}

/// The owner of this heap has jumped out of what it was doing: it draws no more.
pub fn recover(heap: *const Heap) {
    let _ = DRAWING.compare_exchange(heap.cast_mut(), null_mut(), Ordering::Release, Ordering::Relaxed);
}

fn draw(points: &mut [Point; POINTS], sums: ledger::Sums) {
    let mut length = LENGTH.load(Ordering::Relaxed) as usize;
    if length == POINTS {
        let passed = points[POINTS - 1].passed();
        let step = (2 * step()).max(passed / (POINTS as u64 / 2) + 1);
        // A jump out of the midst of this would leave the same point twice.
        length = sys::with_signals_blocked(sys::ASYNCHRONOUS, 0, || thin_out(points, step));
        STEP.store(step, Ordering::Relaxed);
    }
    points[length] = Point {
        time: ledger::time_stamp(),
        live_bytes: sums.live_bytes.max(0) as u64,
        live_objects: sums.live_objects.max(0) as u64,
        bytes: sums.bytes,
        objects: sums.objects,
        most_bytes: sums.live_bytes.max(0) as u64,
    };
    LENGTH.store(length as u64 + 1, Ordering::Release);
}

/// Merges points so that those left are a step apart, but for the last; returns how many they are: no more than steps
/// have passed, and one.
fn thin_out(points: &mut [Point], step: u64) -> usize {
    let (mut kept, mut passed, mut most_bytes) = (0, 0, 0);
    for index in 0..points.len() {
        let point = points[index];
        most_bytes = point.most_bytes.max(most_bytes);
        if point.passed().saturating_sub(passed) >= step || index == points.len() - 1 {
            points[kept] = Point { most_bytes, ..point };
            (kept, passed, most_bytes) = (kept + 1, point.passed(), 0);
        }
    }
    kept
}

/// The points, for a dump. No thread may be drawing.
pub fn points() -> &'static [Point] {
    let length = (LENGTH.load(Ordering::Acquire) as usize).min(POINTS);
    // SAFETY: as the caller sees to it, no thread draws.
    unsafe { &(&*CURVE.0.get())[..length] }
}

/// In a child after a fork: nothing has been drawn yet.
pub fn forget_all() {
    FORGOTTEN.fetch_add(1, Ordering::Relaxed);
    // Who draws may be the hook that this has come between: it still has the snapshots in hand.
    let draws = DRAWING.swap(null_mut(), Ordering::Relaxed);
    forget_drawn(draws.is_null());
}

fn forget_drawn(gives_back: bool) {
    LENGTH.store(0, Ordering::Relaxed);
    STEP.store(FIRST_STEP, Ordering::Relaxed);
    SINCE.store(0, Ordering::Relaxed);
    snapshots::forget_all(gives_back);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_that_are_merged_keep_the_maximum() {
        let point =
            |bytes, live_bytes| Point { bytes, live_bytes, most_bytes: live_bytes, ..Point::default() };
        // 20, 60, 80, 100, 180 and 200 bytes have passed.
        let mut points =
            [point(20, 20), point(50, 40), point(50, 20), point(65, 30), point(120, 60), point(125, 50)];
        assert_eq!(thin_out(&mut points, 60), 3);
        let left = points.map(|point| (point.passed(), point.most_bytes));
        assert_eq!(left[..3], [(60, 40), (180, 60), (200, 50)]);
    }
}
