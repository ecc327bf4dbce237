//! All heaps of the process, and how threads come by one.

use core::ptr::null_mut;
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, Ordering};

use super::Heap;
use super::attention::{NEW_ERA, NEW_GENERATION, NEW_HEAP, NEW_THREAD, PAUSE, SHARE, VERIFY};
use super::rest::{self, Change};
use crate::arena::{self, new_zeroed};
use crate::bins::Bins;
use crate::freed::FreedObject;
use crate::ledger::{self, Balance};
use crate::lisp::objects::Part;
use crate::location::FrameKey;
use crate::mark::{self, Doing, Mark};
use crate::process::{self, OPTIONS};
use crate::recording;
use crate::records::{self, Chunk};
use crate::stack_bounds::StackBounds;
use crate::sys;
use crate::thread::Thread;
use crate::threads;
use crate::tree::{NO_NODE, Tree};
use crate::unwind::eh_frame::Workspace;

/// Chains that a memo keeps at most.
const MOST_CHAINS: usize = 2048;
/// The same in the first heaps, of which every process has one and most have no more.
const MANY_CHAINS: usize = 8192;
const FEW_HEAPS: usize = 4;
/// How long to wait for another thread to leave its heap, microseconds.
const PATIENCE: u32 = 100_000;
/// Whether there is but one heap, so that no other thread books events.
pub fn is_only() -> bool {
    // SAFETY: heaps are published whole and never freed.
    unsafe { HEAPS.load(Ordering::Acquire).as_ref() }.is_none_or(|latest| latest.next.is_null())
}

/// All heaps of this process, the latest first.
static HEAPS: AtomicPtr<Heap> = AtomicPtr::new(null_mut());

/// All heaps of this process.
pub fn all() -> impl Iterator<Item = &'static HeapView> {
    let mut next = HEAPS.load(Ordering::Acquire).cast_const();
    core::iter::from_fn(move || {
        // SAFETY: heaps are published whole and never freed. Through the view only parts that may be read while
        // the owner works can be reached.
        let heap = unsafe { next.as_ref() }?;
        next = heap.next;
        Some(HeapView::of(heap))
    })
}

/// The heaps whose events count.
pub fn current() -> impl Iterator<Item = &'static HeapView> {
    let era = recording::era();
    all().filter(move |view| view.0.era.load(Ordering::Acquire) == era)
}

/// What others than its owner may see of a heap.
#[repr(transparent)]
pub struct HeapView(Heap);

impl HeapView {
    fn of(heap: &Heap) -> &HeapView {
        // SAFETY: a transparent wrapper.
        unsafe { &*(&raw const *heap).cast::<HeapView>() }
    }

    /// What is asked of the owner.
    pub fn attention(&self) -> &AtomicU32 {
        &self.0.attention
    }

    /// The owner's mark.
    pub fn mark(&self) -> &Mark {
        // SAFETY: a published heap has a mark, and marks are never freed.
        unsafe { &*self.0.mark }
    }

    /// The tree; nodes below its length may be read.
    pub fn tree(&self) -> &Tree {
        &self.0.tree
    }

    /// Allocations and frees by size.
    pub fn bins(&self) -> &Bins {
        &self.0.bins
    }

    /// The heap, to be compared with the owner of a chunk.
    pub fn address(&self) -> *const Heap {
        &raw const self.0
    }

    /// The owner's balance.
    pub fn balance(&self) -> &Balance {
        &self.0.balance
    }

    /// The frames of a context, innermost first, as keys.
    pub fn frames(&self, node: u32) -> impl Iterator<Item = FrameKey> + '_ {
        self.0.tree.frames(node)
    }

    /// What belongs to objects that a garbage collector frees.
    pub fn lisp(&self) -> &Part {
        &self.0.lisp
    }

    /// What the ring of freed objects says of an object, if it is in it.
    pub fn find_freed(&self, object: usize) -> Option<FreedObject> {
        self.0.freed.find(object)
    }
}

/// A heap for the calling thread: one that a thread has given up, or a new one. `None` without memory.
pub fn acquire() -> Option<(&'static Mark, *mut Heap)> {
    let _change = Change::begin();
    let id = if sys::process_id() == process::id() { sys::thread_id() } else { BORROWED };
    if let Some(taken) = take_over(id) {
        return Some(taken);
    }
    let heaps = all().count();
    if heaps >= SWEPT && heaps.is_power_of_two() {
        // Threads may end without our hearing of it (by the system call itself).
        for view in all() {
            let owner = view.0.owner.load(Ordering::Relaxed);
            if owner != 0 && owner != BORROWED && !sys::thread_exists(process::id(), owner) {
                let _ = view.0.owner.compare_exchange(owner, 0, Ordering::AcqRel, Ordering::Relaxed);
            }
        }
        if let Some(taken) = take_over(id) {
            return Some(taken);
        }
    }
    create(id)
}

/// Owner of a heap that a child of vfork got, which has its parent's thread pointer: the parent's thread goes on
/// using it. It is no thread's id.
const BORROWED: u32 = u32::MAX;
/// So many heaps make it worth looking for dead owners; then each time their number has doubled.
const SWEPT: usize = 64;

/// A heap that has no owner.
fn take_over(id: u32) -> Option<(&'static Mark, *mut Heap)> {
    for view in all() {
        let free = view.0.owner.load(Ordering::Relaxed) == 0;
        if free && view.0.owner.compare_exchange(0, id, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
            let heap = view.address().cast_mut();
            // SAFETY: this thread is the owner now, and it alone changes the heap from here on.
            unsafe { (*heap).begin_thread() };
            // SAFETY: marks are never freed.
            return Some((unsafe { &*view.0.mark }, heap));
        }
    }
    None
}

fn create(id: u32) -> Option<(&'static Mark, *mut Heap)> {
    let heap = new_zeroed::<Heap>()?;
    // SAFETY: the memory is the heap's, which no one else knows yet.
    unsafe { Workspace::start(&raw mut heap.workspace) };
    let has_tree = heap.tree.start(OPTIONS.contexts.load(Ordering::Relaxed));
    let Some(mark) = mark::create().filter(|_| has_tree) else {
        // (The tree's first chunk and the mark, where there was memory for these, are lost.)
        // SAFETY: no one else knows the heap.
        unsafe { arena::give_back(heap) };
        return None;
    };
    heap.mark = mark;
    heap.rules.start();
    heap.memo.start(if all().count() < FEW_HEAPS { MANY_CHAINS } else { MOST_CHAINS });
    heap.generation = process::generation();
    heap.era.store(recording::era(), Ordering::Relaxed);
    let address: *const Heap = heap;
    heap.balance.start(address);
    heap.owner.store(id, Ordering::Relaxed);
    heap.begin_thread();
    let heap: *mut Heap = heap;
    let mut first = HEAPS.load(Ordering::Acquire);
    loop {
        // SAFETY: the heap is not published yet.
        unsafe { (*heap).next = first };
        match HEAPS.compare_exchange(first, heap, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => break,
            Err(other) => first = other,
        }
    }
    ledger::add_balance();
    share_balance(first);
    // What was asked for between reading it and being on the list has not reached this heap.
    let asked = if OPTIONS.verify.load(Ordering::Relaxed) { NEW_GENERATION | VERIFY } else { NEW_GENERATION };
    // SAFETY: the attention word may be written by anyone.
    unsafe { (*heap).attention.fetch_or(asked | recording::standing_bits() | NEW_ERA, Ordering::Relaxed) };
    Some((mark, heap))
}

/// Whether the first heap shares the balance, as it must from the second on.
static IS_SHARED: AtomicBool = AtomicBool::new(false);

/// There is another heap than `latest` and those before it. The first thread, when it was the only one, had all
/// headroom there was, and may wait for the others to end before it calls us again: the second one takes its part for
/// it.
fn share_balance(latest: *const Heap) {
    // SAFETY: heaps are never freed.
    let Some(first) = (unsafe { latest.as_ref() }) else { return };
    let view = HeapView::of(first);
    let mut waited = 0;
    if !first.next.is_null() {
        // Another thread is about it.
        while !IS_SHARED.load(Ordering::Acquire) && waited < PATIENCE {
            sys::sleep_microseconds(20);
            waited += 20;
        }
        return;
    }
    view.attention().fetch_or(SHARE, Ordering::SeqCst);
    if !sys::barrier_everywhere() {
        // By then the thread sees the bit all the same.
        sys::sleep_microseconds(1000);
    }
    // (From within its heap it may ask for a rest, and wait for us.)
    while matches!(view.mark().get(), Doing::Heap(_)) && waited < PATIENCE && !rest::is_asked_for() {
        sys::sleep_microseconds(20);
        waited += 20;
    }
    if matches!(view.mark().get(), Doing::Heap(_)) {
        // It has been stopped, or its own signal handler waits for us. It shares as soon as it goes on.
        view.attention().fetch_or(NEW_HEAP, Ordering::Release);
    } else {
        // SAFETY: the owner stays out of its heap until the bit is cleared.
        unsafe { (*latest.cast_mut()).balance.share() };
    }
    view.attention().fetch_and(!SHARE, Ordering::Release);
    IS_SHARED.store(true, Ordering::Release);
}

/// Takes the marks of epochs from the records of a heap: they are used anew.
#[cold]
pub fn clear_marks(heap: *const Heap) {
    records::chunks().filter(|chunk| core::ptr::eq(chunk.owner(), heap)).for_each(Chunk::clear_marks);
}

/// Gives a heap up, for the next new thread.
///
/// # Safety
/// The heap came from [`acquire`], and the calling thread does not use it any more.
pub unsafe fn release(heap: *mut Heap) {
    // SAFETY: heaps are never freed, and the thread still has it.
    let heap = unsafe { &mut *heap };
    let _change = Change::begin();
    if heap.is_of_old_era() {
        heap.begin_anew();
    } else {
        threads::note_name(heap.record);
    }
    heap.balance.retire();
    heap.owner.store(0, Ordering::Release);
}

/// In a child after a fork: the heaps of before are its parent's.
pub fn forget_all() {
    // A hook that the fork has come between, in a signal handler, still works in its heap: nobody here ends its rest.
    if let Some((_, heap)) = Thread::current().attached() {
        // SAFETY: heaps are never freed; the attention word may be written by anyone.
        unsafe { (*heap).attention.fetch_and(!(PAUSE | SHARE), Ordering::Relaxed) };
    }
    HEAPS.store(null_mut(), Ordering::Relaxed);
    IS_SHARED.store(false, Ordering::Relaxed);
    rest::forget();
}

impl Heap {
    /// A new thread has taken the heap over.
    pub(super) fn begin_thread(&mut self) {
        self.last = null_mut();
        self.attention.fetch_or(NEW_THREAD, Ordering::Relaxed);
        self.top = NO_NODE;
        self.chain.clear();
        self.bounds = StackBounds::default();
        self.lisp.begin_thread();
    }
}
