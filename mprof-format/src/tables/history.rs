//! The tables about the course of time (see `history`).

use super::{Tables, first_id};
use crate::entries::{SMALL_CATEGORIES, bin_number};
use crate::error::Damage;
use crate::history::{
    AGE_CLASSES, Ages, Change, Growth, LIFETIME_CLASSES, Lifetime, Live, PeakTotals, Point, Rounding,
    SnapshotTotals,
};
use crate::input::Input;
use crate::kinds::{Category, LAST_BIN};
use crate::model::{History, Peak, Snapshot};
use crate::varint::unzigzag;

impl Tables {
    pub(super) fn peak(&mut self, input: &mut Input<'_>) -> Result<(), Damage> {
        let start = input.clone();
        let totals = PeakTotals {
            bytes: input.number("bytes at the peak")?,
            objects: input.number("objects at the peak")?,
            number: input.number("allocations before the peak")?,
            ns: input.number("time of the peak")?,
            uncertainty: input.number("uncertainty of the peak")?,
            incomplete: input.number("mark of an incomplete peak")? != 0,
        };
        match &self.profile.history.peak {
            Some(peak) if peak.totals != totals => {
                return Err(start.damage("the peak as told before expected"));
            }
            Some(_) => {}
            None => self.profile.history.peak = Some(Peak { totals, live: Vec::new() }),
        }
        let mut last = 0;
        while !input.is_empty() {
            let (context, category) = self.key(input, &mut last)?;
            let (objects, bytes) = (input.number("objects alive")?, input.number("bytes alive")?);
            let peak = self.profile.history.peak.get_or_insert_default();
            peak.live.push(Live { context, category, objects, bytes });
        }
        Ok(())
    }

    pub(super) fn curve(&mut self, input: &mut Input<'_>) -> Result<(), Damage> {
        let mut last = Point::default();
        while !input.is_empty() {
            let start = input.clone();
            let mut rise = |last: u64, what: &'static str| {
                let start = input.clone();
                let sum = last.checked_add(input.number(what)?);
                sum.ok_or_else(|| start.damage(format!("{what} is too large")))
            };
            let ns = rise(last.ns, "time of a point")?;
            let live_bytes = last.live_bytes.wrapping_add(unzigzag(rise(0, "live bytes")?) as u64);
            let live_objects = last.live_objects.wrapping_add(unzigzag(rise(0, "live objects")?) as u64);
            let most_bytes = live_bytes.wrapping_add(rise(0, "most bytes")?);
            let bytes = rise(last.bytes, "bytes allocated")?;
            let objects = rise(last.objects, "objects allocated")?;
            last = Point { ns, live_bytes, live_objects, most_bytes, bytes, objects };
            let curve = &mut self.profile.history.curve;
            if curve.last().is_some_and(|before| {
                last.ns < before.ns || last.bytes < before.bytes || last.objects < before.objects
            }) {
                return Err(start.damage("a point of the curve after the one before expected"));
            }
            curve.push(last);
        }
        Ok(())
    }

    pub(super) fn snapshots(&mut self, input: &mut Input<'_>) -> Result<(), Damage> {
        first_id(input, self.profile.history.snapshots.len())?;
        while !input.is_empty() {
            let totals = SnapshotTotals {
                ns: input.number("time of a snapshot")?,
                live_bytes: input.number("live bytes")?,
                live_objects: input.number("live objects")?,
                bytes: input.number("bytes allocated")?,
                objects: input.number("objects allocated")?,
            };
            super::push(
                &mut self.profile.history.snapshots,
                Snapshot { totals, changes: Vec::new() },
                input,
            )?;
        }
        Ok(())
    }

    pub(super) fn changes(&mut self, input: &mut Input<'_>) -> Result<(), Damage> {
        let start = input.clone();
        let snapshot = input.id(self.profile.history.snapshots.len(), "snapshot")? as usize;
        if snapshot < self.changed {
            return Err(start.damage("changes in the order of their snapshots expected"));
        }
        self.changed = snapshot;
        let mut last = 0;
        while !input.is_empty() {
            let (context, category) = self.key(input, &mut last)?;
            let objects = unzigzag(input.number("objects alive")?);
            let bytes = unzigzag(input.number("bytes alive")?);
            let change = Change { context, category, objects, bytes };
            self.profile.history.snapshots[snapshot].changes.push(change);
        }
        Ok(())
    }

    pub(super) fn lifetimes(&mut self, input: &mut Input<'_>) -> Result<(), Damage> {
        let mut last = 0;
        while !input.is_empty() {
            let (context, category) = self.key(input, &mut last)?;
            let start = input.clone();
            let head = input.number("ages")?;
            let mut lifetime = Lifetime {
                context,
                category,
                classes: [0; LIFETIME_CLASSES],
                temporary: 0,
                ages: 0,
                young_bytes: 0,
            };
            if head & 1 == 1 {
                (lifetime.ages, lifetime.temporary) = (head >> 2, head >> 1 & 1);
                lifetime.classes[Lifetime::class_of(lifetime.ages)] = 1;
            } else {
                classes(input, &start, head >> 3, &mut lifetime.classes)?;
                lifetime.temporary = match head >> 1 & 3 {
                    0 => 0,
                    1 => lifetime.classes[0],
                    _ => input.number("temporary objects")?,
                };
                if lifetime.classes[1..].iter().any(|count| *count > 0) {
                    lifetime.ages = input.number("sum of ages")?;
                }
            }
            if lifetime.classes[0] > 0 {
                lifetime.young_bytes = input.number("bytes that died young")?;
            }
            self.profile.history.lifetimes.push(lifetime);
        }
        Ok(())
    }

    pub(super) fn ages(&mut self, input: &mut Input<'_>) -> Result<(), Damage> {
        let mut last = 0;
        while !input.is_empty() {
            let (context, category) = self.key(input, &mut last)?;
            let start = input.clone();
            let mask = input.number("ages")?;
            let mut ages = Ages { context, category, classes: [0; AGE_CLASSES], ages: 0 };
            classes(input, &start, mask, &mut ages.classes)?;
            ages.ages = input.number("sum of ages")?;
            self.profile.history.ages.push(ages);
        }
        Ok(())
    }

    pub(super) fn growth(&mut self, input: &mut Input<'_>) -> Result<(), Damage> {
        let mut last = 0;
        while !input.is_empty() {
            let (context, category) = self.key(input, &mut last)?;
            let growth = Growth {
                context,
                category,
                reallocations: input.number("reallocations")?,
                first: input.number("first reallocations")?,
                moved: input.number("reallocations that moved")?,
                copied_bytes: input.number("bytes copied")?,
                smallest: input.number("smallest size")?,
                largest: input.number("largest size")?,
            };
            self.profile.history.growth.push(growth);
        }
        Ok(())
    }

    pub(super) fn rounding(&mut self, input: &mut Input<'_>) -> Result<(), Damage> {
        let mut next = self.profile.history.rounding.last().map_or(0, |last| bin_number(last.size) + 1);
        let mut number = 0u64;
        while !input.is_empty() {
            let start = input.clone();
            number = number.saturating_add(input.number("size")?);
            if number < next || number > bin_number(None) {
                return Err(start.damage("a larger bin expected, up to the one for the largest objects"));
            }
            let size = (number <= LAST_BIN).then_some(number);
            let bytes = input.number("bytes added")?;
            self.profile.history.rounding.push(Rounding { size, bytes });
            next = number + 1;
        }
        Ok(())
    }

    /// A context that is there, and a category.
    pub(super) fn key(&self, input: &mut Input<'_>, last: &mut u64) -> Result<(u32, Category), Damage> {
        let start = input.clone();
        let head = input.number("context")?;
        *last = last.wrapping_add(unzigzag(head >> 2) as u64);
        let context = start.check_id(*last, self.profile.contexts.len(), "context")?;
        let category = match head & 3 {
            SMALL_CATEGORIES => input.number_to("category")?,
            small => small as u8,
        };
        Ok((context, Category::from_index(category)))
    }
}

/// Reads the counts of the classes in `mask`.
fn classes(input: &mut Input<'_>, start: &Input<'_>, mask: u64, classes: &mut [u64]) -> Result<(), Damage> {
    if mask >> classes.len() != 0 {
        return Err(start.damage("fewer classes of ages expected"));
    }
    for (number, class) in classes.iter_mut().enumerate() {
        if mask >> number & 1 == 1 {
            *class = input.number("objects of an age")?;
        }
    }
    Ok(())
}

/// Brings the lists in order and sums what is told twice.
pub(super) fn merge(history: &mut History) {
    if let Some(peak) = &mut history.peak {
        join(
            &mut peak.live,
            |live| (live.context, live.category),
            |sum, next| {
                sum.objects = sum.objects.saturating_add(next.objects);
                sum.bytes = sum.bytes.saturating_add(next.bytes);
            },
        );
    }
    for snapshot in &mut history.snapshots {
        join(
            &mut snapshot.changes,
            |change| (change.context, change.category),
            |sum, next| {
                sum.objects = sum.objects.saturating_add(next.objects);
                sum.bytes = sum.bytes.saturating_add(next.bytes);
            },
        );
    }
    join(
        &mut history.lifetimes,
        |entry| (entry.context, entry.category),
        |sum, next| {
            add(&mut sum.classes, &next.classes);
            sum.temporary = sum.temporary.saturating_add(next.temporary);
            sum.ages = sum.ages.saturating_add(next.ages);
            sum.young_bytes = sum.young_bytes.saturating_add(next.young_bytes);
        },
    );
    join(
        &mut history.ages,
        |entry| (entry.context, entry.category),
        |sum, next| {
            add(&mut sum.classes, &next.classes);
            sum.ages = sum.ages.saturating_add(next.ages);
        },
    );
    join(
        &mut history.growth,
        |entry| (entry.context, entry.category),
        |sum, next| {
            sum.reallocations = sum.reallocations.saturating_add(next.reallocations);
            sum.first = sum.first.saturating_add(next.first);
            sum.moved = sum.moved.saturating_add(next.moved);
            sum.copied_bytes = sum.copied_bytes.saturating_add(next.copied_bytes);
            sum.smallest = sum.smallest.min(next.smallest);
            sum.largest = sum.largest.max(next.largest);
        },
    );
}

fn add(sums: &mut [u64], parts: &[u64]) {
    for (sum, part) in sums.iter_mut().zip(parts) {
        *sum = sum.saturating_add(*part);
    }
}

/// Sorts a list by key, and sums entries of one key.
pub(super) fn join<T>(list: &mut Vec<T>, key: impl Fn(&T) -> (u32, Category), sum: impl Fn(&mut T, &T)) {
    if list.is_sorted_by(|a, b| key(a) < key(b)) {
        return;
    }
    list.sort_by_key(&key);
    list.dedup_by(|next, first| {
        let same = key(next) == key(first);
        if same {
            sum(first, next);
        }
        same
    });
}
