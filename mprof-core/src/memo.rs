//! Whole chains that were seen: an allocation whose chain is one of them proves it by comparing the stack words
//! that the chain depends on, and touches neither rules nor tree.
//!
//! A chain is looked up by its entry's location and stack pointer. Where a word differs from the entry found, the
//! chain may be another one that is the same as far as it has been compared: it is looked up by that entry, the
//! place of the word and what the stack holds there, and only what is then still to be compared is kept for it.
//! So all chains through a wrapper, as `operator new` is one, cost one lookup more, however many they are.
//!
//! Nothing is removed singly. When there is no more room, the memo starts anew; if what it held was hardly ever found
//! again, because there are more chains in turn than it has room for, it first rests for a while.

use core::alloc::Layout;

use allocator_api2::alloc::Allocator;

use crate::arena::{Arena, Array, Zeroable};
use crate::chain::Proof;
use crate::location::Location;
use crate::records::Record;
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

/// A chain that was seen. One cache line.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
pub struct Entry {
    key: Key,
    /// Frame pointer at the chain's entry, if `live`.
    bp: usize,
    words_start: u32,
    words_length: u16,
    /// Whether the frame pointer is to be compared.
    live: bool,
    /// How often the entry was found again, up to 255.
    hits: u8,
    /// Counter record that was last used for the chain; null before the first use.
    pub counters: *const Record,
    /// Its number.
    pub record: u32,
    /// Calling context, and the category that `record` is for in the low bits.
    node: u32,
}

const CATEGORY_BITS: u32 = 3;

impl Entry {
    /// Where in the list its words are.
    #[inline(always)]
    fn words(&self) -> core::ops::Range<usize> {
        let start = self.words_start as usize;
        start..start + usize::from(self.words_length)
    }

    /// Calling context.
    pub fn node(&self) -> u32 {
        self.node >> CATEGORY_BITS
    }

    /// Category that the counter record is for.
    #[inline(always)]
    pub fn category(&self) -> u8 {
        (self.node & ((1 << CATEGORY_BITS) - 1)) as u8
    }

    /// Sets the counter record and the category that it is for.
    pub fn set_counted(&mut self, (record, counters, category): Counted) {
        self.record = record;
        self.counters = counters;
        self.node = self.node >> CATEGORY_BITS << CATEGORY_BITS | u32::from(category);
    }
}

/// A counter record's number, the record, and the category it is for.
pub type Counted = (u32, *const Record, u8);

/// What an entry is looked up by: stack pointer and location of a chain's entry; or another entry, how many of its
/// words were left when one differed, and what the stack held instead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Key {
    from: u64,
    value: u64,
}

/// Marks the keys that go on from another entry; user space has no such stack pointers.
const BRANCH: u64 = 1 << 63;

impl Key {
    #[inline(always)]
    fn of_entry(state: &State) -> Key {
        Key {
            from: state.sp as u64,
            value: state.location.address() as u64 | Self::interrupted(state.location),
        }
    }

    #[inline(always)]
    fn interrupted(location: Location) -> u64 {
        u64::from(location.is_interrupted()) << 63
    }

    #[inline(always)]
    fn branch(from: u32, left: usize, value: usize) -> Key {
        Key { from: BRANCH | u64::from(from) << 16 | left as u64, value: value as u64 }
    }

    #[inline(always)]
    fn hash(&self) -> u64 {
        let product =
            u128::from(self.from ^ 0x9e37_79b9_7f4a_7c15) * u128::from(self.value ^ 0xa076_1d64_78bd_642f);
        (product >> 64) as u64 ^ product as u64
    }
}

/// Where a lookup ended without success: the key under which the chain is to be kept.
#[derive(Debug, Clone, Copy)]
pub struct Miss(Key);

/// A slot of the hash table: index of an entry, plus 1, and bits of its key's hash. 0: free.
type Slot = u64;

/// The memo of one thread.
#[derive(Debug)]
pub struct Memo {
    slots: *mut Slot,
    /// Number of slots less one; meaningless while `slots` is null.
    mask: usize,
    entries: Array<Entry>,
    words: Array<Word>,
    /// Entries at most.
    limit: usize,
    /// Chains still not to be kept, and how many not to keep after the next failure.
    rest: u32,
    next_rest: u32,
}

// SAFETY: integers, raw pointers, empty arrays.
unsafe impl Zeroable for Memo {}

impl Memo {
    /// Sets how many chains are kept at most.
    pub fn set_limit(&mut self, chains: usize) {
        self.limit = chains;
    }

    /// The entry that the stack proves to be of the present chain, or the place for it.
    ///
    /// # Safety
    /// `state` is that of a live frame of the calling thread.
    #[inline(always)]
    pub unsafe fn find(&mut self, state: &State) -> Result<&mut Entry, Miss> {
        let mut key = Key::of_entry(state);
        loop {
            let Some(index) = self.lookup(&key) else { return Err(Miss(key)) };
            // SAFETY: the table holds indices of entries.
            let entry = unsafe { self.entries.get_unchecked(index as usize) };
            if entry.live && entry.bp != state.bp {
                key = Key::branch(index, usize::from(entry.words_length) + 1, state.bp);
                continue;
            }
            // SAFETY: an entry's words are in the list. A walk from this very state read them in this order, and
            // those before them in the entries that led here.
            let (words, left) = unsafe {
                let words = self.words.get_unchecked(entry.words());
                (words, words::compare(words))
            };
            if left == 0 {
                // SAFETY: as above.
                let entry = unsafe { self.entries.get_unchecked_mut(index as usize) };
                entry.hits = entry.hits.saturating_add(1);
                return Ok(entry);
            }
            // SAFETY: the word was read for the comparison just now.
            key = Key::branch(index, left, unsafe { read_word(words.get_unchecked(left - 1).address) });
        }
    }

    /// Index of the entry with this key.
    #[inline(always)]
    fn lookup(&self, key: &Key) -> Option<u32> {
        if self.slots.is_null() {
            return None;
        }
        let hash = key.hash();
        let mut at = hash as usize;
        loop {
            // SAFETY: the index is masked into the table.
            let slot = unsafe { *self.slots.add(at & self.mask) };
            if slot == 0 {
                return None;
            }
            if slot >> 32 == hash >> 32 {
                let index = slot as u32 - 1;
                // SAFETY: the table holds indices of entries.
                if unsafe { self.entries.get_unchecked(index as usize) }.key == *key {
                    return Some(index);
                }
            }
            at += 1;
        }
    }

    /// Keeps a chain where [`Memo::find`] did not find it. `state` and the stack are as they were then.
    pub fn insert(&mut self, Miss(key): Miss, state: &State, proof: Proof<'_>, node: u32, counted: Counted) {
        if self.rest > 0 {
            self.rest -= 1;
            return;
        }
        if proof.words.len() > ENTRY_WORDS || !self.has_room(proof.words.len()) {
            return;
        }
        if key.from & BRANCH != 0 && (key.from >> 16) as u32 as usize >= self.entries.len() {
            return; // the memo was emptied since
        }
        let words_start = self.words.len();
        let Some(bp_compared) = self.keep_rest(key, proof) else {
            self.words.truncate(words_start);
            return;
        };
        let mut entry = Entry {
            key,
            bp: state.bp,
            words_start: words_start as u32,
            words_length: (self.words.len() - words_start) as u16,
            live: proof.live && !bp_compared,
            hits: 0,
            counters: core::ptr::null(),
            record: 0,
            node: node << CATEGORY_BITS,
        };
        entry.set_counted(counted);
        if self.entries.push(entry) {
            self.enter(key, self.entries.len() as u32);
        }
    }

    /// Keeps those words of a chain that the entries on the way to `key` did not compare. Returns whether they
    /// compared the frame pointer; `None` without memory.
    fn keep_rest(&mut self, key: Key, proof: Proof<'_>) -> Option<bool> {
        // Addresses that were compared: for each entry on the way, its words down to the one that differed, for
        // which the key has the value.
        let mut compared = [0usize; 2 * ENTRY_WORDS];
        let mut count = 0;
        let mut bp_compared = false;
        let mut key = key;
        while key.from & BRANCH != 0 {
            let entry = self.entries[(key.from >> 16) as u32 as usize];
            let left = (key.from & 0xffff) as usize;
            let words = &self.words[entry.words()];
            bp_compared |= entry.live;
            for word in words.iter().skip(left.max(1) - 1) {
                *compared.get_mut(count)? = word.address;
                count += 1;
            }
            key = entry.key;
        }
        let compared = &compared[..count];
        for word in proof.words {
            if !compared.contains(&word.address) && !self.words.push(*word) {
                return None;
            }
        }
        Some(bp_compared)
    }

    /// Sees to it that there is room for one more entry and its words. False while the memo is to rest, and
    /// without memory.
    fn has_room(&mut self, words: usize) -> bool {
        if self.entries.len() >= self.limit || self.words.len() + words > self.limit * WORDS_PER_ENTRY {
            let hits: usize = self.entries.iter().map(|entry| usize::from(entry.hits)).sum();
            let worth_it = hits >= self.entries.len() * WORTHWHILE_HITS;
            self.clear();
            if !worth_it {
                self.next_rest = (self.next_rest * 2).clamp(REST, LONGEST_REST);
                self.rest = self.next_rest;
                return false;
            }
            self.next_rest = 0;
        }
        if self.slots.is_null() || self.entries.len() * 2 > self.mask {
            self.grow();
        }
        !self.slots.is_null() && self.entries.len() < self.mask
    }

    /// Doubles the table, or makes it; leaves it as it is when there is no memory.
    #[cold]
    fn grow(&mut self) {
        let (old, old_count) = (self.slots, if self.slots.is_null() { 0 } else { self.mask + 1 });
        let count = (old_count * 2).max(FIRST_SLOTS);
        let Ok(layout) = Layout::array::<Slot>(count) else { return };
        let Ok(memory) = Arena.allocate(layout) else { return };
        self.slots = memory.cast::<Slot>().as_ptr();
        self.mask = count - 1;
        // SAFETY: the new table has `count` slots; the old one came from the arena and is not used after.
        unsafe {
            core::slice::from_raw_parts_mut(self.slots, count).fill(0);
            if let (Some(old), Ok(layout)) = (core::ptr::NonNull::new(old), Layout::array::<Slot>(old_count))
            {
                Arena.deallocate(old.cast(), layout);
            }
        }
        for index in 0..self.entries.len() {
            self.enter(self.entries[index].key, index as u32 + 1);
        }
    }

    /// Puts an entry into the table, which has a free slot.
    fn enter(&mut self, key: Key, number: u32) {
        let hash = key.hash();
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
        self.entries.truncate(0);
        self.words.truncate(0);
        if !self.slots.is_null() {
            // SAFETY: the table has this many slots.
            unsafe { core::slice::from_raw_parts_mut(self.slots, self.mask + 1) }.fill(0);
        }
    }
}
