//! Whether events are recorded, since when, and how often the profile is to be written.
//!
//! All of this reaches a thread by bits of its heap's attention word, so that it costs nothing where it is not
//! asked for.
//!
//! A recording can be begun anew while threads run: nothing that was recorded is taken out of their hands, but the
//! *era* steps, what a heap holds counts no more, and its owner empties it with its next event.

use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering};

use crate::heap::{self, AUTOSAVE, NEW_ERA, STOPPED};
use crate::{ledger, process};

/// Whether nothing is recorded.
static IS_STOPPED: AtomicBool = AtomicBool::new(false);
/// Steps when the recording is begun anew.
static ERA: AtomicU32 = AtomicU32::new(0);
/// Allocations between one writing of the profile and the next; 0: it is written at the end only.
static EVERY: AtomicU64 = AtomicU64::new(0);
/// Allocations since the last writing.
static SINCE: AtomicU64 = AtomicU64::new(0);
/// Writes the profile; null where there is no one to do it.
static WRITE: AtomicPtr<()> = AtomicPtr::new(core::ptr::null_mut());

/// Whether nothing is recorded.
pub fn is_stopped() -> bool {
    IS_STOPPED.load(Ordering::Relaxed)
}

/// The era of the recording.
pub fn era() -> u32 {
    ERA.load(Ordering::Acquire)
}

/// Attention bits that a new heap begins with.
pub fn standing_bits() -> u32 {
    let stopped = if is_stopped() { STOPPED } else { 0 };
    let autosave = if EVERY.load(Ordering::Relaxed) != 0 { AUTOSAVE } else { 0 };
    stopped | autosave
}

fn set_for_all(bit: u32, on: bool) {
    for heap in heap::all() {
        if on {
            heap.attention().fetch_or(bit, Ordering::Release);
        } else {
            heap.attention().fetch_and(!bit, Ordering::Release);
        }
    }
}

/// From now on allocations are not recorded.
pub fn stop() {
    // (A heap that is not listed yet will see it.)
    IS_STOPPED.store(true, Ordering::SeqCst);
    set_for_all(STOPPED, true);
}

/// Forgets all that was recorded, and records from now on. While all other threads rest (see
/// [`Rest`](heap::Rest)): one in its heap would count where nobody reads any more.
pub fn begin_anew() {
    ERA.fetch_add(1, Ordering::AcqRel);
    process::forget_events();
    heap::all().for_each(|_| ledger::add_balance());
    set_for_all(NEW_ERA, true);
    SINCE.store(0, Ordering::Relaxed);
    IS_STOPPED.store(false, Ordering::Release);
    set_for_all(STOPPED, false);
}

/// Has `write` called after every `allocations`th allocation, in the thread that made it; 0: no more.
pub fn write_every(allocations: u64, write: fn()) {
    WRITE.store(write as *mut (), Ordering::Release);
    EVERY.store(allocations, Ordering::Release);
    SINCE.store(0, Ordering::Relaxed);
    set_for_all(AUTOSAVE, allocations != 0);
}

/// Counts an allocation; returns what writes the profile if it is time.
#[cold]
pub fn count_towards_writing() -> Option<fn()> {
    let every = EVERY.load(Ordering::Relaxed);
    if every == 0 || SINCE.fetch_add(1, Ordering::Relaxed) + 1 < every {
        return None;
    }
    SINCE.store(0, Ordering::Relaxed);
    let write = WRITE.load(Ordering::Acquire);
    // SAFETY: only `write_every` stores here, and it stores such a function.
    (!write.is_null()).then(|| unsafe { core::mem::transmute::<*mut (), fn()>(write) })
}
