//! What the hooks do: allocations, frees and reallocations, counted once each.
//!
//! An allocation is counted after the real call, when it is known to have succeeded; a free before it, for after
//! it the block may already be another thread's. A reallocation takes the header away before the real call, so
//! that no valid header stays behind where the object was, and counts when it is known whether it succeeded.

mod allocation;
mod free;
mod reallocation;

use crate::bins::Bins;
use crate::heap::Heap;
use crate::location::FrameKey;
use crate::mark::{Doing, Mark};
use crate::nesting::{self, Nesting};
use crate::process;
use crate::thread::Thread;
use crate::unwind::Entry;

pub use allocation::{Request, allocate};
pub use free::{Object, Pointer, free, identify, identify_ours};
pub use reallocation::reallocate;

/// Counts what no heap counts: threads about to end, threads without memory for a heap, nested hooks.
pub static COMMON_BINS: Bins = Bins::new();

/// What an event may use.
pub(crate) enum Situation {
    /// The thread's heap, which nothing else uses now. Its mark is to be put back as it was.
    Ready(&'static Mark, *mut Heap),
    /// Nothing: the call comes from within the real allocator, which counts as one with the call that it serves.
    InAllocator,
    /// No heap; the event is to be counted without a chain.
    NoHeap,
}

/// Finds out what an event of a thread that is not simply in the program may use.
#[cold]
pub(crate) fn situation(entry: Entry) -> Situation {
    let thread = Thread::current();
    if thread.is_ending() && !process::is_untold_child() {
        return Situation::NoHeap;
    }
    let Some((mark, heap)) = thread.attached() else { return first_event() };
    match mark.get() {
        Doing::Program => Situation::Ready(mark, heap),
        Doing::Nothing => {
            process::become_child();
            first_event()
        }
        doing @ (Doing::Real(sp) | Doing::Heap(sp)) => {
            let in_heap = matches!(doing, Doing::Heap(_));
            match nesting::of(entry.sp, sp) {
                Nesting::Stale => {
                    if in_heap {
                        // SAFETY: the hook that was using it is gone.
                        unsafe { (*heap).recover() };
                    }
                    mark.set(Doing::Program);
                    Situation::Ready(mark, heap)
                }
                Nesting::Signal if !in_heap => Situation::Ready(mark, heap),
                Nesting::Direct if !in_heap => Situation::InAllocator,
                _ => {
                    process::count_reentrant();
                    Situation::NoHeap
                }
            }
        }
    }
}

/// Gives the calling thread's present chain, innermost first, to `each`, where it can be found.
///
/// # Safety
/// `entry` is that of a hook of the calling thread that has not returned.
#[cold]
pub unsafe fn with_chain(entry: Entry, each: &mut dyn FnMut(FrameKey)) {
    if let Situation::Ready(mark, heap) = situation(entry) {
        let before = mark.get();
        mark.set(Doing::Heap(entry.sp));
        // SAFETY: the mark says that the thread is in its heap; the caller vouches for the entry.
        unsafe {
            let node = (*heap).present_context(entry.caller());
            (*heap).frames(node).for_each(each);
        }
        mark.set(before);
    }
}

/// Whether an address lies on the calling thread's stack, above a hook's entry, for sure.
#[cold]
pub fn is_on_own_stack(entry: Entry, address: usize) -> bool {
    match situation(entry) {
        // SAFETY: the heap is the calling thread's own, and in no use.
        Situation::Ready(_, heap) => unsafe { (*heap).is_on_stack(entry.sp, address) },
        _ => false,
    }
}

/// A thread's first event.
fn first_event() -> Situation {
    process::start(0);
    if process::is_untold_child() {
        process::become_child();
    }
    match Thread::attach() {
        Some((mark, heap)) => Situation::Ready(mark, heap),
        None => Situation::NoHeap,
    }
}
