//! What others ask of a heap's owner, who looks at one word at each event.

use core::sync::atomic::Ordering;

use super::Heap;
use crate::arena;
use crate::mark::Doing;
use crate::process;
use crate::recording;
use crate::reference;
use crate::sys;
use crate::unwind::Entry;

/// Attention bit: code may have been unloaded; what was derived from code addresses is to be forgotten.
pub const NEW_GENERATION: u32 = 1;
/// Attention bit: a dump wants the heap to rest.
pub(super) const PAUSE: u32 = 2;
/// Attention bit: a new thread has the heap, and its first chain tells where it began.
pub(super) const NEW_THREAD: u32 = 8;
/// Attention bit: there is another heap now.
pub(super) const NEW_HEAP: u32 = 16;
/// Attention bit: another thread changes the balance, and wants the heap to rest meanwhile.
pub(super) const SHARE: u32 = 32;
/// Attention bit, once set for ever: each chain is to be compared with the reference unwinder's.
pub const VERIFY: u32 = 4;

/// Attention bit, as long as it is so: allocations are not recorded.
pub const STOPPED: u32 = 256;
/// Attention bit, as long as it is so: allocations are counted towards the next writing of the profile.
pub const AUTOSAVE: u32 = 64;
/// Attention bit: the recording began anew, and what the heap holds counts no more.
pub const NEW_ERA: u32 = 128;

/// How long a heap rests at most, in turns of 50 microseconds.
const LONGEST_REST: u32 = 200_000;

impl Heap {
    /// Does what is asked of the owner, before an allocation is counted; returns whether it is to be.
    #[cold]
    #[inline(never)]
    pub(super) unsafe fn attend_before(&mut self, entry: Entry) -> bool {
        self.attend();
        if self.attention.fetch_and(!NEW_THREAD, Ordering::Relaxed) & NEW_THREAD != 0 {
            // The memo could spare the walk that finds the top.
            // SAFETY: as the caller vouches.
            unsafe { self.context(entry.caller()) };
        }
        self.attention.load(Ordering::Relaxed) & STOPPED == 0
    }

    /// The same, after it was counted in `record`.
    pub(super) unsafe fn attend_after(&mut self, entry: Entry, record: u32) {
        if self.attention.load(Ordering::Relaxed) & VERIFY != 0 {
            // SAFETY: as the caller vouches.
            reference::check(self, unsafe { entry.caller() }, record);
        }
        if self.attention.load(Ordering::Relaxed) & AUTOSAVE != 0
            && let Some(write) = recording::count_towards_writing()
        {
            self.outside(write);
        }
    }

    /// Has `work` done as if the owner were not in its heap, and then what was asked for meanwhile: who wants all heaps
    /// to rest would wait for this one in vain, and `work` for that one.
    fn outside(&mut self, work: fn()) {
        // SAFETY: a heap in use has a mark, and marks are never freed.
        let mark = unsafe { &*self.mark };
        let doing = mark.get();
        mark.set(Doing::Program);
        work();
        mark.set(doing);
        self.attend();
    }

    /// Does what others asked for.
    #[cold]
    #[inline(never)]
    pub(super) fn attend(&mut self) {
        // SAFETY: a heap in use has a mark, and marks are never freed.
        let mark = unsafe { &*self.mark };
        let doing = mark.get();
        // (Who asked may have been left by a jump out of a handler: it is not waited for in vain, and not once more.)
        let mut patience = LONGEST_REST;
        while self.attention.load(Ordering::Acquire) & (PAUSE | SHARE) != 0 && patience > 0 {
            mark.set(Doing::Program);
            sys::sleep_microseconds(50);
            mark.set(doing);
            patience -= 1;
        }
        if patience == 0 {
            self.attention.fetch_and(!(PAUSE | SHARE), Ordering::Relaxed);
        }
        if self.attention.fetch_and(!NEW_ERA, Ordering::AcqRel) & NEW_ERA != 0 && self.is_of_old_era() {
            self.begin_anew();
        }
        if self.attention.fetch_and(!NEW_HEAP, Ordering::AcqRel) & NEW_HEAP != 0 {
            self.balance.share();
        }
        if self.attention.fetch_and(!NEW_GENERATION, Ordering::AcqRel) & NEW_GENERATION != 0 {
            let generation = process::generation();
            if generation != self.generation {
                self.generation = generation;
                self.chain.clear();
                self.memo.clear();
                self.rules.clear();
            }
        }
    }

    /// Whether the recording began anew since the heap's last event.
    pub(super) fn is_of_old_era(&self) -> bool {
        self.era.load(Ordering::Relaxed) != recording::era()
    }

    /// Forgets all that was recorded.
    pub(super) fn begin_anew(&mut self) {
        self.memo.clear();
        self.tree.clear();
        self.bins.clear();
        self.lisp.begin_anew();
        self.chunk = core::ptr::null();
        let address: *const Heap = self;
        self.balance = arena::zeroed();
        self.balance.start(address);
        self.begin_thread();
        self.era.store(recording::era(), Ordering::Release);
    }
}
