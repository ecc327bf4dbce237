//! Counter records: what was allocated at the end of one call chain, in one category.
//!
//! Records live in chunks of 1024 that never move, so that a header can name one by number and a dump can read
//! them while their owner counts. A chunk belongs to one heap, whose thread counts without locks; others add their
//! frees, atomically, to a part beside the chunk. That part, what was put aside for the peak (see [`crate::ledger`]) and
//! unusual lifetimes of freed objects exist only where there is something to say.

mod beside;
mod tallies;
mod unknown;

use core::ptr::null_mut;
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering};

use crate::arena::{Zeroable, new_zeroed};
use crate::heap::Heap;
use crate::ledger::Epoch;
use crate::lifetimes::{Ages, Freed, Lifetimes, Recent};
use crate::note;
use crate::watch::{Grown, Growth};
use beside::{Beside, Kept, Remote, Sparse, beside, existing, sparse};

pub use tallies::{Tally, of_context};
pub use unknown::{allocate_unknown, allocate_unknown_collected, free_common, unknown_tallies};

/// Records in a chunk.
pub const CHUNK: usize = 1024;
const CHUNK_BITS: u32 = 10;
/// Chunks at most: record numbers have 28 bits.
const CHUNKS: usize = 1 << (28 - CHUNK_BITS);

/// Allocations that are not recorded (recording is off, or there is no memory): their frees are ignored.
pub const UNRECORDED: u32 = 1;
/// From this one on, objects are freed by a garbage collector, and are not in the balance.
const FIRST_COLLECTED: u32 = 4;

/// A count that its owner raises without a lock prefix.
#[derive(Debug, Default)]
#[repr(transparent)]
pub struct Count(AtomicU64);

impl Count {
    /// Nothing counted yet.
    pub const fn new() -> Count {
        Count(AtomicU64::new(0))
    }

    /// Sets the count. Only by the owner, or while nothing counts.
    #[inline(always)]
    pub fn set(&self, count: u64) {
        self.0.store(count, Ordering::Relaxed);
    }

    /// Adds as the owner.
    #[inline(always)]
    pub fn add_owned(&self, amount: u64) {
        self.set(self.get().wrapping_add(amount));
    }

    /// Adds from any thread.
    #[inline]
    pub fn add_shared(&self, amount: u64) {
        self.0.fetch_add(amount, Ordering::Relaxed);
    }

    /// The count now.
    #[inline(always)]
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// What was allocated and freed. All that its owner counts is in one cache line.
#[derive(Debug, Default)]
#[repr(C, align(64))]
pub struct Record {
    /// Objects allocated; in the high 16 bits the mark of the epoch in which it last put aside what it held.
    allocs: Count,
    /// Bytes allocated.
    bytes: Count,
    /// Objects freed by the owner.
    frees: Count,
    /// Bytes freed by the owner.
    freed_bytes: Count,
    /// Lifetimes of objects freed by the owner.
    lifetimes: Recent,
}

const _: () = assert!(size_of::<Record>() == 64, "a cache line");

const MARK_SHIFT: u32 = 48;
const ALLOCS: u64 = (1 << MARK_SHIFT) - 1;

impl Record {
    fn allocs(&self) -> u64 {
        self.allocs.get() & ALLOCS
    }

    /// Whether the record has put aside what it held in the epoch of this mark, or need not (see
    /// [`ledger::Balance::mark`]).
    #[inline(always)]
    fn is_marked(&self, (mark, mask): (u16, u16)) -> bool {
        ((self.allocs.get() >> MARK_SHIFT) as u16 ^ mark) & mask == 0
    }

    /// Adds objects and bytes, as the owner, in a category that is not in the balance.
    #[inline(always)]
    pub fn add(&self, objects: u64, bytes: u64) {
        self.allocs.add_owned(objects);
        self.bytes.add_owned(bytes);
    }
}

/// A counter record and its number.
#[derive(Debug, Clone, Copy)]
pub struct Counted {
    record: &'static Record,
    number: u32,
}

impl Counted {
    /// The record's number.
    #[inline(always)]
    pub fn number(self) -> u32 {
        self.number
    }

    /// The record itself.
    #[inline(always)]
    pub fn record(self) -> &'static Record {
        self.record
    }

    /// Books an allocation, as the record's owner; the record first puts aside what it holds if it is to (see
    /// [`ledger::Balance::mark`]).
    #[inline(always)]
    pub fn allocate(self, size: u64, mark: (u16, u16)) {
        if !self.record.is_marked(mark) {
            put_aside(self.number, mark.0);
        }
        self.record.allocs.add_owned(1);
        self.record.bytes.add_owned(size);
    }
}

/// Has a record put aside what it holds, as its owner.
#[cold]
#[inline(never)]
fn put_aside(number: u32, mark: u16) {
    if let Some(chunk) = chunk_of(number) {
        chunk.put_aside(number as usize % CHUNK, mark);
    }
}

impl core::fmt::Debug for Chunk {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Chunk").field("first", &self.first).finish_non_exhaustive()
    }
}

/// A chunk of records.
#[repr(C, align(64))]
pub struct Chunk {
    owner: AtomicPtr<Heap>,
    remotes: AtomicPtr<Beside<Remote>>,
    kept: AtomicPtr<Beside<Kept>>,
    lifetimes: AtomicPtr<Sparse<Lifetimes>>,
    ages: AtomicPtr<Beside<Ages>>,
    growth: AtomicPtr<Beside<Growth>>,
    /// Contexts that a dump wrote before those of the owner, and one; 0 before the first.
    base: AtomicU32,
    /// Records in use: those below this index are filled in.
    used: AtomicU32,
    /// Number of the first record.
    first: AtomicU32,
    /// Context of each record (its node's index, times 16, plus the category).
    contexts: [AtomicU32; CHUNK],
    /// The record of the same context and another category that was made before; 0: none.
    others: [AtomicU32; CHUNK],
    records: [Record; CHUNK],
}

// SAFETY: integers and raw pointers.
unsafe impl Zeroable for Chunk {}

/// The chunks by number. Null: not there yet, or inherited over a fork (then frees are none of ours).
static DIRECTORY: [AtomicPtr<Chunk>; CHUNKS] = [const { AtomicPtr::new(null_mut()) }; CHUNKS];
/// The same, with those that are not this recording's any more: a hook that a fork in a signal handler, or a new
/// recording, has come between still counts in the record that it was about to, where nobody reads it.
static EVERY: [AtomicPtr<Chunk>; CHUNKS] = [const { AtomicPtr::new(null_mut()) }; CHUNKS];
/// Chunks given out so far; number 0 is the first of [`COMMON`]. Numbers are never used again, not even after a fork.
static ISSUED: AtomicU32 = AtomicU32::new(1);
/// Set where a record could not put aside what it held, for want of memory.
static PEAK_LOST: AtomicBool = AtomicBool::new(false);

/// Whether there are chunk numbers left. Says so, once, when they have run out.
fn are_left() -> bool {
    static SAID: AtomicU32 = AtomicU32::new(0);
    let left = (ISSUED.load(Ordering::Relaxed) as usize) < CHUNKS;
    if !left && SAID.swap(1, Ordering::Relaxed) == 0 {
        note::say(format_args!(
            "there are more call chains than can be numbered: further ones are filed under [unknown]"
        ));
    }
    left
}

/// The next chunk number; `None` when they have run out.
fn issue_chunk() -> Option<u32> {
    ISSUED
        .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |issued| {
            ((issued as usize) < CHUNKS).then_some(issued + 1)
        })
        .ok()
}

impl Chunk {
    /// A new, empty chunk of `owner`; `None` when memory or numbers have run out.
    pub fn create(owner: *mut Heap) -> Option<&'static Chunk> {
        if !are_left() {
            return None;
        }
        let chunk: &'static Chunk = new_zeroed::<Chunk>()?;
        let number = issue_chunk()?;
        chunk.owner.store(owner, Ordering::Relaxed);
        chunk.first.store(number << CHUNK_BITS, Ordering::Relaxed);
        let address = (&raw const *chunk).cast_mut();
        EVERY[number as usize].store(address, Ordering::Release);
        DIRECTORY[number as usize].store(address, Ordering::Release);
        Some(chunk)
    }

    /// A new record for a context; `None` when the chunk is full. `other`: number of the context's latest record so
    /// far, or 0.
    pub fn issue(&'static self, node: u32, category: u32, other: u32) -> Option<Counted> {
        let index = self.used.load(Ordering::Relaxed);
        let record = self.records.get(index as usize)?;
        self.contexts[index as usize].store(node << 4 | category, Ordering::Relaxed);
        self.others[index as usize].store(other, Ordering::Relaxed);
        self.used.store(index + 1, Ordering::Release);
        Some(Counted { record, number: self.first.load(Ordering::Relaxed) + index })
    }

    /// The heap that owns the chunk.
    #[inline(always)]
    pub fn owner(&self) -> *mut Heap {
        self.owner.load(Ordering::Relaxed)
    }

    /// Books a free, as the owner; the record first puts aside what it holds if it is to (see
    /// [`ledger::Balance::mark`]).
    #[inline(always)]
    pub fn free(&self, number: u32, freed: Freed, mark: (u16, u16)) {
        let index = number as usize % CHUNK;
        let record = &self.records[index];
        if !record.is_marked(mark) {
            self.put_aside(index, mark.0);
        }
        record.frees.add_owned(1);
        record.freed_bytes.add_owned(freed.size);
        record.lifetimes.count(freed, move || self.lifetimes(index));
    }

    /// All lifetimes of a record's objects; made now if need be.
    fn lifetimes(&self, index: usize) -> Option<&'static Lifetimes> {
        sparse(&self.lifetimes, index)
    }

    /// Has a record put aside what it holds, as the owner.
    #[cold]
    #[inline(never)]
    fn put_aside(&self, index: usize, mark: u16) {
        let Some(kept) = existing(&self.kept, index) else { return self.put_aside_first(index, mark) };
        let record = &self.records[index];
        let allocs = record.allocs();
        kept.objects.set(allocs.saturating_sub(record.frees.get()));
        kept.bytes.set(record.bytes.get().saturating_sub(record.freed_bytes.get()));
        record.allocs.set(allocs | u64::from(mark) << MARK_SHIFT);
    }

    /// The same where no record of the chunk has put anything aside before.
    #[cold]
    #[inline(never)]
    fn put_aside_first(&self, index: usize, mark: u16) {
        if beside(&self.kept).is_some() {
            self.put_aside(index, mark);
        } else {
            PEAK_LOST.store(true, Ordering::Relaxed);
        }
    }

    /// Takes the marks of epochs away, as the owner: they are used anew.
    pub fn clear_marks(&self) {
        for record in &self.records[..(self.used.load(Ordering::Relaxed) as usize).min(CHUNK)] {
            record.allocs.set(record.allocs());
        }
    }

    /// Books a free that another thread than the owner's makes.
    #[inline(never)]
    pub fn free_remotely(&self, number: u32, freed: Freed, epoch: Epoch) {
        if let Some(lifetimes) = self.lifetimes(number as usize % CHUNK) {
            lifetimes.count_shared(freed);
        }
        self.free_ageless(number, freed.size, epoch);
    }

    /// Books a free of an object whose age is not known, from any thread.
    pub fn free_ageless(&self, number: u32, size: u64, epoch: Epoch) {
        let index = number as usize % CHUNK;
        let Some(remotes) = beside(&self.remotes) else {
            // Without memory the owner's own counts are the only place left.
            self.records[index].frees.add_shared(1);
            self.records[index].freed_bytes.add_shared(size);
            return;
        };
        let remote = &remotes[index];
        remote.enter(epoch);
        remote.frees.add_shared(1);
        remote.freed_bytes.add_shared(size);
    }

    /// Notes the age of a freed object in allocations, and what of its age in KiB was not counted with it; from any thread.
    pub fn note_age(&self, number: u32, allocations: u64, kib: u64) {
        let index = number as usize % CHUNK;
        if let Some(ages) = beside(&self.ages) {
            ages[index].count(allocations);
        }
        if kib > 0
            && let Some(lifetimes) = self.lifetimes(index)
        {
            lifetimes.add_age(kib);
        }
    }

    /// Notes a reallocation that made an object of a record, as the owner.
    pub fn grow(&self, number: u32, grown: Grown, size: usize) {
        if let Some(growth) = beside(&self.growth) {
            growth[number as usize % CHUNK].count(grown, size);
        }
    }

    /// Notes that a dump has written so many contexts before those of the owner.
    pub fn set_base(&self, contexts: u32) {
        self.base.store(contexts + 1, Ordering::Relaxed);
    }

    /// Records in use.
    pub fn used(&self) -> usize {
        self.used.load(Ordering::Acquire) as usize
    }
}

/// Whether the heap at its peak is not known in full.
pub fn is_peak_lost() -> bool {
    PEAK_LOST.load(Ordering::Relaxed)
}

/// Who counts the objects of a record.
#[derive(Debug, Clone, Copy)]
pub struct Counter {
    /// The record's number.
    pub number: u32,
    /// The chunk that it is in; `None`: it is in no heap's.
    pub chunk: Option<&'static Chunk>,
}

/// Who counts the objects of record `number`; `None` where no record of this number was ever issued, in this
/// process or one that it was forked from.
#[inline(always)]
pub fn counter(number: u32) -> Option<Counter> {
    let chunk = chunk_of(number);
    (chunk.is_some() || was_issued(number)).then_some(Counter { number, chunk })
}

/// A record in a heap's chunk, by its number, also after the recording that it is of.
///
/// # Safety
/// Such a record was issued in this process, or one that it was forked from.
#[inline(always)]
pub unsafe fn of_heap(number: u32) -> Counted {
    let chunk = EVERY[(number >> CHUNK_BITS) as usize & (CHUNKS - 1)].load(Ordering::Relaxed);
    // SAFETY: as the caller vouches; chunks stay.
    let chunk = unsafe { &*chunk };
    Counted { record: &chunk.records[number as usize % CHUNK], number }
}

/// The record of a context for a category, among `latest` and those made before it for the same context.
pub fn for_category(latest: u32, category: u32) -> Option<Counted> {
    let mut number = latest;
    while number != 0 {
        let (chunk, index) = (chunk_of(number)?, number as usize % CHUNK);
        if chunk.contexts[index].load(Ordering::Relaxed) & 0xf == category {
            return Some(Counted { record: &chunk.records[index], number });
        }
        number = chunk.others[index].load(Ordering::Relaxed);
    }
    None
}

/// The context, in its owner's tree, that a heap's record is for.
pub fn context(number: u32) -> Option<u32> {
    chunk_of(number).map(|chunk| chunk.contexts[number as usize % CHUNK].load(Ordering::Relaxed) >> 4)
}

/// The context that the last dump wrote for a record, and its category.
pub fn written(number: u32) -> Option<(u32, u32)> {
    let chunk = chunk_of(number)?;
    let context = chunk.contexts[number as usize % CHUNK].load(Ordering::Relaxed);
    // Nodes count from 1.
    let first = chunk.base.load(Ordering::Relaxed).checked_sub(1)?;
    Some((first + (context >> 4).checked_sub(1)?, context & 0xf))
}

/// Has a reallocation noted that made an object of a record, by the record's owner.
pub fn grow(number: u32, grown: Grown, size: usize) {
    if let Some(chunk) = chunk_of(number) {
        chunk.grow(number, grown, size);
    }
}

/// The chunk that a record is in; `None` for one that belongs to no heap of this process.
#[inline(always)]
fn chunk_of(number: u32) -> Option<&'static Chunk> {
    let chunk = DIRECTORY[(number >> CHUNK_BITS) as usize & (CHUNKS - 1)].load(Ordering::Relaxed);
    // SAFETY: chunks are published whole and never freed.
    unsafe { chunk.as_ref() }
}

/// Whether a record in a heap's chunk is of an earlier recording, or of a process that this one was forked from.
pub fn is_forgotten(number: u32) -> bool {
    chunk_of(number).is_none()
        && !EVERY[(number >> CHUNK_BITS) as usize & (CHUNKS - 1)].load(Ordering::Relaxed).is_null()
}

/// Whether a record of this number was ever issued.
#[cold]
fn was_issued(number: u32) -> bool {
    number != 0 && number >> CHUNK_BITS < ISSUED.load(Ordering::Relaxed)
}

/// In a child after a fork: nothing that was recorded before is this process's.
pub fn forget_all() {
    for slot in &DIRECTORY[..ISSUED.load(Ordering::Relaxed) as usize] {
        slot.store(null_mut(), Ordering::Relaxed);
    }
    PEAK_LOST.store(false, Ordering::Relaxed);
    unknown::forget_all(issue_chunk().map(|number| number << CHUNK_BITS));
}

/// All record numbers issued so far are below this.
pub fn limit() -> u32 {
    ISSUED.load(Ordering::Acquire) << CHUNK_BITS
}

/// All chunks there are, in the order of their making.
pub fn chunks() -> impl Iterator<Item = &'static Chunk> {
    let issued = ISSUED.load(Ordering::Acquire) as usize;
    DIRECTORY[..issued].iter().filter_map(|slot| {
        // SAFETY: chunks are published whole and never freed.
        unsafe { slot.load(Ordering::Acquire).as_ref() }
    })
}
