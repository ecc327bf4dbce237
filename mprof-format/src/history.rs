//! The heap in the course of time: what was alive at the peak and at other moments, how much at each time, how long
//! objects lived, and how they grew.

use crate::kinds::Category;

/// The heap at its peak: when there were the most bytes, until the first free after.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PeakTotals {
    /// Bytes alive.
    pub bytes: u64,
    /// Objects alive.
    pub objects: u64,
    /// How many allocations had been made.
    pub number: u64,
    /// When the first object was freed after it, or else the end; nanoseconds from the start of the recording.
    pub ns: u64,
    /// Bytes by which it can be off; 0 where only one thread allocated.
    pub uncertainty: u64,
    /// Some of what was alive could not be put aside for want of memory: the list of it is not complete.
    pub incomplete: bool,
}

/// What was alive at a moment of what was allocated at one context in one category.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Live {
    /// Context id.
    pub context: u32,
    /// Category of the objects.
    pub category: Category,
    /// Objects alive.
    pub objects: u64,
    /// Bytes alive.
    pub bytes: u64,
}

/// A point of the heap's curve.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Point {
    /// When, nanoseconds from the start of the recording. Never less than the point before.
    pub ns: u64,
    /// Bytes alive.
    pub live_bytes: u64,
    /// Objects alive.
    pub live_objects: u64,
    /// Most bytes alive at this and those points that are merged into it.
    pub most_bytes: u64,
    /// Bytes allocated so far. Never less than the point before.
    pub bytes: u64,
    /// Objects allocated so far. Never less than the point before.
    pub objects: u64,
}

impl Point {
    /// The numbers that tell a point after the one before.
    pub(crate) fn numbers_after(&self, last: &Point) -> [u64; 6] {
        use crate::varint::zigzag;
        [
            self.ns.saturating_sub(last.ns),
            zigzag(self.live_bytes.wrapping_sub(last.live_bytes) as i64),
            zigzag(self.live_objects.wrapping_sub(last.live_objects) as i64),
            self.most_bytes.wrapping_sub(self.live_bytes),
            self.bytes.saturating_sub(last.bytes),
            self.objects.saturating_sub(last.objects),
        ]
    }

    /// Bytes that points take in a file, without the records' own.
    pub fn length_of(points: impl Iterator<Item = Point>) -> usize {
        let mut last = Point::default();
        let mut length = 0;
        for point in points {
            let numbers = point.numbers_after(&last);
            length += numbers
                .iter()
                .map(|&number| crate::varint::Varint::new(number).as_bytes().len())
                .sum::<usize>();
            last = point;
        }
        length
    }
}

/// A moment at which it was looked what is alive.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SnapshotTotals {
    /// When, nanoseconds from the start of the recording.
    pub ns: u64,
    /// Bytes alive.
    pub live_bytes: u64,
    /// Objects alive.
    pub live_objects: u64,
    /// Bytes allocated so far.
    pub bytes: u64,
    /// Objects allocated so far.
    pub objects: u64,
}

/// What has changed from one snapshot to the next, or from nothing to the first, in what is alive of one context and
/// category.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Change {
    /// Context id.
    pub context: u32,
    /// Category of the objects.
    pub category: Category,
    /// More objects are alive.
    pub objects: i64,
    /// More bytes are alive.
    pub bytes: i64,
}

/// Classes of ages in KiB: 0, 1, 2–3, 4–7, …; the last holds 2²³ KiB (8 GiB) and more.
pub const LIFETIME_CLASSES: usize = 25;

/// How long the freed objects of one context and category lived, in KiB that the process allocated meanwhile (how
/// often a multiple of 1024 bytes was passed).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lifetime {
    /// Context id.
    pub context: u32,
    /// Category of the objects.
    pub category: Category,
    /// Objects by class of age.
    pub classes: [u64; LIFETIME_CLASSES],
    /// Objects freed before their thread allocated anything else.
    pub temporary: u64,
    /// Sum of the ages, KiB; 0 where all objects are of the first class.
    pub ages: u64,
    /// Bytes in the objects of the first class; 0 where there are none.
    pub young_bytes: u64,
}

impl Lifetime {
    /// The class of an age in KiB.
    pub const fn class_of(age: u64) -> usize {
        let class = (u64::BITS - age.leading_zeros()) as usize;
        if class < LIFETIME_CLASSES { class } else { LIFETIME_CLASSES - 1 }
    }

    /// Objects whose age is known.
    pub fn objects(&self) -> u64 {
        self.classes.iter().fold(0, |sum, class| sum.saturating_add(*class))
    }
}

/// Classes of ages in allocations: 0, 1, 2–3, 4–7, …; the last holds 2³¹ allocations and more.
pub const AGE_CLASSES: usize = 33;

/// How long the freed objects of one context and category lived, in allocations that the process made meanwhile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ages {
    /// Context id.
    pub context: u32,
    /// Category of the objects.
    pub category: Category,
    /// Objects by class of age.
    pub classes: [u64; AGE_CLASSES],
    /// Sum of the ages, allocations.
    pub ages: u64,
}

/// Reallocations whose results are of one context and category.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Growth {
    /// Context id.
    pub context: u32,
    /// Category of the objects that came of it.
    pub category: Category,
    /// Reallocations.
    pub reallocations: u64,
    /// Those of objects that no reallocation had made: so many objects began to change their size here.
    pub first: u64,
    /// Those after which the object lay elsewhere.
    pub moved: u64,
    /// Bytes copied by these at most: the smaller of both sizes.
    pub copied_bytes: u64,
    /// The smallest size before, bytes.
    pub smallest: u64,
    /// The largest size after, bytes.
    pub largest: u64,
}

/// What the allocator adds to the objects of a bin: usable size less the size asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Rounding {
    /// Size in bytes; `None` for the bin of all larger sizes.
    pub size: Option<u64>,
    /// Bytes added, over all objects allocated.
    pub bytes: u64,
}
