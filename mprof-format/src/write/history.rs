//! The writer of records about the course of time (see `history`).

use super::{NUMBERS, Sink, WriteError, Writer, Written};
use crate::entries::{SMALL_CATEGORIES, bin_number};
use crate::history::{AGE_CLASSES, Ages, Change, Growth, PeakTotals, Point, Rounding, SnapshotTotals};
use crate::kinds::{Category, LAST_BIN};
use crate::layout::Tag;
use crate::record::Record;
use crate::varint::{MAX_VARINT, zigzag};

/// What the open record's next entry is told after.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Last {
    /// Context of the last entry that has one.
    context: u32,
    /// Whether there is a point before, `Heads::point`.
    is_point: bool,
    /// Last bin, as [`bin_number`].
    bin: u64,
}

/// What is told at the beginning of each record, and what is to come.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Heads {
    pub(super) peak: Option<PeakTotals>,
    /// Snapshots written.
    snapshots: u32,
    /// The snapshot that changes are told of.
    changed: u32,
    /// The last point of the curve.
    point: Point,
    /// Lowest bin that rounding may be told of next, as [`bin_number`].
    next_bin: u64,
    /// Threads not looked at, if kept objects are classified.
    pub(super) unseen_threads: Option<u32>,
}

impl Heads {
    /// The numbers that a record begins with.
    pub(super) fn begin(&self, tag: Tag, record: &mut Record<'_>) {
        match (tag, self.peak) {
            (Tag::Peak, Some(peak)) => {
                for number in [peak.bytes, peak.objects, peak.number, peak.ns, peak.uncertainty] {
                    record.number(number);
                }
                record.number(peak.incomplete.into());
            }
            (Tag::Reachability, _) => record.number(self.unseen_threads.unwrap_or(0).into()),
            (Tag::Snapshots, _) => record.number(self.snapshots.into()),
            (Tag::Changes, _) => record.number(self.changed.into()),
            _ => {}
        }
    }
}

/// Longest entry of classes: a key, a mask, the counts, and a few numbers more.
const fn classes_bound(classes: usize) -> usize {
    (classes + 8) * MAX_VARINT
}

impl<S: Sink> Writer<'_, S> {
    /// Says what the peak was; once, before what was alive then.
    ///
    /// # Errors
    /// The sink's; `Invalid` the second time.
    pub fn peak(&mut self, totals: &PeakTotals) -> Written<(), S> {
        if self.heads.peak.replace(*totals).is_some() {
            return Err(WriteError::Invalid("there is one peak"));
        }
        self.room(Tag::Peak, NUMBERS)
    }

    /// Adds a point of the curve, by rising time.
    ///
    /// # Errors
    /// The sink's; `Invalid` where time, bytes or objects allocated are less than at the point before.
    pub fn point(&mut self, point: &Point) -> Written<(), S> {
        let before = &self.heads.point;
        if point.ns < before.ns || point.bytes < before.bytes || point.objects < before.objects {
            return Err(WriteError::Invalid("a point of the curve comes after the one before"));
        }
        self.room(Tag::Curve, NUMBERS)?;
        let before = if self.last.is_point { self.heads.point } else { Point::default() };
        self.numbers(&point.numbers_after(&before));
        self.last.is_point = true;
        self.heads.point = *point;
        Ok(())
    }

    /// Adds a snapshot and returns its id; ids count up from 0.
    ///
    /// # Errors
    /// The sink's.
    pub fn snapshot(&mut self, totals: &SnapshotTotals) -> Written<u32, S> {
        let next = super::next_id(self.heads.snapshots)?;
        self.room(Tag::Snapshots, NUMBERS)?;
        self.numbers(&[totals.ns, totals.live_bytes, totals.live_objects, totals.bytes, totals.objects]);
        Ok(core::mem::replace(&mut self.heads.snapshots, next))
    }

    /// Adds what has changed from the snapshot before to this one; by rising snapshot.
    ///
    /// # Errors
    /// The sink's; `Invalid` where the snapshot or the context is not written, or a later one's changes are.
    pub fn change(&mut self, snapshot: u32, change: &Change) -> Written<(), S> {
        if snapshot >= self.heads.snapshots || snapshot < self.heads.changed {
            return Err(WriteError::Invalid("changes come after their snapshot, in its order"));
        }
        self.known(change.context)?;
        if snapshot != self.heads.changed {
            self.flush()?;
            self.heads.changed = snapshot;
        }
        self.room(Tag::Changes, NUMBERS)?;
        self.key(change.context, change.category);
        self.numbers(&[zigzag(change.objects), zigzag(change.bytes)]);
        Ok(())
    }

    /// Adds how many allocations the freed objects of one context and category outlived.
    ///
    /// # Errors
    /// The sink's; `Invalid` where the context is not written yet.
    pub fn ages(&mut self, ages: &Ages) -> Written<(), S> {
        self.known(ages.context)?;
        self.room(Tag::Ages, classes_bound(AGE_CLASSES))?;
        self.key(ages.context, ages.category);
        self.record.number(mask(&ages.classes));
        self.counts(&ages.classes);
        self.record.number(ages.ages);
        Ok(())
    }

    /// Adds the reallocations whose results are of one context and category.
    ///
    /// # Errors
    /// As for [`Writer::ages`].
    pub fn growth(&mut self, growth: &Growth) -> Written<(), S> {
        self.known(growth.context)?;
        self.room(Tag::Growth, NUMBERS)?;
        self.key(growth.context, growth.category);
        self.numbers(&[growth.reallocations, growth.first, growth.moved, growth.copied_bytes]);
        self.numbers(&[growth.smallest, growth.largest]);
        Ok(())
    }

    /// Adds what the allocator adds to the objects of a bin, by rising size.
    ///
    /// # Errors
    /// As for [`Writer::bin`].
    pub fn rounding(&mut self, rounding: &Rounding) -> Written<(), S> {
        let number = bin_number(rounding.size);
        if number < self.heads.next_bin || rounding.size.is_some_and(|size| size > LAST_BIN) {
            return Err(WriteError::Invalid("the rounding of bins comes by rising size"));
        }
        self.room(Tag::Rounding, NUMBERS)?;
        self.numbers(&[number - self.last.bin, rounding.bytes]);
        self.last.bin = number;
        self.heads.next_bin = number + 1;
        Ok(())
    }

    pub(super) fn known(&self, context: u32) -> Written<(), S> {
        if context < self.counts.contexts {
            Ok(())
        } else {
            Err(WriteError::Invalid("what is told of a context comes after it"))
        }
    }

    /// A context and a category, in one number where the category is a small one.
    pub(super) fn key(&mut self, context: u32, category: Category) {
        let step = i64::from(context) - i64::from(self.last.context);
        self.last.context = context;
        let category = u64::from(category.index());
        self.record.number(zigzag(step) << 2 | category.min(SMALL_CATEGORIES));
        if category >= SMALL_CATEGORIES {
            self.record.number(category);
        }
    }

    pub(super) fn numbers(&mut self, numbers: &[u64]) {
        numbers.iter().for_each(|&number| self.record.number(number));
    }

    /// The counts of the classes that are not empty.
    fn counts(&mut self, classes: &[u64]) {
        classes.iter().filter(|count| **count > 0).for_each(|&count| self.record.number(count));
    }
}

/// Bit n: class n is not empty.
fn mask(classes: &[u64]) -> u64 {
    classes.iter().enumerate().fold(0, |mask, (number, &count)| mask | u64::from(count > 0) << number)
}
