//! A thread's heap: the tree of its calling contexts, its counters, and what finding its chains needs.
//!
//! A thread changes its own heap only, without locks. A heap outlives its thread: the next new thread takes it
//! over, so there are as many heaps as threads at once, not as threads ever.

mod attention;
mod context;
mod list;
mod rest;

use core::sync::atomic::{AtomicU32, Ordering};

use mprof_format::kinds::Category;

use crate::arena::Zeroable;
use crate::bins::Bins;
use crate::chain::Chain;
use crate::curve;
use crate::freed::FreedRing;
use crate::header::Header;
use crate::ledger::{self, Balance};
use crate::lifetimes::Freed;
use crate::lisp::objects::Part;
use crate::location::FrameKey;
use crate::mark::Mark;
use crate::memo::{self, Leaf, Memo, Miss};
use crate::records::{self, Chunk, Counted};
use crate::stack_bounds::StackBounds;
use crate::tree::{NO_NODE, Tree};
use crate::unwind::Entry;
use crate::unwind::cache::RuleCache;
use crate::unwind::eh_frame::Workspace;
use crate::watch::Birth;

pub use attention::{AUTOSAVE, NEW_ERA, NEW_GENERATION, STOPPED, VERIFY};
pub use list::{HeapView, acquire, all, clear_marks, current, forget_all, is_only, release};
pub use rest::Rest;

/// Ages of objects are counted modulo this, plus 1, in KiB.
const AGES: u32 = (1 << 24) - 1;
/// An age of the last class that no other thread's clock makes seem to be in the future, KiB.
const OLDEST: u32 = 1 << 23;

/// Nothing is recorded now.
#[derive(Debug, Clone, Copy)]
pub struct Stopped;

/// A thread's heap. In the order of use: what each event touches comes first.
#[repr(C)]
pub struct Heap {
    /// What others ask of the owner: [`NEW_GENERATION`], `PAUSE`.
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

impl Heap {
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

    /// The same, with nothing asked of the owner.
    #[inline(always)]
    unsafe fn allocate_now(&mut self, entry: Entry, size: usize) -> u32 {
        let category = Category::index_of_size(size as u64);
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
            let Some(now) = self.attend_free(header) else { return };
            chunk = now;
        }
        let size = header.size as u64;
        self.balance.free(size);
        self.bins.free(header.size);
        let age = (self.balance.clock() >> 10).wrapping_sub(header.birth >> 10) as u32 & AGES;
        self.count_free(object, header, chunk, age);
    }

    /// Does what is asked of the owner before a free is counted; returns the chunk of the object's record. `None` if the
    /// recording has begun anew meanwhile.
    #[cold]
    fn attend_free(&mut self, header: Header) -> Option<&'static Chunk> {
        self.attend();
        records::counter(header.record)?.chunk
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
    pub fn free_watched(&mut self, object: *const u8, header: Header, mut chunk: &Chunk, birth: Birth) {
        if self.attention.load(Ordering::Relaxed) != 0 {
            let Some(now) = self.attend_free(header) else { return };
            chunk = now;
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

    /// The counter record of a context and category, made now if need be. `None` without memory.
    fn record(&mut self, node: u32, category: u8) -> Option<Counted> {
        if node == NO_NODE {
            return None;
        }
        let latest = self.tree.node(node).record.load(Ordering::Relaxed);
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
        self.tree.node(node).record.store(issued.number(), Ordering::Release);
        Some(issued)
    }

    /// Mends the heap after a jump (`siglongjmp`) out of the midst of a change.
    #[cold]
    pub fn recover(&mut self) {
        self.chain.clear();
        self.memo.clear();
        self.rules.clear();
        self.tree.recover();
        curve::recover(self);
    }

    /// The frames of a context, innermost first, as keys.
    pub fn frames(&self, node: u32) -> impl Iterator<Item = FrameKey> + '_ {
        self.tree.frames(node)
    }

    /// The context that a record of this heap is for.
    pub fn node_of(&self, record: u32) -> u32 {
        records::context(record).unwrap_or(NO_NODE)
    }
}
