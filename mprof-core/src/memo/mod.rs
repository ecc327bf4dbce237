//! Whole chains that were seen: an allocation whose chain is one of them proves it by comparing the stack words
//! that the chain depends on, and touches neither tree nor rules but one.
//!
//! A chain is looked up by where it begins: location and stack pointer. Where a word differs from the entry found, the
//! chain may be another one that is the same as far as it has been compared: it is looked up by that entry, the place
//! of the word and what the stack holds there, and only what is then still to be compared is kept for it. Where
//! chains differ in the very first word, the location is in a wrapper, as `operator new` is one: from then on its
//! chains are looked up by the caller's return address as well.
//!
//! An entry is a cache line, and words are kept once for all chains that have them (see [`pool`]): with thousands of
//! chains in turn it is lines that cost, not instructions.
//!
//! Nothing is removed singly. When there is no more room, the memo starts anew; if what it held was hardly ever found
//! again, because there are more chains in turn than it has room for, it first rests for a while.

mod pool;
mod table;

use crate::arena::Zeroable;
use crate::chain::Proof;
use crate::unwind::cache::RuleCache;
use crate::unwind::{State, read_word};
use crate::words::{self, Word};
use pool::{Link, Pool};
use table::Table;

/// A chain with more words than this has no entry: it is cheaper found from the last one.
const ENTRY_WORDS: usize = 96;
/// Addresses of words that may be compared on the way to an entry.
const MOST_COMPARED: usize = 2 * ENTRY_WORDS;
/// Lines of the pool that a chain takes on average, its segments included; more of them together fill the memo.
const LINES_PER_ENTRY: usize = 2;
/// How often an entry is to be found again, on average, to be worth the making.
const WORTHWHILE_HITS: usize = 2;
/// Chains not kept after those kept were not worth it; doubled each time.
const REST: u32 = 16 * 1024;
const LONGEST_REST: u32 = 1 << 22;

/// A chain that was seen.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
pub struct Entry {
    key: Key,
    /// Frame pointer at the chain's entry, if `live`.
    bp: usize,
    /// Counter records that were last used for the chain.
    counted: [CategoryRecord; CATEGORIES_KNOWN],
    /// Calling context.
    node: u32,
    /// The words that are to be compared, innermost segment first.
    words: Link,
    /// Whether the frame pointer is to be compared.
    live: bool,
}

const _: () = assert!(size_of::<Entry>() == 64, "a cache line");

/// Number of a counter record, and in the high bits the part of its category that does not follow from its place.
/// 0: none.
type CategoryRecord = u32;

/// Counter records known at an entry: one of the categories that are the same modulo this.
const CATEGORIES_KNOWN: usize = 4;
/// Record numbers have so many bits.
const NUMBER_BITS: u32 = 28;

/// What a chain leads to.
#[derive(Debug, Clone, Copy)]
pub struct Leaf {
    /// Calling context.
    pub node: u32,
    /// Category of the allocation.
    pub category: u8,
    /// Number of the counter record of the two.
    pub record: u32,
}

impl Entry {
    /// Calling context.
    pub fn node(&self) -> u32 {
        self.node
    }

    /// Number of the counter record for a category, if it is known here; else 0.
    #[inline(always)]
    pub fn record(&self, category: u8) -> u32 {
        let known = self.counted[category as usize % CATEGORIES_KNOWN];
        let rest = u32::from(category) / CATEGORIES_KNOWN as u32;
        if rest == 0 {
            // The categories by size: no other bits to be set.
            return if known >> NUMBER_BITS == 0 { known } else { 0 };
        }
        if known >> NUMBER_BITS == rest { known & ((1 << NUMBER_BITS) - 1) } else { 0 }
    }

    /// Sets the counter record for a category.
    pub fn set_record(&mut self, category: u8, record: u32) {
        let rest = u32::from(category) / CATEGORIES_KNOWN as u32;
        self.counted[category as usize % CATEGORIES_KNOWN] = record | rest << NUMBER_BITS;
    }
}

/// What an entry is looked up by: stack pointer and location of a chain's beginning; or another entry, the word of it
/// that differs, and what the stack held there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
struct Key {
    from: u64,
    value: u64,
}

/// Marks the keys that go on from another entry; user space has no such stack pointers.
const BRANCH: u64 = 1 << 63;

impl Key {
    /// `second`: the caller's return address, where the location is in a wrapper; else 0.
    #[inline(always)]
    fn of_entry(state: &State, second: usize) -> Key {
        // Bits 47 to 62, which no stack pointer has. Two addresses that are the same in these are told apart later.
        Key { from: state.sp as u64 ^ (second as u64) << 48 >> 1, value: state.location.word() }
    }

    #[inline(always)]
    fn branch(from: Origin, value: usize) -> Key {
        let from = u64::from(from.entry) << 32 | u64::from(from.word);
        Key { from: BRANCH | from, value: value as u64 }
    }

    /// What it goes on from, if it is such a key.
    fn origin(&self) -> Option<Origin> {
        (self.from & BRANCH != 0)
            .then_some(Origin { entry: (self.from >> 32) as u32 & 0xffff, word: self.from as u32 })
    }

    #[inline(always)]
    fn hash(&self) -> u64 {
        table::hash(self.from, self.value)
    }
}

/// The word of an entry that differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Origin {
    /// The entry's place in the pool.
    entry: u32,
    /// The word's place in the pool, or [`FRAME_POINTER`].
    word: u32,
}

/// The word of an [`Origin`] where it is the frame pointer that differs.
const FRAME_POINTER: u32 = u32::MAX;

/// Locations in wrappers, by a hash of their addresses; the last comer wins.
#[derive(Debug)]
struct Wrappers([Wrapper; Wrappers::PLACES]);

/// A location, and in the low [`DISTANCE_BITS`] how many words above the stack pointer the return address lies. 0: none.
type Wrapper = u64;

const DISTANCE_BITS: u32 = 12;

impl Wrappers {
    const PLACES: usize = 1024;

    #[inline(always)]
    fn place(location: u64) -> usize {
        (location.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (u64::BITS - Wrappers::PLACES.ilog2())) as usize
    }

    /// The caller's return address where the location is in a wrapper; else 0.
    ///
    /// # Safety
    /// `state` is that of a live frame of the calling thread, and the wrappers were learnt from the code that is loaded
    /// now.
    #[inline(always)]
    unsafe fn second(&self, state: &State) -> usize {
        let location = state.location.word();
        let wrapper = self.0[Wrappers::place(location)];
        if wrapper >> DISTANCE_BITS != location {
            return 0;
        }
        let distance = wrapper as usize % (1 << DISTANCE_BITS);
        // SAFETY: the frame is live, and its rule says that the word is its own.
        unsafe { read_word(state.sp + distance * size_of::<usize>()) }
    }

    /// Learns that a location is in a wrapper, if its rule is known.
    fn learn(&mut self, state: &State, rules: &RuleCache) {
        let Some(distance) = rules.return_address(state.location) else { return };
        let words = distance / size_of::<usize>();
        if words < 1 << DISTANCE_BITS {
            let location = state.location.word();
            self.0[Wrappers::place(location)] = location << DISTANCE_BITS | words as u64;
        }
    }

    fn clear(&mut self) {
        self.0 = [0; Wrappers::PLACES];
    }
}

/// Where a lookup ended without success: the key under which the chain is to be kept.
#[derive(Debug, Clone, Copy)]
pub struct Miss(Key);

impl Miss {
    /// The chain was not looked up; it is not to be kept.
    pub const NOWHERE: Miss = Miss(Key { from: 0, value: 0 });
}

/// The memo of one thread.
#[derive(Debug)]
pub struct Memo {
    /// Entries by their keys.
    table: Table,
    /// Entries and their words.
    pool: Pool,
    entries: usize,
    /// How often entries were found since the memo began or was emptied.
    hits: usize,
    /// Entries at most.
    limit: usize,
    /// Chains still not to be kept, and how many not to keep after the next failure.
    rest: u32,
    next_rest: u32,
    wrappers: Wrappers,
}

// SAFETY: integers, and what `start` makes ready.
unsafe impl Zeroable for Memo {}

impl Memo {
    /// Makes an all-zero memo ready for use. `chains`: how many are kept at most.
    pub fn start(&mut self, chains: usize) {
        self.limit = chains;
        self.table.start();
        self.pool.start();
    }

    /// The entry that the stack proves to be of the present chain, or the place for it.
    ///
    /// # Safety
    /// `state` is that of a live frame of the calling thread.
    #[inline(always)]
    pub unsafe fn find(&mut self, state: &State) -> Result<&mut Entry, Miss> {
        // SAFETY: as the caller vouches.
        let mut key = Key::of_entry(state, unsafe { self.wrappers.second(state) });
        loop {
            let Some(index) = self.lookup(&key) else { return Err(Miss(key)) };
            let entry = self.entry(index);
            // SAFETY: the entry is in the pool.
            let (words, live, bp) = unsafe { ((*entry).words, (*entry).live, (*entry).bp) };
            key = if live && bp != state.bp {
                Key::branch(Origin { entry: index, word: FRAME_POINTER }, state.bp)
            } else {
                // SAFETY: a walk from this very state read these words in this order, and those before them in the
                // entries that led here.
                match unsafe { self.compare(words) } {
                    None => {
                        self.hits = self.hits.wrapping_add(1);
                        // SAFETY: as above, and the memo is borrowed mutably.
                        return Ok(unsafe { &mut *entry });
                    }
                    Some((word, value)) => Key::branch(Origin { entry: index, word }, value),
                }
            };
        }
    }

    /// Compares segments with the stack, from this one outward. `None`: all equal. Otherwise the place of the word that
    /// differs, and what the stack holds.
    ///
    /// # Safety
    /// As for [`words::compare`].
    #[inline(always)]
    unsafe fn compare(&self, mut segment: Link) -> Option<(u32, usize)> {
        while !segment.is_none() {
            // SAFETY: as the caller vouches; the word that differs was read for the comparison just now.
            unsafe {
                let word = words::compare(self.pool.word(segment.last()));
                if !(*word).stops() {
                    return Some((self.pool.place(word), read_word((*word).address)));
                }
                segment = Pool::next(*word);
            }
        }
        None
    }

    #[inline(always)]
    fn entry(&self, index: u32) -> *mut Entry {
        self.pool.line(index).cast_mut().cast()
    }

    /// Index of the entry with this key.
    #[inline(always)]
    fn lookup(&self, key: &Key) -> Option<u32> {
        // SAFETY: the table holds entries in the pool.
        self.table.find(key.hash(), |index| unsafe { (*self.entry(index)).key == *key })
    }

    /// The address of the outermost word, of those of a chain, that is too far in for the memo; `None` where it is not
    /// too long.
    pub fn limit(words: &[Word]) -> Option<usize> {
        words.get(ENTRY_WORDS).map(|word| word.address)
    }

    /// Keeps a chain where [`Memo::find`] did not find it. `state` and the stack are as they were then.
    ///
    /// # Safety
    /// As for [`Memo::find`].
    pub unsafe fn insert(
        &mut self,
        miss: Miss,
        state: &State,
        rules: &RuleCache,
        proof: Proof<'_>,
        leaf: Leaf,
    ) {
        if miss.0 == Miss::NOWHERE.0 {
            return;
        }
        if self.rest > 0 {
            self.rest -= 1;
            return;
        }
        if proof.words.len() > ENTRY_WORDS || !self.has_room(proof.words.len()) {
            return;
        }
        let Miss(mut key) = miss;
        if key.origin().is_some_and(|origin| origin.entry as usize >= self.pool.len()) {
            return; // the memo was emptied since
        }
        if key.origin().is_some_and(|origin| self.is_first_word(origin)) {
            self.wrappers.learn(state, rules);
        }
        if key.origin().is_none_or(|origin| self.is_first_word(origin)) {
            // The rule may have become known just now.
            // SAFETY: as the caller vouches.
            let whole = Key::of_entry(state, unsafe { self.wrappers.second(state) });
            if self.lookup(&whole).is_none() {
                key = whole;
            }
        }
        if self.push_entry(key, state, proof, leaf) {
            self.entries += 1;
        }
    }

    /// Whether this is the word that is compared first of the chains from some beginning.
    fn is_first_word(&self, origin: Origin) -> bool {
        // SAFETY: the entry is in the pool.
        let entry = unsafe { &*self.entry(origin.entry) };
        entry.key.origin().is_none() && origin.word == entry.words.last()
    }

    /// Appends an entry and those words that the entries on the way to it did not compare. False without memory.
    fn push_entry(&mut self, key: Key, state: &State, proof: Proof<'_>, leaf: Leaf) -> bool {
        let mut compared = List::default();
        let Some(bp_compared) = self.collect_compared(key, &mut compared) else { return false };
        let mut rest = List::<Word, ENTRY_WORDS>::default();
        for word in proof.words.iter().filter(|word| !compared.as_slice().contains(&word.address)) {
            rest.push(*word);
        }
        let Some(words) = self.pool.add_words(rest.as_slice()) else { return false };
        let Some(place) = self.pool.add_lines(1) else { return false };
        let live = proof.live && !bp_compared;
        let mut entry =
            Entry { key, bp: state.bp, counted: [0; CATEGORIES_KNOWN], node: leaf.node, words, live };
        entry.set_record(leaf.category, leaf.record);
        // SAFETY: the line was appended for the entry.
        unsafe { self.entry(place).write(entry) };
        self.table.insert(key.hash(), place);
        true
    }

    /// Collects the addresses that the entries on the way to `key` compare: of each its words down to the one that
    /// differed, for which the key has the value. Returns whether they compare the frame pointer; `None` where it
    /// is too much.
    fn collect_compared(&self, mut key: Key, compared: &mut List<usize, MOST_COMPARED>) -> Option<bool> {
        let mut bp_compared = false;
        while let Some(Origin { entry, word: differing }) = key.origin() {
            // SAFETY: the entry is in the pool; the caller's key is of this pool.
            let entry = unsafe { *self.entry(entry) };
            bp_compared |= entry.live;
            if differing != FRAME_POINTER {
                for (place, word) in self.pool.words(entry.words) {
                    compared.push(word.address).then_some(())?;
                    if place == differing {
                        break;
                    }
                }
            }
            key = entry.key;
        }
        Some(bp_compared)
    }

    /// Sees to it that there is room for one more entry and its words. False while the memo is to rest, and
    /// without memory.
    fn has_room(&mut self, words: usize) -> bool {
        // At worst each word has a segment of its own.
        let most = (self.limit * LINES_PER_ENTRY).min(table::PLACES);
        if self.entries >= self.limit || self.pool.len() + 1 + words > most {
            let worth_it = self.hits >= self.entries * WORTHWHILE_HITS;
            self.empty();
            if !worth_it {
                self.next_rest = (self.next_rest * 2).clamp(REST, LONGEST_REST);
                self.rest = self.next_rest;
                return false;
            }
            self.next_rest = 0;
        }
        let pool = &self.pool;
        // SAFETY: the table holds entries in the pool.
        self.table.reserve(|place| unsafe { (*pool.line(place).cast::<Entry>()).key.hash() })
    }

    /// Forgets all that it knows, as when other code may have been loaded.
    pub fn clear(&mut self) {
        self.empty();
        self.wrappers.clear();
    }

    /// Forgets all chains, but not what it learnt of the code.
    fn empty(&mut self) {
        self.entries = 0;
        self.hits = 0;
        self.table.clear();
        self.pool.clear();
    }
}

/// A list with room for so many items.
struct List<T, const ROOM: usize> {
    items: [T; ROOM],
    count: usize,
}

impl<T: Copy + Default, const ROOM: usize> Default for List<T, ROOM> {
    fn default() -> Self {
        List { items: [T::default(); ROOM], count: 0 }
    }
}

impl<T, const ROOM: usize> List<T, ROOM> {
    /// False when there is no more room.
    fn push(&mut self, item: T) -> bool {
        let Some(place) = self.items.get_mut(self.count) else { return false };
        *place = item;
        self.count += 1;
        true
    }

    fn as_slice(&self) -> &[T] {
        &self.items[..self.count]
    }
}
