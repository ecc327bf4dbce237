//! A thread's heap: the tree of its calling contexts, its counters, and what finding its chains needs.
//!
//! A thread changes its own heap only, without locks. A heap outlives its thread: the next new thread takes it
//! over, so there are as many heaps as threads at once, not as threads ever.

use core::ptr::null_mut;
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, Ordering};

use mprof_format::kinds::Category;

use crate::arena::{self, Zeroable, new_zeroed};
use crate::bins::Bins;
use crate::chain::{Chain, End, Found, Walk};
use crate::freed::{FreedObject, FreedRing};
use crate::header::Header;
use crate::ledger::{self, Balance};
use crate::lifetimes::Freed;
use crate::lisp::objects::Part;
use crate::location::{FrameKey, Location};
use crate::mark::{self, Doing, Mark};
use crate::memo::{self, Leaf, Memo, Miss};
use crate::process::{self, OPTIONS};
use crate::recording;

use crate::records::{self, Chunk, Counted};
use crate::reference;
use crate::stack_bounds::StackBounds;
use crate::sys;
use crate::thread::control_block;
use crate::threads::{self, Start};
use crate::tree::{NO_NODE, Tree};
use crate::unwind::cache::RuleCache;
use crate::unwind::eh_frame::{self, Workspace};
use crate::unwind::{Entry, State};
use crate::watch::Birth;

/// Attention bit: code may have been unloaded; what was derived from code addresses is to be forgotten.
pub const NEW_GENERATION: u32 = 1;
/// Attention bit: a dump wants the heap to rest.
pub const PAUSE: u32 = 2;
/// Attention bit: a new thread has the heap, and its first chain tells where it began.
const NEW_THREAD: u32 = 8;
/// Attention bit: there is another heap now.
const NEW_HEAP: u32 = 16;
/// Attention bit: another thread changes the balance, and wants the heap to rest meanwhile.
const SHARE: u32 = 32;
/// Attention bit, once set for ever: each chain is to be compared with the reference unwinder's.
pub const VERIFY: u32 = 4;

/// Attention bit, as long as it is so: allocations are not recorded.
pub const STOPPED: u32 = 256;
/// Attention bit, as long as it is so: allocations are counted towards the next writing of the profile.
pub const AUTOSAVE: u32 = 64;
/// Attention bit: the recording began anew, and what the heap holds counts no more.
pub const NEW_ERA: u32 = 128;

/// Chains that a memo keeps at most.
const MOST_CHAINS: usize = 2048;
/// The same in the first heaps, of which every process has one and most have no more.
const MANY_CHAINS: usize = 8192;
const FEW_HEAPS: usize = 4;
/// How long a heap rests at most, in turns of 50 microseconds.
const LONGEST_REST: u32 = 200_000;
/// Ages of objects are counted modulo this, plus 1, in KiB.
const AGES: u32 = (1 << 24) - 1;
/// An age of the last class that no other thread's clock makes seem to be in the future, KiB.
const OLDEST: u32 = 1 << 23;
/// How long to wait for another thread to leave its heap, microseconds.
const PATIENCE: u32 = 100_000;
/// Callers kept of a chain when there are too many contexts (the paper's partial call chain).
const PARTIAL: usize = 5;

/// Nothing is recorded now.
#[derive(Debug, Clone, Copy)]
pub struct Stopped;

/// A thread's heap. In the order of use: what each event touches comes first.
#[repr(C)]
pub struct Heap {
    /// What others ask of the owner: [`NEW_GENERATION`], [`PAUSE`].
    attention: AtomicU32,
    /// Generation that chain, memo and rules are of.
    generation: u32,
    /// Era of the recording that its events are of.
    era: AtomicU32,
    /// The object that the thread allocated last.
    last: *const u8,
    balance: Balance,
    memo: Memo,
    /// Chains that begin at a stack pointer below this are likely too long for the memo.
    too_deep: usize,
    chain: Chain,
    rules: RuleCache,
    /// Chunk that new counter records come from; null before the first.
    chunk: *const Chunk,
    /// Context that the present thread's chains begin in; [`NO_NODE`] before its first.
    top: u32,
    /// Thread record that `top` is for.
    record: u32,
    bounds: StackBounds,
    /// Objects freed last.
    pub freed: FreedRing,
    /// Allocations and frees by size.
    pub bins: Bins,
    /// What belongs to objects that a garbage collector frees.
    pub lisp: Part,
    tree: Tree,
    workspace: Workspace,
    mark: *const Mark,
    /// Thread that has the heap; 0: none, it can be taken over.
    owner: AtomicU32,
    /// The heap made before this one.
    next: *const Heap,
}

// SAFETY: every part is valid as zeros, or set by `create` before the heap is used.
unsafe impl Zeroable for Heap {}

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
    while matches!(view.mark().get(), Doing::Heap(_)) && waited < PATIENCE {
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
    threads::note_name(heap.record);
    if heap.is_of_old_era() {
        heap.begin_anew();
    }
    heap.balance.retire();
    heap.owner.store(0, Ordering::Release);
}

/// In a child after a fork: the heaps of before are its parent's.
pub fn forget_all() {
    HEAPS.store(null_mut(), Ordering::Relaxed);
    IS_SHARED.store(false, Ordering::Relaxed);
}

/// Whether the calling thread is the one that the process began with.
fn is_first_thread() -> bool {
    sys::thread_id() == process::id()
}

impl Heap {
    /// A new thread has taken the heap over.
    fn begin_thread(&mut self) {
        self.last = null_mut();
        self.attention.fetch_or(NEW_THREAD, Ordering::Relaxed);
        self.top = NO_NODE;
        self.chain.clear();
        self.bounds = StackBounds::default();
        self.lisp.begin_thread();
    }

    /// The owner's birth clock, bytes allocated.
    #[inline(always)]
    pub fn birth(&self) -> u64 {
        self.balance.clock()
    }

    /// Counts an allocation of `size` bytes by the chain that `entry` is the innermost frame of. Returns the
    /// number of its counter record.
    ///
    /// # Safety
    /// `entry` is the state of a live frame of the calling thread, which owns the heap and has marked itself as
    /// being in it.
    #[inline(always)]
    pub unsafe fn allocate(&mut self, entry: Entry, size: usize) -> u32 {
        if self.attention.load(Ordering::Relaxed) != 0 {
            // SAFETY: as the caller vouches.
            return unsafe { self.allocate_attentively(entry, size) };
        }
        // SAFETY: as the caller vouches.
        unsafe { self.allocate_now(entry, size) }
    }

    /// The same, when something is asked of the owner.
    #[cold]
    #[inline(never)]
    unsafe fn allocate_attentively(&mut self, entry: Entry, size: usize) -> u32 {
        // SAFETY: as the caller vouches.
        unsafe {
            if !self.attend_before(entry) {
                return records::UNRECORDED;
            }
            let record = self.allocate_now(entry, size);
            self.attend_after(entry, record);
            record
        }
    }

    /// Does what is asked of the owner, before an allocation is counted; returns whether it is to be.
    #[cold]
    #[inline(never)]
    unsafe fn attend_before(&mut self, entry: Entry) -> bool {
        self.attend();
        if self.attention.fetch_and(!NEW_THREAD, Ordering::Relaxed) & NEW_THREAD != 0 {
            // The memo could spare the walk that finds the top.
            // SAFETY: as the caller vouches.
            unsafe { self.context(entry.caller()) };
        }
        self.attention.load(Ordering::Relaxed) & STOPPED == 0
    }

    /// The same, after it was counted in `record`.
    unsafe fn attend_after(&mut self, entry: Entry, record: u32) {
        if self.attention.load(Ordering::Relaxed) & VERIFY != 0 {
            // SAFETY: as the caller vouches.
            reference::check(self, unsafe { entry.caller() }, record);
        }
        if self.attention.load(Ordering::Relaxed) & AUTOSAVE != 0 {
            recording::count_towards_writing();
        }
    }

    /// The same, with nothing asked of the owner.
    #[inline(always)]
    unsafe fn allocate_now(&mut self, entry: Entry, size: usize) -> u32 {
        let category = Category::of_size(size as u64).index();
        // SAFETY: as the caller vouches.
        let counted = unsafe { self.counted(entry, category) };
        self.bins.allocate(size);
        let Some(counted) = counted else {
            return records::allocate_unknown(u32::from(category), size as u64);
        };
        self.balance.allocate(size as u64);
        counted.allocate(size as u64, self.balance.mark());
        counted.number()
    }

    /// Counts objects that a garbage collector frees; they are no part of the balance. Returns their counter record,
    /// `None` without memory.
    ///
    /// # Errors
    /// Nothing is recorded now.
    ///
    /// # Safety
    /// As for [`Heap::allocate`].
    #[inline(always)]
    pub unsafe fn count_collected(
        &mut self,
        entry: Entry,
        category: u8,
        objects: u64,
        bytes: u64,
    ) -> Result<Option<Counted>, Stopped> {
        let attentive = self.attention.load(Ordering::Relaxed) != 0;
        // SAFETY: as the caller vouches.
        if attentive && !unsafe { self.attend_before(entry) } {
            return Err(Stopped);
        }
        // SAFETY: as the caller vouches.
        let Some(counted) = (unsafe { self.counted(entry, category) }) else {
            records::allocate_unknown_collected(u32::from(category), objects, bytes);
            return Ok(None);
        };
        counted.record().add(objects, bytes);
        if attentive {
            // SAFETY: as the caller vouches.
            unsafe { self.attend_after(entry, counted.number()) };
        }
        Ok(Some(counted))
    }

    /// The record for a chain and a category. `None` without memory.
    #[inline(always)]
    unsafe fn counted(&mut self, entry: Entry, category: u8) -> Option<Counted> {
        // SAFETY: as the caller vouches.
        let caller = unsafe { entry.caller() };
        let found = if caller.sp < self.too_deep {
            Err(Miss::NOWHERE)
        } else {
            // SAFETY: as the caller vouches.
            unsafe { self.memo.find(&caller) }
        };
        match found {
            Ok(known) => match known.record(category) {
                0 => {
                    let known = &raw mut *known;
                    // SAFETY: the entry was found just now.
                    unsafe { self.count_category(known, category) }
                }
                // SAFETY: an entry has records of this heap.
                number => Some(unsafe { records::of_heap(number) }),
            },
            // SAFETY: as the caller vouches.
            Err(miss) => unsafe { self.count_chain(entry, category, miss) },
        }
    }

    /// The record for a category at a chain that the memo knows without it. `None` without memory.
    ///
    /// # Safety
    /// `known` is an entry of this memo.
    #[inline(never)]
    unsafe fn count_category(&mut self, known: *mut memo::Entry, category: u8) -> Option<Counted> {
        // SAFETY: as the caller vouches; finding the record does not touch the memo.
        unsafe {
            let counted = self.record((*known).node(), category)?;
            (*known).set_record(category, counted.number());
            Some(counted)
        }
    }

    /// The record for a chain that the memo does not know. `None` without memory.
    ///
    /// # Safety
    /// As for [`Heap::allocate`]; `miss` is of this memo, just now.
    #[inline(never)]
    unsafe fn count_chain(&mut self, entry: Entry, category: u8, miss: Miss) -> Option<Counted> {
        // SAFETY: as the caller vouches.
        let caller = unsafe { entry.caller() };
        // SAFETY: as the caller vouches.
        let (node, worth_keeping) = unsafe { self.context(caller) };
        let counted = self.record(node, category)?;
        let proof = self.chain.proof();
        self.too_deep = proof.and_then(|proof| Memo::limit(proof.words)).unwrap_or(0);
        if worth_keeping && let Some(proof) = proof {
            let leaf = Leaf { node, category, record: counted.number() };
            // SAFETY: as the caller vouches.
            unsafe { self.memo.insert(miss, &caller, &self.rules, proof, leaf) };
        }
        Some(counted)
    }

    /// Notes which object the thread allocated last.
    #[inline(always)]
    pub fn set_last(&mut self, object: *const u8) {
        self.last = object;
    }

    /// Counts the free of an object of a record in `chunk`.
    ///
    /// The calling thread owns the heap and has marked itself as being in it.
    #[inline(always)]
    pub fn free(&mut self, object: *const u8, header: Header, mut chunk: &Chunk) {
        if self.attention.load(Ordering::Relaxed) != 0 {
            self.attend();
            // The recording may have begun anew meanwhile.
            let counter = records::counter(header.record);
            let Some(now) = counter.and_then(|counter| counter.chunk) else { return };
            chunk = now;
        }
        let size = header.size as u64;
        self.balance.free(size);
        self.bins.free(header.size);
        let age = (self.balance.clock() >> 10).wrapping_sub(header.birth >> 10) as u32 & AGES;
        self.count_free(object, header, chunk, age);
    }

    /// Books a free in the record that counts the object.
    #[inline(always)]
    fn count_free(&mut self, object: *const u8, header: Header, chunk: &Chunk, age: u32) {
        let size = header.size as u64;
        if core::ptr::eq(chunk.owner(), self) {
            // It is this heap's object: then it is the last one if it lies where that one lay.
            let freed = Freed { size, age, is_temporary: core::ptr::eq(self.last, object) };
            chunk.free(header.record, freed, self.balance.mark());
        } else {
            // Another thread's clock may have been ahead.
            let age = if age > AGES - ledger::clocks_apart() { 0 } else { age };
            let freed = Freed { size, age, is_temporary: false };
            chunk.free_remotely(header.record, freed, self.balance.epoch());
        }
    }

    /// Counts the free of an object whose exact birth is known; likewise.
    pub fn free_watched(&mut self, object: *const u8, header: Header, chunk: &Chunk, birth: Birth) {
        if self.attention.load(Ordering::Relaxed) != 0 {
            self.attend();
        }
        self.balance.free(header.size as u64);
        self.bins.free(header.size);
        // Another thread's clock may have been ahead.
        let kib = (self.balance.clock() >> 10).saturating_sub(birth.bytes >> 10);
        let allocations = self.balance.allocations().saturating_sub(birth.allocations);
        // All older ones are of the same class; what is missing in the sum is added apart.
        let age = kib.min(OLDEST.into()) as u32;
        self.count_free(object, header, chunk, age);
        chunk.note_age(header.record, allocations, kib - u64::from(age));
    }

    /// What the owner's clocks show.
    pub fn clocks(&self) -> Birth {
        Birth { bytes: self.balance.clock(), allocations: self.balance.allocations() }
    }

    /// The mark that belongs to a heap.
    ///
    /// # Safety
    /// The heap came from [`acquire`].
    pub unsafe fn mark_of(heap: *const Heap) -> &'static Mark {
        // SAFETY: neither heaps nor marks are ever freed.
        unsafe { &*(*heap).mark }
    }

    /// The calling context of `entry`, by walking what cannot be proved unchanged ([`NO_NODE`] without memory), and
    /// whether it may be put into the memo.
    unsafe fn context(&mut self, entry: State) -> (u32, bool) {
        let depth = OPTIONS.depth.load(Ordering::Relaxed) as usize;
        let begins = self.top == NO_NODE;
        if begins {
            // Before the first walk: it is not to end where later ones would not.
            self.find_bounds();
        }
        let mut walk = Walk {
            rules: &mut self.rules,
            workspace: &mut self.workspace,
            tree: &mut self.tree,
            bounds: &mut self.bounds,
        };
        let found = match reference::get() {
            Some(trace) if OPTIONS.reference.load(Ordering::Relaxed) => {
                self.chain.find_by_reference(&mut walk, entry, trace)
            }
            // SAFETY: as the caller vouches.
            _ => unsafe { self.chain.find(&mut walk, entry) },
        };
        let Some(found) = found else { return (NO_NODE, false) };
        if begins {
            self.find_top(found);
        }
        let mut walk = Walk {
            rules: &mut self.rules,
            workspace: &mut self.workspace,
            tree: &mut self.tree,
            bounds: &mut self.bounds,
        };
        let mut node = self.chain.keep(&mut walk, found, self.top, depth == 0);
        if depth != 0 {
            node = self.chain.truncated(&mut walk, found, self.top, depth);
        } else if node == NO_NODE {
            node = self.chain.truncated(&mut walk, found, self.top, PARTIAL);
        }
        (node, node != NO_NODE && found.comparable)
    }

    /// Finds out where the thread's stack ends.
    #[cold]
    fn find_bounds(&mut self) {
        let end = if is_first_thread() { process::first_stack_end() } else { control_block() };
        self.bounds = StackBounds::below(end);
    }

    /// Finds out where the thread began, by its first chain, and makes the top of its tree.
    #[cold]
    #[inline(never)]
    fn find_top(&mut self, found: Found) {
        let start = if is_first_thread() {
            Start::First
        } else if found.end == End::Complete {
            // Outermost first: clone, start_thread, the function given to pthread_create.
            match self.chain.walked().rev().nth(2).and_then(eh_frame::function_start) {
                Some(address) => {
                    let location = Location::interrupted_at(address);
                    match self.rules.lookup(&mut self.workspace, location) {
                        Some(slot) => Start::In(slot.key),
                        None => Start::Anywhere,
                    }
                }
                None => Start::Anywhere,
            }
        } else {
            Start::Anywhere
        };
        let record = threads::enter(start, OPTIONS.each_thread.load(Ordering::Relaxed));
        if record != self.record {
            // What the memo knows ends in another thread's top.
            self.memo.clear();
            self.record = record;
        }
        self.top = self.tree.child_beyond_limit(NO_NODE, FrameKey::thread(record));
    }

    /// The counter record of a context and category, made now if need be. `None` without memory.
    fn record(&mut self, node: u32, category: u8) -> Option<Counted> {
        if node == NO_NODE {
            return None;
        }
        let latest = self.tree.node(node).record;
        if let Some(found) = records::for_category(latest, u32::from(category)) {
            return Some(found);
        }
        let owner: *mut Heap = &raw mut *self;
        // SAFETY: chunks are never freed.
        let mut chunk: Option<&'static Chunk> = unsafe { self.chunk.as_ref() };
        let issued = loop {
            match chunk.and_then(|chunk| chunk.issue(node, u32::from(category), latest)) {
                Some(issued) => break issued,
                None => {
                    let fresh = Chunk::create(owner)?;
                    self.chunk = fresh;
                    chunk = Some(fresh);
                }
            }
        };
        self.tree.node_mut(node).record = issued.number();
        Some(issued)
    }

    /// Does what others asked for.
    #[cold]
    #[inline(never)]
    fn attend(&mut self) {
        // SAFETY: a heap in use has a mark, and marks are never freed.
        let mark = unsafe { &*self.mark };
        let doing = mark.get();
        // (The dump may have been left by a jump out of a handler: it is not waited for in vain.)
        let mut patience = LONGEST_REST;
        while self.attention.load(Ordering::Acquire) & (PAUSE | SHARE) != 0 && patience > 0 {
            mark.set(crate::mark::Doing::Program);
            sys::sleep_microseconds(50);
            mark.set(doing);
            patience -= 1;
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
    fn is_of_old_era(&self) -> bool {
        self.era.load(Ordering::Relaxed) != recording::era()
    }

    /// Forgets all that was recorded.
    fn begin_anew(&mut self) {
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

    /// Mends the heap after a jump (`siglongjmp`) out of the midst of a change.
    #[cold]
    pub fn recover(&mut self) {
        self.chain.clear();
        self.memo.clear();
        self.rules.clear();
        self.tree.recover();
    }

    /// The frames of a context, innermost first, as keys.
    pub fn frames(&self, node: u32) -> impl Iterator<Item = FrameKey> + '_ {
        self.tree.frames(node)
    }

    /// The calling context of `entry`, without an event.
    ///
    /// # Safety
    /// As for [`Heap::allocate`].
    #[cold]
    pub unsafe fn present_context(&mut self, entry: State) -> u32 {
        self.attend();
        // SAFETY: as the caller vouches.
        unsafe { self.context(entry).0 }
    }

    /// Whether an address lies above `sp` on the owner's stack for sure.
    #[cold]
    pub fn is_on_stack(&mut self, sp: usize, address: usize) -> bool {
        self.find_bounds();
        self.bounds.is_above(sp, address)
    }

    /// The context that a record of this heap is for.
    pub fn node_of(&self, record: u32) -> u32 {
        records::context(record).unwrap_or(NO_NODE)
    }
}
