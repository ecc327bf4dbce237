//! What lies beside the records of a chunk: parts that are made when the first of its records needs them.

use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, AtomicU16, AtomicU32, AtomicU64, Ordering};

use super::{CHUNK, Count};
use crate::arena::{Zeroable, new_zeroed};
use crate::ledger::{self, Epoch};
use crate::lifetimes::{Ages, Lifetimes};
use crate::watch::Growth;

/// What others freed of a record's objects.
#[derive(Debug, Default)]
pub(super) struct Remote {
    pub(super) frees: Count,
    pub(super) freed_bytes: Count,
    /// What these were at the beginning of the epoch in `epoch`.
    kept_frees: Count,
    kept_freed_bytes: Count,
    epoch: AtomicU64,
}

/// What a record held at the peak: objects and bytes that its owner had not freed.
#[derive(Debug, Default)]
pub(super) struct Kept {
    pub(super) objects: Count,
    pub(super) bytes: Count,
}

/// Whether a thread is the first to come to a part in this epoch, of which `last` is the number. What the part holds
/// is then to be put aside. (What others change meanwhile may be in it or not.)
pub(super) fn enters(last: &AtomicU64, epoch: Epoch) -> bool {
    let (before, number) = (last.load(Ordering::Relaxed), epoch.number());
    before < number && last.compare_exchange(before, number, Ordering::Relaxed, Ordering::Relaxed).is_ok()
}

impl Remote {
    /// Puts aside what it holds, if it has not in this epoch.
    pub(super) fn enter(&self, epoch: Epoch) {
        if enters(&self.epoch, epoch) {
            self.kept_frees.set(self.frees.get());
            self.kept_freed_bytes.set(self.freed_bytes.get());
        }
    }

    /// Objects and bytes freed at the peak.
    pub(super) fn at(&self, peak: &ledger::Peak) -> (u64, u64) {
        match peak.epoch {
            Some(epoch) if self.epoch.load(Ordering::Relaxed) == epoch.number() => {
                (self.kept_frees.get(), self.kept_freed_bytes.get())
            }
            _ => (self.frees.get(), self.freed_bytes.get()),
        }
    }
}

/// Something beside each record of a chunk, made when the first of them needs it.
pub(super) struct Beside<T>([T; CHUNK]);

// SAFETY: integers.
unsafe impl Zeroable for Beside<Remote> {}
// SAFETY: integers.
unsafe impl Zeroable for Beside<Kept> {}
// SAFETY: integers.
unsafe impl Zeroable for Beside<Ages> {}
// SAFETY: integers.
unsafe impl Zeroable for Beside<Growth> {}

/// The parts beside a chunk's records, made now if need be; `None` without memory.
pub(super) fn beside<T>(slot: &AtomicPtr<Beside<T>>) -> Option<&'static [T; CHUNK]>
where
    Beside<T>: Zeroable,
{
    made(slot).map(|parts| &parts.0)
}

/// What a slot refers to, made now if need be; `None` without memory.
fn made<T: Zeroable>(slot: &AtomicPtr<T>) -> Option<&'static T> {
    // SAFETY: such parts are published whole and never freed.
    match unsafe { slot.load(Ordering::Acquire).as_ref() } {
        Some(parts) => Some(parts),
        None => make(slot),
    }
}

/// Makes what a slot refers to, unless another thread just did; `None` without memory.
#[cold]
#[inline(never)]
fn make<T: Zeroable>(slot: &AtomicPtr<T>) -> Option<&'static T> {
    let fresh: *mut T = new_zeroed()?;
    let parts = match slot.compare_exchange(null_mut(), fresh, Ordering::AcqRel, Ordering::Acquire) {
        Ok(_) => fresh,
        Err(other) => other,
    };
    // SAFETY: as above.
    Some(unsafe { &*parts })
}

/// Parts that are large, and needed by few of a chunk's records: given out in the order in which they are first needed,
/// so that memory is touched for these alone.
pub(super) struct Sparse<T> {
    /// Parts given out.
    used: AtomicU32,
    /// For each record the number of its part; 0: none yet.
    places: [AtomicU16; CHUNK],
    /// Twice as many as there are records: where two threads need the same part at once, one goes to waste.
    parts: [T; 2 * CHUNK],
}

// SAFETY: integers.
unsafe impl Zeroable for Sparse<Lifetimes> {}

impl<T> Sparse<T> {
    /// The part of a record, given out now if need be.
    fn part(&self, index: usize) -> Option<&T> {
        match self.places[index].load(Ordering::Acquire) {
            0 => self.give(index),
            place => self.parts.get(usize::from(place) - 1),
        }
    }

    #[cold]
    fn give(&self, index: usize) -> Option<&T> {
        let next = self.used.fetch_add(1, Ordering::Relaxed) as usize + 1;
        let place = u16::try_from(next).ok().filter(|_| next <= self.parts.len())?;
        let place = match self.places[index].compare_exchange(0, place, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => place,
            Err(other) => other,
        };
        self.parts.get(usize::from(place) - 1)
    }
}

/// The part of a record, made now if need be; `None` without memory.
pub(super) fn sparse<T>(slot: &AtomicPtr<Sparse<T>>, index: usize) -> Option<&'static T>
where
    Sparse<T>: Zeroable,
{
    made(slot)?.part(index)
}

/// The part of a record, if it has one.
pub(super) fn existing_sparse<T>(slot: &AtomicPtr<Sparse<T>>, index: usize) -> Option<&'static T> {
    // SAFETY: such parts are published whole and never freed.
    let sparse = unsafe { slot.load(Ordering::Acquire).as_ref() }?;
    let place = sparse.places[index].load(Ordering::Acquire);
    sparse.parts.get(usize::from(place).checked_sub(1)?)
}

/// The part beside a record, if there is one.
pub(super) fn existing<T>(slot: &AtomicPtr<Beside<T>>, index: usize) -> Option<&'static T> {
    // SAFETY: such parts are published whole and never freed.
    unsafe { slot.load(Ordering::Acquire).as_ref() }.map(|parts| &parts.0[index])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_given_out_in_the_order_of_their_need() {
        let slot = AtomicPtr::new(null_mut::<Sparse<Lifetimes>>());
        assert!(existing_sparse(&slot, 7).is_none());
        let (seventh, last) = (sparse(&slot, 7).unwrap(), sparse(&slot, CHUNK - 1).unwrap());
        assert!(core::ptr::eq(seventh, sparse(&slot, 7).unwrap()));
        assert!(core::ptr::eq(last, existing_sparse(&slot, CHUNK - 1).unwrap()));
        assert!(existing_sparse(&slot, 8).is_none());
        assert_eq!(&raw const *last as usize - &raw const *seventh as usize, size_of::<Lifetimes>());
    }
}
