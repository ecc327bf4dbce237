//! The result: objects and bytes of each class, for each counter record.

use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicUsize, Ordering};

use mprof_format::reachability::{Amount, CLASSES};

use crate::records;
use crate::sys;

use super::Summary;
use super::marking::Class;

/// Amounts by class.
type Row = [Amount; CLASSES];

/// A row for each counter record; null: nothing was classified.
static TABLE: AtomicPtr<Row> = AtomicPtr::new(null_mut());
static LENGTH: AtomicUsize = AtomicUsize::new(0);
static UNSEEN_THREADS: AtomicU32 = AtomicU32::new(0);

/// Makes the table of (record, class, bytes) of each object, in place of an earlier one. `None` without memory.
pub(super) fn fill(summary: Summary, objects: impl Iterator<Item = (u32, Class, usize)>) -> Option<()> {
    let length = records::limit() as usize;
    let bytes = (length * size_of::<Row>()).next_multiple_of(sys::PAGE);
    // Only those pages of it take memory that have something on them.
    let table = sys::map(bytes)?.cast::<Row>();
    // SAFETY: fresh zeroed memory of that length, known to no one else; all zeros are valid rows.
    let rows = unsafe { core::slice::from_raw_parts_mut(table, length) };
    for (record, class, bytes) in objects {
        if let Some(row) = rows.get_mut(record as usize) {
            let amount = &mut row[class as usize];
            amount.objects += 1;
            amount.bytes += bytes as u64;
        }
    }
    LENGTH.store(length, Ordering::Relaxed);
    UNSEEN_THREADS.store(summary.unseen_threads, Ordering::Relaxed);
    TABLE.store(table, Ordering::Release);
    Some(())
}

/// What was found of a counter record's objects, by class; nothing where none were classified.
pub fn of_record(number: u32) -> Row {
    let table = TABLE.load(Ordering::Acquire);
    let index = number as usize;
    if table.is_null() || index >= LENGTH.load(Ordering::Relaxed) {
        return Row::default();
    }
    // SAFETY: the table is published whole, of this length or more, and never given back.
    unsafe { *table.add(index) }
}

/// What there is to say about the classification; `None`: objects were not classified.
pub fn summary() -> Option<Summary> {
    let is_known = !TABLE.load(Ordering::Acquire).is_null();
    is_known.then(|| Summary { unseen_threads: UNSEEN_THREADS.load(Ordering::Relaxed) })
}

/// Objects are not classified any more: time has gone on, or this is a child after a fork.
pub fn forget() {
    TABLE.store(null_mut(), Ordering::Relaxed);
}
