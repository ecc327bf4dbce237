//! Counter records: what was allocated at the end of one call chain, in one category.
//!
//! Records live in chunks of 1024 that never move, so that a header can name one by number and a dump can read
//! them while their owner counts. A chunk belongs to one heap. Its owner counts with single-instruction
//! additions, which a signal handler on the same thread cannot tear; others add their frees, atomically, to a
//! part beside the chunk that exists only where there was such a free.

use core::arch::asm;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering};

use crate::arena::{Zeroable, new_zeroed};
use crate::heap::Heap;
use crate::note;

/// Records in a chunk.
pub const CHUNK: usize = 1024;
const CHUNK_BITS: u32 = 10;
/// Chunks at most: record numbers have 28 bits.
const CHUNKS: usize = 1 << (28 - CHUNK_BITS);

/// Allocations that are not recorded (recording is off, or there is no memory): their frees are ignored.
pub const UNRECORDED: u32 = 1;
/// Index, in the common chunk, of the first of the records for events whose chain cannot be had: one a category.
const UNKNOWN: usize = 2;
/// Categories of such events.
const CATEGORIES: usize = 4;

/// A count that its owner raises without a lock prefix.
#[derive(Debug, Default)]
#[repr(transparent)]
pub struct Count(AtomicU64);

impl Count {
    /// Nothing counted yet.
    pub const fn new() -> Count {
        Count(AtomicU64::new(0))
    }

    /// Back to 0. Only while nothing counts.
    pub fn clear(&self) {
        self.0.store(0, Ordering::Relaxed);
    }

    /// Adds as the owner: one instruction, so that a signal handler of the same thread sees it done or not done.
    #[inline(always)]
    pub fn add_owned(&self, amount: u64) {
        // SAFETY: the address is valid and aligned. Only the owning thread writes, so no update of another
        // thread can be lost; readers of other threads see the old value or the new.
        unsafe {
            asm!("add qword ptr [{at}], {amount}", at = in(reg) &raw const self.0, amount = in(reg) amount,
                 options(nostack));
        }
    }

    /// Adds from any thread.
    #[inline]
    pub fn add_shared(&self, amount: u64) {
        self.0.fetch_add(amount, Ordering::Relaxed);
    }

    /// The count now.
    #[inline]
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// What was allocated and freed.
#[derive(Debug, Default)]
#[repr(C, align(32))]
pub struct Record {
    /// Objects allocated.
    pub allocs: Count,
    /// Bytes allocated.
    pub bytes: Count,
    /// Objects freed by the owner.
    pub frees: Count,
    /// Bytes freed by the owner.
    pub freed_bytes: Count,
}

/// What others freed of a record's objects.
#[derive(Debug, Default)]
struct Remote {
    frees: Count,
    freed_bytes: Count,
}

struct Remotes([Remote; CHUNK]);

impl core::fmt::Debug for Chunk {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Chunk").field("first", &self.first).finish_non_exhaustive()
    }
}

/// A chunk of records.
#[repr(C, align(64))]
pub struct Chunk {
    owner: AtomicPtr<Heap>,
    remotes: AtomicPtr<Remotes>,
    /// Records in use: those below this index are filled in.
    used: AtomicU32,
    /// Number of the first record.
    first: AtomicU32,
    /// Context of each record (its node's index, times 16, plus the category).
    contexts: [AtomicU32; CHUNK],
    /// The record of the same context and another category that was made before; 0: none. The owner's alone.
    others: [AtomicU32; CHUNK],
    records: [Record; CHUNK],
}

// SAFETY: integers and raw pointers.
unsafe impl Zeroable for Chunk {}
// SAFETY: integers.
unsafe impl Zeroable for Remotes {}

/// The chunks by number. Null: not there yet, or inherited over a fork (then frees are none of ours).
static DIRECTORY: [AtomicPtr<Chunk>; CHUNKS] = [const { AtomicPtr::new(null_mut()) }; CHUNKS];
/// Chunks given out so far; number 0 is the first of [`COMMON`]. Numbers are never used again, not even after a fork.
static ISSUED: AtomicU32 = AtomicU32::new(1);

/// Number of the first record of [`COMMON`]: it takes a new number with each fork, so that objects from before
/// are known as inherited.
static COMMON_FIRST: AtomicU32 = AtomicU32::new(0);

/// Records that belong to no heap and are counted by all, atomically. It is not in the directory.
static COMMON: Chunk = Chunk {
    owner: AtomicPtr::new(null_mut()),
    remotes: AtomicPtr::new(null_mut()),
    used: AtomicU32::new(0),
    first: AtomicU32::new(0),
    contexts: [const { AtomicU32::new(0) }; CHUNK],
    others: [const { AtomicU32::new(0) }; CHUNK],
    records: [const {
        Record { allocs: Count::new(), bytes: Count::new(), frees: Count::new(), freed_bytes: Count::new() }
    }; CHUNK],
};

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
        DIRECTORY[number as usize].store(&raw const *chunk as *mut Chunk, Ordering::Release);
        Some(chunk)
    }

    /// A new record for a context, and its number; `None` when the chunk is full. `other`: the context's latest
    /// record so far, or 0.
    pub fn issue(&'static self, node: u32, category: u32, other: u32) -> Option<(u32, &'static Record)> {
        let index = self.used.load(Ordering::Relaxed);
        let record = self.records.get(index as usize)?;
        self.contexts[index as usize].store(node << 4 | category, Ordering::Relaxed);
        self.others[index as usize].store(other, Ordering::Relaxed);
        self.used.store(index + 1, Ordering::Release);
        Some((self.first.load(Ordering::Relaxed) + index, record))
    }

    /// The heap that owns the chunk.
    pub fn owner(&self) -> *mut Heap {
        self.owner.load(Ordering::Relaxed)
    }

    /// What the records hold, for a dump: frees are read before allocations, so that no more is freed than was
    /// allocated.
    pub fn tallies(&self) -> impl Iterator<Item = Tally> + '_ {
        let used = self.used.load(Ordering::Acquire) as usize;
        let remotes = self.remotes.load(Ordering::Acquire);
        (0..used.min(CHUNK)).map(move |index| {
            // SAFETY: remote parts are published whole and never freed.
            let remote = unsafe { remotes.as_ref() }.map(|remotes| &remotes.0[index]);
            let context = self.contexts[index].load(Ordering::Relaxed);
            tally(&self.records[index], remote, context >> 4, context & 0xf)
        })
    }

    /// Books a free that another thread than the owner's makes.
    #[inline(never)]
    fn free_remotely(&self, index: usize, size: u64) {
        let mut remotes = self.remotes.load(Ordering::Acquire);
        if remotes.is_null() {
            let Some(fresh) = new_zeroed::<Remotes>() else {
                // Without memory the owner's own counts are the only place left.
                self.records[index].frees.add_shared(1);
                self.records[index].freed_bytes.add_shared(size);
                return;
            };
            let fresh: *mut Remotes = fresh;
            remotes =
                match self.remotes.compare_exchange(null_mut(), fresh, Ordering::AcqRel, Ordering::Acquire) {
                    Ok(_) => fresh,
                    Err(other) => other,
                };
        }
        // SAFETY: as in `tallies`.
        let remote = unsafe { &(*remotes).0[index] };
        remote.frees.add_shared(1);
        remote.freed_bytes.add_shared(size);
    }
}

/// What a record held when it was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tally {
    /// Context: index of the node in its owner's tree.
    pub node: u32,
    /// Category, as `mprof_format::kinds::Category::index` has it.
    pub category: u32,
    /// Objects allocated.
    pub allocs: u64,
    /// Bytes allocated.
    pub bytes: u64,
    /// Objects freed.
    pub frees: u64,
    /// Bytes freed.
    pub freed_bytes: u64,
}

fn tally(record: &Record, remote: Option<&Remote>, node: u32, category: u32) -> Tally {
    let mut freed_bytes = record.freed_bytes.get();
    let mut frees = record.frees.get();
    if let Some(remote) = remote {
        freed_bytes += remote.freed_bytes.get();
        frees += remote.frees.get();
    }
    core::sync::atomic::fence(Ordering::Acquire);
    Tally { node, category, bytes: record.bytes.get(), allocs: record.allocs.get(), frees, freed_bytes }
}

/// The records for events without a chain, by category.
pub fn unknown_tallies() -> impl Iterator<Item = Tally> {
    (0..CATEGORIES).map(|category| tally(&COMMON.records[UNKNOWN + category], None, 0, category as u32))
}

/// Books an allocation without a chain; returns its record's number.
#[cold]
pub fn allocate_unknown(category: u32, size: u64) -> u32 {
    let index = UNKNOWN + (category as usize).min(CATEGORIES - 1);
    let record = &COMMON.records[index];
    record.allocs.add_shared(1);
    record.bytes.add_shared(size);
    COMMON_FIRST.load(Ordering::Relaxed) + index as u32
}

/// Who counts the objects of a record.
#[derive(Debug, Clone, Copy)]
pub struct Counter {
    /// The record's number.
    number: u32,
    /// The chunk that it is in; `None`: it is in no heap's.
    chunk: Option<&'static Chunk>,
}

/// Who counts the objects of record `number`; `None` where no record of this number was ever issued, in this
/// process or one that it was forked from.
#[inline(always)]
pub fn counter(number: u32) -> Option<Counter> {
    let chunk = DIRECTORY[(number >> CHUNK_BITS) as usize & (CHUNKS - 1)].load(Ordering::Relaxed);
    // SAFETY: chunks are published whole and never freed.
    let chunk = unsafe { chunk.as_ref() };
    (chunk.is_some() || was_issued(number)).then_some(Counter { number, chunk })
}

impl Counter {
    /// Books the free of an object, on behalf of `heap` (null: of a thread without one). True if the object was
    /// allocated in this process (not inherited from before a fork, not unrecorded).
    #[inline(always)]
    pub fn free(self, size: u64, heap: *const Heap) -> bool {
        let Some(chunk) = self.chunk else { return free_common(self.number, size) };
        let index = self.number as usize % CHUNK;
        if core::ptr::eq(chunk.owner(), heap) {
            chunk.records[index].frees.add_owned(1);
            chunk.records[index].freed_bytes.add_owned(size);
        } else {
            chunk.free_remotely(index, size);
        }
        true
    }
}

#[cold]
fn free_common(number: u32, size: u64) -> bool {
    let index = number.wrapping_sub(COMMON_FIRST.load(Ordering::Relaxed)) as usize;
    if number == UNRECORDED || index >= CHUNK {
        return false;
    }
    COMMON.records[index].frees.add_shared(1);
    COMMON.records[index].freed_bytes.add_shared(size);
    true
}

/// The record of a context for a category, among `latest` and those made before it for the same context.
pub fn for_category(latest: u32, category: u32) -> Option<(u32, &'static Record)> {
    let mut number = latest;
    while number != 0 {
        let (chunk, index) = (chunk_of(number)?, number as usize % CHUNK);
        if chunk.contexts[index].load(Ordering::Relaxed) & 0xf == category {
            return Some((number, &chunk.records[index]));
        }
        number = chunk.others[index].load(Ordering::Relaxed);
    }
    None
}

/// The context, in its owner's tree, that a heap's record is for.
pub fn context(number: u32) -> Option<u32> {
    chunk_of(number).map(|chunk| chunk.contexts[number as usize % CHUNK].load(Ordering::Relaxed) >> 4)
}

fn chunk_of(number: u32) -> Option<&'static Chunk> {
    // SAFETY: chunks are published whole and never freed.
    unsafe { DIRECTORY.get((number >> CHUNK_BITS) as usize)?.load(Ordering::Acquire).as_ref() }
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
    for record in &COMMON.records[UNKNOWN..UNKNOWN + CATEGORIES] {
        for count in [&record.allocs, &record.bytes, &record.frees, &record.freed_bytes] {
            count.clear();
        }
    }
    // Without a new number (they have run out) inherited objects of the old one count as this process's.
    if let Some(number) = issue_chunk() {
        COMMON_FIRST.store(number << CHUNK_BITS, Ordering::Relaxed);
    }
}

/// All chunks there are, in the order of their making.
pub fn chunks() -> impl Iterator<Item = &'static Chunk> {
    let issued = ISSUED.load(Ordering::Acquire) as usize;
    DIRECTORY[..issued].iter().filter_map(|slot| {
        // SAFETY: chunks are published whole and never freed.
        unsafe { slot.load(Ordering::Acquire).as_ref() }
    })
}
