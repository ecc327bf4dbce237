//! Records that belong to no heap: of events whose chain cannot be had, and of those of threads without a heap.

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use super::beside::{Kept, enters};
use super::tallies::{Tally, tally};
use super::{CHUNK, Count, FIRST_COLLECTED, Record, UNRECORDED};
use crate::ledger::{self, Epoch};
use crate::lifetimes::Recent;

/// Index, in the common chunk, of the first of the records for events whose chain cannot be had: one a category.
const UNKNOWN: usize = 2;
/// Categories of such events.
const CATEGORIES: usize = 12;

/// Number of the first record of [`COMMON`]: it takes a new number with each fork, so that objects from before
/// are known as inherited.
static COMMON_FIRST: AtomicU32 = AtomicU32::new(0);

/// Records that belong to no heap and are counted by all, atomically. It is not in the directory.
static COMMON: [Record; CHUNK] = [const {
    Record {
        allocs: Count::new(),
        bytes: Count::new(),
        frees: Count::new(),
        freed_bytes: Count::new(),
        lifetimes: Recent::new(),
    }
}; CHUNK];

/// For each of the records for events without a chain what it held at the peak, and the epoch that this is put aside
/// for.
static UNKNOWN_KEPT: [(Kept, AtomicU64); CATEGORIES] =
    [const { (Kept { objects: Count::new(), bytes: Count::new() }, AtomicU64::new(0)) }; CATEGORIES];

/// The record for events of a category without a chain puts aside what it holds, if it has not in this epoch.
fn enter_unknown(category: usize, epoch: Epoch) {
    let (record, (kept, last)) = (&COMMON[UNKNOWN + category], &UNKNOWN_KEPT[category]);
    if enters(last, epoch) {
        kept.objects.set(record.allocs().saturating_sub(record.frees.get()));
        kept.bytes.set(record.bytes.get().saturating_sub(record.freed_bytes.get()));
    }
}

/// The records for events without a chain, by category, for a dump.
pub fn unknown_tallies(peak: &ledger::Peak) -> impl Iterator<Item = Tally> {
    let epoch = peak.epoch;
    (0..CATEGORIES).map(move |category| {
        let tally = tally(&COMMON[UNKNOWN + category], None);
        let number = COMMON_FIRST.load(Ordering::Relaxed) + (UNKNOWN + category) as u32;
        let tally = Tally { number, category: category as u32, ..tally };
        if tally.category >= FIRST_COLLECTED {
            return tally;
        }
        let (kept, last) = &UNKNOWN_KEPT[category];
        let is_aside = epoch.is_some_and(|epoch| last.load(Ordering::Relaxed) == epoch.number());
        let (peak_objects, peak_bytes) = if is_aside {
            (kept.objects.get(), kept.bytes.get())
        } else {
            (tally.allocs.saturating_sub(tally.frees), tally.bytes.saturating_sub(tally.freed_bytes))
        };
        Tally { peak_objects, peak_bytes, ..tally }
    })
}

/// Books an allocation without a chain, in no thread's balance; returns its record's number.
#[cold]
pub fn allocate_unknown(category: u32, size: u64) -> u32 {
    let category = (category as usize).min(FIRST_COLLECTED as usize - 1);
    enter_unknown(category, ledger::book_allocation(size));
    let index = UNKNOWN + category;
    COMMON[index].allocs.add_shared(1);
    COMMON[index].bytes.add_shared(size);
    COMMON_FIRST.load(Ordering::Relaxed) + index as u32
}

/// Books objects without a chain, in a category that is not in the balance.
#[cold]
pub fn allocate_unknown_collected(category: u32, objects: u64, bytes: u64) {
    let record = &COMMON[UNKNOWN + (category as usize).min(CATEGORIES - 1)];
    record.allocs.add_shared(objects);
    record.bytes.add_shared(bytes);
}

/// Books the free of an object of a record that is in no heap's chunk. True if the object was allocated in this
/// process (not inherited from before a fork, not unrecorded).
#[cold]
pub fn free_common(number: u32, size: u64) -> bool {
    let index = number.wrapping_sub(COMMON_FIRST.load(Ordering::Relaxed)) as usize;
    if number == UNRECORDED || index >= CHUNK {
        return false;
    }
    let epoch = ledger::book_free(size);
    if let Some(category) = index.checked_sub(UNKNOWN).filter(|category| *category < CATEGORIES) {
        enter_unknown(category, epoch);
    }
    COMMON[index].frees.add_shared(1);
    COMMON[index].freed_bytes.add_shared(size);
    true
}

/// In a child after a fork: nothing that was recorded before is this process's. `first`: a new number for the first of
/// these records; without it (they have run out) inherited objects of the old one count as this process's.
pub(super) fn forget_all(first: Option<u32>) {
    for record in &COMMON[UNKNOWN..UNKNOWN + CATEGORIES] {
        for count in [&record.allocs, &record.bytes, &record.frees, &record.freed_bytes] {
            count.set(0);
        }
    }
    UNKNOWN_KEPT.iter().for_each(|(_, epoch)| epoch.store(0, Ordering::Relaxed));
    if let Some(first) = first {
        COMMON_FIRST.store(first, Ordering::Relaxed);
    }
}
