//! Whole chains that were seen: an allocation whose chain is one of them proves it by comparing the stack words
//! that the chain depends on, and touches neither tree nor rules but one.
//!
//! A chain is looked up by where it begins: location, stack pointer, and the caller's return address where the
//! location's rule says at once where that is. So chains through a wrapper, as `operator new` is one, are told
//! apart at no cost. Where a word further out differs from the entry found, the chain may be another one that is
//! the same as far as it has been compared: it is looked up by that entry, the place of the word and what the stack
//! holds there, and only what is then still to be compared is kept for it.
//!
//! Nothing is removed singly. When there is no more room, the memo starts anew; if what it held was hardly ever found
//! again, because there are more chains in turn than it has room for, it first rests for a while.

use core::alloc::Layout;

use allocator_api2::alloc::Allocator;

use crate::arena::{Arena, Array, Zeroable};
use crate::chain::Proof;
use crate::records::Counted;
use crate::unwind::{State, read_word};
use crate::words::{self, Word};

const FIRST_SLOTS: usize = 128;
/// A chain with more words than this has no entry: it is cheaper found from the last one.
const ENTRY_WORDS: usize = 96;
/// Words a chain takes on average; more of them together fill the memo.
const WORDS_PER_ENTRY: usize = 8;
/// How often an entry is to be found again, on average, to be worth the making.
const WORTHWHILE_HITS: usize = 2;
/// Chains not kept after those kept were not worth it; doubled each time.
const REST: u32 = 16 * 1024;
const LONGEST_REST: u32 = 1 << 22;

/// A chain that was seen. Its words follow it in the pool.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct Entry {
    key: Key,
    /// Counter record that was last used for the chain.
    counted: Counted,
    /// Frame pointer at the chain's entry, if `live`.
    bp: usize,
    /// The caller's return address that the entry was hashed with, or 0.
    second: usize,
    /// Calling context, and the category that `counted` is for in the low bits.
    node: u32,
    /// Words that follow, without the one that stops.
    words: u32,
    /// How often the entry was found again.
    hits: u32,
    /// Whether the frame pointer is to be compared.
    live: bool,
}

/// The pool is in units of this length; an entry takes four.
const UNIT: usize = size_of::<Word>();
const ENTRY_UNITS: usize = size_of::<Entry>().div_ceil(UNIT);
const _: () = assert!(size_of::<Entry>().is_multiple_of(UNIT) && align_of::<Entry>() <= align_of::<Word>());

const CATEGORY_BITS: u32 = 4;

/// What a chain leads to.
#[derive(Debug, Clone, Copy)]
pub struct Leaf {
    /// Calling context.
    pub node: u32,
    /// Category of the allocation.
    pub category: u8,
    /// Counter record of the two.
    pub counted: Counted,
}

impl Entry {
    /// Calling context.
    pub fn node(&self) -> u32 {
        self.node >> CATEGORY_BITS
    }

    /// Category that the counter record is for.
    #[inline(always)]
    pub fn category(&self) -> u8 {
        (self.node & ((1 << CATEGORY_BITS) - 1)) as u8
    }

    /// The counter record that was last used for the chain.
    #[inline(always)]
    pub fn counted(&self) -> Option<Counted> {
        Some(self.counted)
    }

    /// Sets the counter record and the category that it is for.
    pub fn set_counted(&mut self, counted: Counted, category: u8) {
        self.counted = counted;
        self.node = self.node >> CATEGORY_BITS << CATEGORY_BITS | u32::from(category);
    }
}

/// What an entry is looked up by: stack pointer and location of a chain's beginning; or another entry, the index of
/// the word of it that differs, and what the stack held there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
struct Key {
    from: u64,
    value: u64,
}

/// Marks the keys that go on from another entry; user space has no such stack pointers.
const BRANCH: u64 = 1 << 63;

impl Key {
    #[inline(always)]
    fn of_entry(state: &State) -> Key {
        Key { from: state.sp as u64, value: state.location.word() }
    }

    #[inline(always)]
    fn branch(from: u32, index: usize, value: usize) -> Key {
        Key { from: BRANCH | u64::from(from) << 16 | index as u64, value: value as u64 }
    }

    /// A hash of the key and, for a beginning, the caller's return address.
    #[inline(always)]
    fn hash(&self, second: usize) -> u64 {
        let product = u128::from(self.from ^ (second as u64).rotate_left(16) ^ 0x9e37_79b9_7f4a_7c15)
            * u128::from(self.value ^ 0xa076_1d64_78bd_642f);
        (product >> 64) as u64 ^ product as u64
    }
}

/// Where a lookup ended without success: the key under which the chain is to be kept.
#[derive(Debug, Clone, Copy)]
pub struct Miss(Key);

/// A slot of the hash table: index of an entry's first unit, plus 1, and bits of its key's hash. 0: free.
type Slot = u64;

/// The table of a memo that has none yet: it is read only.
static NO_SLOT: Slot = 0;

/// The memo of one thread.
#[derive(Debug)]
pub struct Memo {
    slots: *mut Slot,
    /// Number of slots less one; 0 while there is but [`NO_SLOT`].
    mask: usize,
    /// Entries and their words, in units of a word.
    pool: Array<Word>,
    entries: usize,
    /// Entries at most.
    limit: usize,
    /// Chains still not to be kept, and how many not to keep after the next failure.
    rest: u32,
    next_rest: u32,
}

// SAFETY: integers, raw pointers, empty arrays.
unsafe impl Zeroable for Memo {}

impl Memo {
    /// Makes an all-zero memo ready for use. `chains`: how many are kept at most.
    pub fn start(&mut self, chains: usize) {
        self.limit = chains;
        self.slots = (&raw const NO_SLOT).cast_mut();
    }

    /// The entry that the stack proves to be of the present chain, or the place for it. `second`: the return
    /// address of the caller's frame, or 0; always the same for the same state.
    ///
    /// # Safety
    /// `state` is that of a live frame of the calling thread.
    #[inline(always)]
    pub unsafe fn find(&mut self, state: &State, second: usize) -> Result<&mut Entry, Miss> {
        let mut key = Key::of_entry(state);
        let mut hash = key.hash(second);
        loop {
            let Some(index) = self.lookup(&key, hash) else { return Err(Miss(key)) };
            let entry = self.entry(index);
            // SAFETY: the entry is in the pool, with its words behind it.
            let (words, last) = unsafe { (Self::words(entry), (*entry).words as usize) };
            // SAFETY: as above.
            key = if unsafe { (*entry).live && (*entry).bp != state.bp } {
                Key::branch(index, last + 1, state.bp)
            } else {
                // SAFETY: a walk from this very state read these words in this order, and those before them in the
                // entries that led here.
                let at = unsafe { words::compare(words, last) };
                if at == 0 {
                    // SAFETY: as above, and the memo is borrowed mutably.
                    let entry = unsafe { &mut *entry };
                    entry.hits = entry.hits.wrapping_add(1);
                    return Ok(entry);
                }
                // SAFETY: the word was read for the comparison just now.
                Key::branch(index, at, unsafe { read_word((*words.add(at)).address) })
            };
            hash = key.hash(0);
        }
    }

    #[inline(always)]
    fn entry(&self, index: u32) -> *mut Entry {
        // SAFETY: indices come from the table, which holds those of entries in the pool.
        unsafe { self.pool.start().add(index as usize).cast_mut().cast() }
    }

    /// An entry's words.
    ///
    /// # Safety
    /// The entry is in the pool.
    #[inline(always)]
    unsafe fn words(entry: *const Entry) -> *const Word {
        // SAFETY: they follow it.
        unsafe { entry.cast::<Word>().add(ENTRY_UNITS) }
    }

    /// Index of the entry with this key.
    #[inline(always)]
    fn lookup(&self, key: &Key, hash: u64) -> Option<u32> {
        let mut at = hash as usize;
        loop {
            // SAFETY: the index is masked into the table.
            let slot = unsafe { *self.slots.add(at & self.mask) };
            if slot == 0 {
                return None;
            }
            if slot >> 32 == hash >> 32 {
                let index = slot as u32 - 1;
                // SAFETY: the entry is in the pool.
                if unsafe { (*self.entry(index)).key == *key } {
                    return Some(index);
                }
            }
            at += 1;
        }
    }

    /// Keeps a chain where [`Memo::find`] did not find it. `state`, `second` and the stack are as they were then
    /// (but `second` may have become known since).
    pub fn insert(&mut self, Miss(key): Miss, state: &State, second: usize, proof: Proof<'_>, leaf: Leaf) {
        if self.rest > 0 {
            self.rest -= 1;
            return;
        }
        if proof.words.len() > ENTRY_WORDS || !self.has_room(proof.words.len()) {
            return;
        }
        let branch = key.from & BRANCH != 0;
        if branch && (key.from >> 16) as u32 as usize >= self.pool.len() {
            return; // the memo was emptied since
        }
        let start = self.pool.len();
        let second = if branch { 0 } else { second };
        if !self.push_entry(key, state, second, proof, leaf) {
            self.pool.truncate(start);
            return;
        }
        self.entries += 1;
        self.enter(key.hash(second), start as u32 + 1);
    }

    /// Appends an entry and those words that the entries on the way to it did not compare. False without memory.
    fn push_entry(&mut self, key: Key, state: &State, second: usize, proof: Proof<'_>, leaf: Leaf) -> bool {
        let mut compared = Compared::default();
        let Some(bp_compared) = self.collect_compared(key, &mut compared) else { return false };
        let start = self.pool.len();
        for _ in 0..ENTRY_UNITS {
            if !self.pool.push(Word::stop()) {
                return false;
            }
        }
        if !self.pool.push(Word::stop()) {
            return false;
        }
        for word in proof.words {
            if !compared.contains(word.address) && !self.pool.push(*word) {
                return false;
            }
        }
        let words = (self.pool.len() - start - ENTRY_UNITS - 1) as u32;
        let live = proof.live && !bp_compared;
        let node = leaf.node << CATEGORY_BITS | u32::from(leaf.category);
        let entry = Entry { key, counted: leaf.counted, node, bp: state.bp, second, words, hits: 0, live };
        // SAFETY: the units were appended for it.
        unsafe { self.entry(start as u32).write(entry) };
        true
    }

    /// Collects the addresses that the entries on the way to `key` compare: of each its words down to the one that
    /// differed, for which the key has the value. Returns whether they compare the frame pointer; `None` where it
    /// is too much.
    fn collect_compared(&self, mut key: Key, compared: &mut Compared) -> Option<bool> {
        let mut bp_compared = false;
        while key.from & BRANCH != 0 {
            let entry = self.entry((key.from >> 16) as u32);
            let differing = (key.from & 0xffff) as usize;
            // SAFETY: the entry is in the pool with its words; the caller's key is of this pool.
            unsafe {
                bp_compared |= (*entry).live;
                for index in differing..=(*entry).words as usize {
                    compared.push((*Self::words(entry).add(index)).address)?;
                }
                key = (*entry).key;
            }
        }
        Some(bp_compared)
    }

    /// Sees to it that there is room for one more entry and its words. False while the memo is to rest, and
    /// without memory.
    fn has_room(&mut self, words: usize) -> bool {
        let units = self.limit * (ENTRY_UNITS + 1 + WORDS_PER_ENTRY);
        if self.entries >= self.limit || self.pool.len() + ENTRY_UNITS + 1 + words > units {
            let worth_it = self.hits() >= self.entries * WORTHWHILE_HITS;
            self.clear();
            if !worth_it {
                self.next_rest = (self.next_rest * 2).clamp(REST, LONGEST_REST);
                self.rest = self.next_rest;
                return false;
            }
            self.next_rest = 0;
        }
        if self.entries * 2 >= self.mask {
            self.grow();
        }
        self.entries < self.mask
    }

    /// How often entries were found again.
    fn hits(&self) -> usize {
        let mut hits = 0;
        let mut at = 0;
        while at < self.pool.len() {
            // SAFETY: the pool is a row of entries, each followed by its words.
            let entry = unsafe { &*self.entry(at as u32) };
            hits += entry.hits as usize;
            at += ENTRY_UNITS + 1 + entry.words as usize;
        }
        hits
    }

    /// Doubles the table, or makes it; leaves it as it is when there is no memory.
    #[cold]
    fn grow(&mut self) {
        let (old, old_count) = (self.slots, if self.mask == 0 { 0 } else { self.mask + 1 });
        let count = (old_count * 2).max(FIRST_SLOTS);
        let Ok(layout) = Layout::array::<Slot>(count) else { return };
        let Ok(memory) = Arena.allocate(layout) else { return };
        self.slots = memory.cast::<Slot>().as_ptr();
        self.mask = count - 1;
        // SAFETY: the new table has `count` slots; the old one came from the arena, has `old_count`, and is not
        // used after. Bits 32 and up of a hash and those below the mask are not kept: entries are hashed anew.
        unsafe {
            core::slice::from_raw_parts_mut(self.slots, count).fill(0);
            for index in 0..old_count {
                let slot = *old.add(index);
                if slot != 0 {
                    self.enter(self.rehash(slot as u32 - 1), slot as u32);
                }
            }
            if let (true, Ok(layout)) = (old_count != 0, Layout::array::<Slot>(old_count)) {
                Arena.deallocate(core::ptr::NonNull::new_unchecked(old).cast(), layout);
            }
        }
    }

    /// The hash that an entry was entered by.
    fn rehash(&self, index: u32) -> u64 {
        // SAFETY: the entry is in the pool with its words.
        unsafe {
            let entry = &*self.entry(index);
            entry.key.hash(entry.second)
        }
    }

    /// Puts an entry into the table, which has a free slot.
    fn enter(&mut self, hash: u64, number: u32) {
        let mut at = hash as usize;
        loop {
            // SAFETY: the index is masked into the table.
            let slot = unsafe { &mut *self.slots.add(at & self.mask) };
            if *slot == 0 {
                *slot = hash >> 32 << 32 | u64::from(number);
                return;
            }
            at += 1;
        }
    }

    /// Forgets all chains.
    pub fn clear(&mut self) {
        self.entries = 0;
        self.pool.truncate(0);
        if self.mask != 0 {
            // SAFETY: the table has this many slots.
            unsafe { core::slice::from_raw_parts_mut(self.slots, self.mask + 1) }.fill(0);
        }
    }
}

/// Addresses that have been compared.
struct Compared {
    addresses: [usize; 2 * ENTRY_WORDS],
    count: usize,
}

impl Default for Compared {
    fn default() -> Self {
        Compared { addresses: [0; 2 * ENTRY_WORDS], count: 0 }
    }
}

impl Compared {
    fn push(&mut self, address: usize) -> Option<()> {
        *self.addresses.get_mut(self.count)? = address;
        self.count += 1;
        Some(())
    }

    fn contains(&self, address: usize) -> bool {
        self.addresses[..self.count].contains(&address)
    }
}
