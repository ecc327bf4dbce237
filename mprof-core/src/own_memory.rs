//! Which mappings are the monitor's own: whoever looks at the program's memory must know.
//!
//! A list that only grows at its end, in blocks straight from the kernel; noting a mapping is one atomic addition,
//! safe wherever the arena is.

use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use crate::sys;

/// A mapping: start and length, bytes. All zeros: none (any more).
#[derive(Debug)]
struct Entry {
    start: AtomicUsize,
    length: AtomicUsize,
}

const ENTRIES: usize = (sys::PAGE - 16) / size_of::<Entry>();

/// Part of the list.
#[derive(Debug)]
struct Block {
    /// Entries given out; over `ENTRIES` when it is full.
    used: AtomicUsize,
    /// The part that was made before this one.
    before: AtomicPtr<Block>,
    entries: [Entry; ENTRIES],
}

const _: () = assert!(size_of::<Block>() <= sys::PAGE);

static FIRST: Block = Block {
    used: AtomicUsize::new(0),
    before: AtomicPtr::new(null_mut()),
    entries: [const { Entry { start: AtomicUsize::new(0), length: AtomicUsize::new(0) } }; ENTRIES],
};

/// The latest part; null: the first.
static LATEST: AtomicPtr<Block> = AtomicPtr::new(null_mut());

fn block(block: *mut Block) -> &'static Block {
    // SAFETY: blocks are published whole and never unmapped.
    unsafe { block.as_ref() }.unwrap_or(&FIRST)
}

/// Notes a mapping of our own.
pub(crate) fn note(start: usize, length: usize) {
    loop {
        let latest = LATEST.load(Ordering::Acquire);
        let index = block(latest).used.fetch_add(1, Ordering::Relaxed);
        if let Some(entry) = block(latest).entries.get(index) {
            entry.length.store(length, Ordering::Relaxed);
            entry.start.store(start, Ordering::Release);
            return;
        }
        let Some(fresh) = sys::map_unnoted(sys::PAGE) else { return };
        let fresh = fresh.cast::<Block>();
        // SAFETY: a fresh zeroed page, which a block fits, and which nobody else knows; zeros are an empty block.
        unsafe { (*fresh).before.store(latest, Ordering::Relaxed) };
        if LATEST.compare_exchange(latest, fresh, Ordering::AcqRel, Ordering::Acquire).is_ok() {
            note(fresh as usize, sys::PAGE);
        } else {
            // SAFETY: nobody else saw it.
            unsafe { sys::unmap_unnoted(fresh.cast(), sys::PAGE) };
        }
    }
}

/// Forgets a mapping that is about to be given back.
pub(crate) fn forget(start: usize) {
    if let Some(entry) = entries().find(|entry| entry.start.load(Ordering::Acquire) == start) {
        entry.start.store(0, Ordering::Release);
    }
}

fn entries() -> impl Iterator<Item = &'static Entry> {
    let mut next = Some(LATEST.load(Ordering::Acquire));
    let blocks = core::iter::from_fn(move || {
        let this = next?;
        next = (!this.is_null()).then(|| block(this).before.load(Ordering::Acquire));
        Some(block(this))
    });
    blocks.flat_map(|block| &block.entries[..block.used.load(Ordering::Acquire).min(ENTRIES)])
}

/// Start and length of each mapping of our own, in no order.
pub(crate) fn all() -> impl Iterator<Item = (usize, usize)> {
    entries().filter_map(|entry| {
        let start = entry.start.load(Ordering::Acquire);
        (start != 0).then(|| (start, entry.length.load(Ordering::Relaxed)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mappings_come_and_go() {
        let maps: alloc::vec::Vec<*mut u8> = (0..2 * ENTRIES).map(|_| sys::map(sys::PAGE).unwrap()).collect();
        let known = |map: *mut u8| all().filter(|&(start, _)| start == map as usize).count();
        assert!(maps.iter().all(|&map| known(map) == 1));
        for &map in &maps {
            // SAFETY: nothing uses it.
            unsafe { sys::unmap(map, sys::PAGE) };
        }
        // (Another test may have been given the same address since.)
        assert!(maps.iter().filter(|&&map| known(map) == 0).count() > maps.len() / 2);
    }
}
