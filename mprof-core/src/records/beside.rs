//! What lies beside the records of a chunk: parts that are made when the first of its records needs them.

use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

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
unsafe impl Zeroable for Beside<Lifetimes> {}
// SAFETY: integers.
unsafe impl Zeroable for Beside<Ages> {}
// SAFETY: integers.
unsafe impl Zeroable for Beside<Growth> {}

/// The parts beside a chunk's records, made now if need be; `None` without memory.
pub(super) fn beside<T>(slot: &AtomicPtr<Beside<T>>) -> Option<&'static [T; CHUNK]>
where
    Beside<T>: Zeroable,
{
    // SAFETY: such parts are published whole and never freed.
    match unsafe { slot.load(Ordering::Acquire).as_ref() } {
        Some(parts) => Some(&parts.0),
        None => make(slot),
    }
}

/// Makes the parts beside a chunk's records, unless another thread just did; `None` without memory.
#[cold]
#[inline(never)]
fn make<T>(slot: &AtomicPtr<Beside<T>>) -> Option<&'static [T; CHUNK]>
where
    Beside<T>: Zeroable,
{
    let fresh: *mut Beside<T> = new_zeroed()?;
    let parts = match slot.compare_exchange(null_mut(), fresh, Ordering::AcqRel, Ordering::Acquire) {
        Ok(_) => fresh,
        Err(other) => other,
    };
    // SAFETY: as above.
    Some(unsafe { &(*parts).0 })
}

/// The part beside a record, if there is one.
pub(super) fn existing<T>(slot: &AtomicPtr<Beside<T>>, index: usize) -> Option<&'static T> {
    // SAFETY: such parts are published whole and never freed.
    unsafe { slot.load(Ordering::Acquire).as_ref() }.map(|parts| &parts.0[index])
}
