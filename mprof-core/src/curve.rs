//! The heap over time, in at most [`POINTS`] points whatever the run's length: a point is drawn each time that so
//! many bytes were allocated or freed; when there are too many, neighbours are merged and the step doubles. A
//! point keeps the maximum of what it stands for, so peaks stay.

use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::ledger;

/// Points at most.
pub const POINTS: usize = 1536;
/// Bytes allocated or freed from one point to the next, at first.
const FIRST_STEP: u64 = 16 * 1024;

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

struct Curve(UnsafeCell<[Point; POINTS]>);

// SAFETY: used by the thread that has set `DRAWING` only.
unsafe impl Sync for Curve {}

static CURVE: Curve = Curve(UnsafeCell::new(
    [Point { time: 0, live_bytes: 0, live_objects: 0, bytes: 0, objects: 0, most_bytes: 0 }; POINTS],
));
/// Whether a thread draws.
static DRAWING: AtomicBool = AtomicBool::new(false);
/// Points drawn, bytes from one to the next, and bytes since the last.
static LENGTH: AtomicU64 = AtomicU64::new(0);
static STEP: AtomicU64 = AtomicU64::new(FIRST_STEP);
static SINCE: AtomicU64 = AtomicU64::new(0);

/// Bytes allocated or freed from one point to the next.
pub fn step() -> u64 {
    STEP.load(Ordering::Relaxed)
}

/// Notes that so many bytes were allocated or freed, and draws a point if one is due. Where another thread is
/// drawing, what this one did shows in the next point.
pub fn pass(bytes: u64) {
    let since = SINCE.fetch_add(bytes, Ordering::Relaxed) + bytes;
    if since < step() || DRAWING.swap(true, Ordering::Acquire) {
        return;
    }
    SINCE.store(0, Ordering::Relaxed);
    // SAFETY: this thread draws.
    draw(unsafe { &mut *CURVE.0.get() }, ledger::sums());
    DRAWING.store(false, Ordering::Release);
}

fn draw(points: &mut [Point; POINTS], sums: ledger::Sums) {
    let mut length = LENGTH.load(Ordering::Relaxed) as usize;
    if length == POINTS {
        merge_neighbours(points);
        length = POINTS / 2;
        STEP.store(step().saturating_mul(2), Ordering::Relaxed);
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

/// Merges each two points into the later one.
fn merge_neighbours(points: &mut [Point; POINTS]) {
    for index in 0..POINTS / 2 {
        let (first, second) = (points[2 * index], points[2 * index + 1]);
        points[index] = Point { most_bytes: first.most_bytes.max(second.most_bytes), ..second };
    }
}

/// The points, for a dump. No thread may be drawing.
pub fn points() -> &'static [Point] {
    let length = (LENGTH.load(Ordering::Acquire) as usize).min(POINTS);
    // SAFETY: as the caller sees to it, no thread draws.
    unsafe { &(&*CURVE.0.get())[..length] }
}

/// In a child after a fork: nothing has been drawn yet.
pub fn forget_all() {
    LENGTH.store(0, Ordering::Relaxed);
    STEP.store(FIRST_STEP, Ordering::Relaxed);
    SINCE.store(0, Ordering::Relaxed);
    DRAWING.store(false, Ordering::Relaxed);
}
