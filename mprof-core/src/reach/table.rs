//! The result: objects and bytes of each class, for each counter record.

use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use crate::records;
use crate::sys;

use super::marking::Class;

/// Objects and their bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Amount {
    /// Number of objects.
    pub objects: u64,
    /// Bytes, as asked for.
    pub bytes: u64,
}

/// Amounts by class.
type Row = [Amount; 4];

/// A row for each counter record; null: nothing was classified.
static TABLE: AtomicPtr<Row> = AtomicPtr::new(null_mut());
static LENGTH: AtomicUsize = AtomicUsize::new(0);

/// Makes the table of (record, class, bytes) of each object, in place of an earlier one. `None` without memory.
pub(super) fn fill(objects: impl Iterator<Item = (u32, Class, usize)>) -> Option<()> {
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
    TABLE.store(table, Ordering::Release);
    Some(())
}

/// What was found of a counter record's objects, by class; `None` where nothing was classified.
pub fn of_record(number: u32) -> Option<Row> {
    let table = TABLE.load(Ordering::Acquire);
    if table.is_null() {
        return None;
    }
    let index = number as usize;
    // SAFETY: the table is published whole, of this length or more, and never given back.
    Some(if index < LENGTH.load(Ordering::Relaxed) { unsafe { *table.add(index) } } else { Row::default() })
}

/// Whether objects were classified.
pub fn is_known() -> bool {
    !TABLE.load(Ordering::Acquire).is_null()
}

/// In a child after a fork: nothing is known of its objects.
pub fn forget() {
    TABLE.store(null_mut(), Ordering::Relaxed);
}
