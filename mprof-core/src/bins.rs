//! Allocations and frees by size: one bin for each size from 0 to 1024 bytes, one for all larger (paper, 3.1).

use mprof_format::kinds::{Bin, LAST_BIN};

use crate::arena::Zeroable;
use crate::records::Count;

const BINS: usize = LAST_BIN as usize + 2;

/// A bin's two counts lie side by side: the free of an object touches the line that its allocation touched.
#[derive(Debug, Default)]
#[repr(C, align(16))]
struct Counts {
    allocs: Count,
    frees: Count,
}

/// The bins of one thread.
#[derive(Debug)]
#[repr(C)]
pub struct Bins {
    counts: [Counts; BINS],
    large_bytes: Count,
    large_freed_bytes: Count,
}

// SAFETY: integers.
unsafe impl Zeroable for Bins {}

impl Default for Bins {
    fn default() -> Self {
        Bins::new()
    }
}

impl Bins {
    /// Empty bins.
    pub const fn new() -> Bins {
        Bins {
            counts: [const { Counts { allocs: Count::new(), frees: Count::new() } }; BINS],
            large_bytes: Count::new(),
            large_freed_bytes: Count::new(),
        }
    }

    /// The counts for a size, and whether it is one of the larger ones, which have one bin.
    #[inline(always)]
    fn counts(&self, size: usize) -> (&Counts, bool) {
        match self.counts.get(size) {
            Some(counts) if size < BINS - 1 => (counts, false),
            _ => (&self.counts[BINS - 1], true),
        }
    }

    /// Counts an allocation, as the bins' own thread.
    #[inline(always)]
    pub fn allocate(&self, size: usize) {
        let (counts, is_large) = self.counts(size);
        counts.allocs.add_owned(1);
        if is_large {
            self.large_bytes.add_owned(size as u64);
        }
    }

    /// Counts a free, as the bins' own thread.
    #[inline(always)]
    pub fn free(&self, size: usize) {
        let (counts, is_large) = self.counts(size);
        counts.frees.add_owned(1);
        if is_large {
            self.large_freed_bytes.add_owned(size as u64);
        }
    }

    /// Counts an allocation, from any thread.
    pub fn allocate_shared(&self, size: usize) {
        let (counts, is_large) = self.counts(size);
        counts.allocs.add_shared(1);
        if is_large {
            self.large_bytes.add_shared(size as u64);
        }
    }

    /// Counts a free, from any thread.
    pub fn free_shared(&self, size: usize) {
        let (counts, is_large) = self.counts(size);
        counts.frees.add_shared(1);
        if is_large {
            self.large_freed_bytes.add_shared(size as u64);
        }
    }

    /// Sets all counts to 0. Only while nothing counts.
    pub fn clear(&self) {
        for counts in &self.counts {
            counts.allocs.set(0);
            counts.frees.set(0);
        }
        self.large_bytes.set(0);
        self.large_freed_bytes.set(0);
    }
}

/// The sums of several threads' bins for one size; `index` runs from 0 to [`LAST_BIN`]` + 1`, which stands for all
/// larger sizes. Frees are read before allocations.
pub fn sum<'a>(index: usize, bins: impl Iterator<Item = &'a Bins>) -> Bin {
    let size = (index as u64 <= LAST_BIN).then_some(index as u64);
    let mut sum = Bin { size, ..Bin::default() };
    for bins in bins {
        sum.frees += bins.counts[index].frees.get();
        sum.freed_bytes += bins.large_freed_bytes.get();
        sum.allocs += bins.counts[index].allocs.get();
        sum.bytes += bins.large_bytes.get();
    }
    if let Some(size) = size {
        sum.bytes = sum.allocs * size;
        sum.freed_bytes = sum.frees * size;
    }
    sum
}

/// Bins that [`sum`] knows.
pub const COUNT: usize = BINS;
