//! How single fields become numbers, for both directions.

use crate::kinds::LAST_BIN;

/// An id that may be missing: 0, or one more than the id.
pub(crate) fn optional(id: Option<u32>) -> u64 {
    id.map_or(0, |id| u64::from(id) + 1)
}

/// What became of a counter's objects; the low two bits of the second number of counters that are not packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Life {
    /// All were freed.
    None = 0,
    /// None was freed.
    All = 1,
    /// The counts of the kept ones follow.
    Some = 2,
}

/// Categories below this number are told together with a context; this one says that the category follows.
pub(crate) const SMALL_CATEGORIES: u64 = 3;

/// Number of a bin in the file, by rising size.
pub(crate) const fn bin_number(size: Option<u64>) -> u64 {
    match size {
        Some(size) => size,
        None => LAST_BIN + 1,
    }
}

/// The bytes allocated and freed in a bin of one size; `None` where sizes differ or the bytes exceed a u64.
pub(crate) fn bin_bytes(size: Option<u64>, allocs: u64, frees: u64) -> Option<(u64, u64)> {
    let size = size?;
    Some((size.checked_mul(allocs)?, size.checked_mul(frees)?))
}
