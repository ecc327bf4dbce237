//! What belongs to the process: options, identity, and what a child must forget.

use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering};

use crate::mark::{Doing, Mark};
use crate::{events, heap, ledger, lisp, mark, reach, records, sys, threads, tree, watch};

/// Options that the engine looks at. They are set before the first thread has a heap, or soon after.
#[derive(Debug)]
pub struct Options {
    /// Innermost callers kept of each chain; 0 = all.
    pub depth: AtomicU32,
    /// Contexts over all heaps at which chains are cut.
    pub contexts: AtomicU32,
    /// Bytes of headroom that a thread takes and gives back at once, where there are several threads.
    pub peak_batch: AtomicU32,
    /// Whether each thread has a record of its own.
    pub each_thread: AtomicBool,
    /// Whether each chain is compared with the reference unwinder's.
    pub verify: AtomicBool,
    /// Whether chains are taken from the reference unwinder.
    pub reference: AtomicBool,
}

/// The options.
pub static OPTIONS: Options = Options {
    depth: AtomicU32::new(0),
    contexts: AtomicU32::new(4_000_000),
    peak_batch: AtomicU32::new(ledger::USUAL_BATCH),
    each_thread: AtomicBool::new(false),
    verify: AtomicBool::new(false),
    reference: AtomicBool::new(false),
};

static ID: AtomicU32 = AtomicU32::new(0);
/// A word that children see as zero (see [`mark`]); null without memory.
static MARK: AtomicPtr<Mark> = AtomicPtr::new(core::ptr::null_mut());
static PARENT: AtomicU32 = AtomicU32::new(0);
static START_UNIX: AtomicU64 = AtomicU64::new(0);
static START_MONOTONIC: AtomicU64 = AtomicU64::new(0);
/// The processor's time stamp at the same moment.
static START_STAMP: AtomicU64 = AtomicU64::new(0);
/// Upper end of the first thread's stack, as the loader found it.
static FIRST_STACK_END: AtomicUsize = AtomicUsize::new(0);
/// Events that came while the thread was inside a heap.
static REENTRANT: AtomicU64 = AtomicU64::new(0);
/// Allocations that could not be recorded.
static UNRECORDED: AtomicU64 = AtomicU64::new(0);
/// Steps when code may have been unloaded, or other code loaded in its place.
static GENERATION: AtomicU32 = AtomicU32::new(0);

/// Notes who we are and when it is. `first_stack_end`: `__libc_stack_end`, or 0.
pub fn start(first_stack_end: usize) {
    if first_stack_end != 0 {
        FIRST_STACK_END.store(first_stack_end, Ordering::Relaxed);
    }
    if ID.load(Ordering::Relaxed) == 0 {
        identify();
    }
}

fn identify() {
    START_UNIX.store(sys::nanoseconds(sys::Clock::Realtime), Ordering::Relaxed);
    START_MONOTONIC.store(sys::nanoseconds(sys::Clock::Monotonic), Ordering::Relaxed);
    START_STAMP.store(ledger::time_stamp(), Ordering::Relaxed);
    PARENT.store(sys::parent_process_id(), Ordering::Relaxed);
    ID.store(sys::process_id(), Ordering::Release);
    let mark = mark::create().map_or(core::ptr::null_mut(), |mark| {
        mark.set(Doing::Program);
        (&raw const *mark).cast_mut()
    });
    MARK.store(mark, Ordering::Release);
}

/// Whether this process was made by a fork that no one told us of, and has not been told from its parent yet.
/// (Not in a child of vfork, which has its parent's memory.)
pub fn is_untold_child() -> bool {
    // SAFETY: marks are never freed.
    unsafe { MARK.load(Ordering::Acquire).as_ref() }.is_some_and(|mark| mark.get() == Doing::Nothing)
}

/// The parent of this process when it started, or was forked.
pub fn parent() -> u32 {
    PARENT.load(Ordering::Relaxed)
}

/// The process whose events are counted here. In a vfork child that is its parent.
pub fn id() -> u32 {
    ID.load(Ordering::Acquire)
}

/// Upper end of the first thread's stack; 0 where unknown.
pub fn first_stack_end() -> usize {
    FIRST_STACK_END.load(Ordering::Relaxed)
}

/// Start of the recording, nanoseconds since 1970.
pub fn start_unix() -> u64 {
    START_UNIX.load(Ordering::Relaxed)
}

/// Nanoseconds since the start of the recording.
pub fn elapsed() -> u64 {
    sys::nanoseconds(sys::Clock::Monotonic).saturating_sub(START_MONOTONIC.load(Ordering::Relaxed))
}

/// The processor's time stamp at the start of the recording.
pub fn start_stamp() -> u64 {
    START_STAMP.load(Ordering::Relaxed)
}

/// Counts an event that came while the thread was inside a heap.
pub fn count_reentrant() {
    REENTRANT.fetch_add(1, Ordering::Relaxed);
}

/// Events that came while their thread was inside a heap.
pub fn reentrant() -> u64 {
    REENTRANT.load(Ordering::Relaxed)
}

/// Counts an allocation that could not be recorded.
pub fn count_unrecorded() {
    UNRECORDED.fetch_add(1, Ordering::Relaxed);
}

/// Allocations that could not be recorded.
pub fn unrecorded() -> u64 {
    UNRECORDED.load(Ordering::Relaxed)
}

/// The generation of the loaded code.
pub fn generation() -> u32 {
    GENERATION.load(Ordering::Acquire)
}

/// From now on each chain is compared with the reference unwinder's.
pub fn start_verifying() {
    OPTIONS.verify.store(true, Ordering::Relaxed);
    for heap in heap::all() {
        heap.attention().fetch_or(heap::VERIFY, Ordering::Release);
    }
}

/// Code is about to be unloaded, or has been, or other code is about to be loaded: all that was derived from code
/// addresses is to be forgotten.
pub fn step_generation() {
    GENERATION.fetch_add(1, Ordering::AcqRel);
    for heap in heap::all() {
        heap.attention().fetch_or(heap::NEW_GENERATION, Ordering::Release);
    }
}

/// In a child after a fork, in its only thread: forgets what the parent recorded.
#[cold]
pub fn become_child() {
    mark::forget_all();
    heap::forget_all();
    forget_events();
    crate::thread::Thread::forget();
}

/// Forgets all events; the time of the recording begins now.
pub fn forget_events() {
    records::forget_all();
    tree::forget_all();
    ledger::forget_all();
    watch::forget_all();
    lisp::objects::forget_all();
    threads::forget_all();
    reach::forget();
    events::COMMON_BINS.clear();
    REENTRANT.store(0, Ordering::Relaxed);
    UNRECORDED.store(0, Ordering::Relaxed);
    identify();
}
