//! Whole chains that were seen, by entry state: an allocation from a known place proves its chain unchanged by
//! comparing the stack words that the chain depends on, and touches neither rules nor tree.

use core::alloc::Layout;

use allocator_api2::alloc::Allocator;

use crate::arena::{Arena, Array, Zeroable};
use crate::records::Record;
use crate::unwind::State;
use crate::words;

const WAYS: usize = 4;
const FIRST_SETS: usize = 16;
const MOST_SETS: usize = 512;
/// Words of all entries together; when they are used up, the memo starts anew.
const MOST_WORDS: usize = 32 * 1024;
/// A chain with more words than this has no entry.
const ENTRY_WORDS: usize = 192;

/// A chain that was seen. One cache line.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
pub struct Entry {
    state: State,
    first_word: usize,
    words_start: u32,
    words_length: u16,
    live: bool,
    /// Category that `record` is for.
    pub category: u8,
    /// Calling context.
    pub node: u32,
    /// Number of the counter record of the context and category.
    pub record: u32,
    /// That record; null before the first use.
    pub counters: *const Record,
}

/// Marks of the entries of one set, side by side so that a miss costs one line.
type Tags = [u32; WAYS];

/// The memo of one thread.
#[derive(Debug)]
pub struct Memo {
    tags: *mut Tags,
    entries: *mut [Entry; WAYS],
    /// Number of sets less one; meaningless while `tags` is null.
    mask: usize,
    words: Array<u64>,
    /// Entries put over others since the table last grew.
    evictions: u32,
    /// The way that is put over next.
    victim: u32,
}

// SAFETY: integers, raw pointers, an empty array.
unsafe impl Zeroable for Memo {}

#[inline(always)]
fn hash(state: &State) -> u64 {
    (state.location.address() as u64 ^ (state.sp as u64).rotate_left(29)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// A tag is never 0: that is an empty way's.
#[inline(always)]
fn tag(hash: u64) -> u32 {
    (hash >> 32) as u32 | 1
}

impl Memo {
    /// The entry for this state, if the stack proves that its chain is the present one.
    ///
    /// # Safety
    /// `state` is that of a live frame of the calling thread.
    #[inline(always)]
    pub unsafe fn find(&mut self, state: &State) -> Option<&mut Entry> {
        if self.tags.is_null() {
            return None;
        }
        let hash = hash(state);
        let set = (hash >> 20) as usize & self.mask;
        // SAFETY: the set is masked into both tables.
        let (tags, entries) = unsafe { (&*self.tags.add(set), &mut *self.entries.add(set)) };
        let tag = tag(hash);
        for way in 0..WAYS {
            if tags[way] != tag {
                continue;
            }
            let entry = &entries[way];
            if entry.state.sp != state.sp
                || entry.state.location != state.location
                || (entry.live && entry.state.bp != state.bp)
            {
                continue;
            }
            let start = entry.words_start as usize;
            // SAFETY: an entry's words lie within the list; they were read by a walk from this very state.
            let left = unsafe {
                words::compare(self.words.get_unchecked(start..start + entry.words_length as usize), entry.first_word)
            };
            if left == 0 {
                return Some(&mut entries[way]);
            }
        }
        None
    }

    /// Remembers a chain; forgets others if need be.
    pub fn insert(&mut self, state: &State, proof: (&[u64], usize, bool), node: u32) {
        let (chain_words, first_word, live) = proof;
        if chain_words.len() > ENTRY_WORDS {
            return;
        }
        if self.tags.is_null() || self.evictions as usize > self.mask * WAYS {
            self.grow();
        }
        if self.tags.is_null() {
            return;
        }
        if self.words.len() + chain_words.len() > MOST_WORDS {
            self.clear();
        }
        let words_start = self.words.len();
        for &word in chain_words {
            if !self.words.push(word) {
                self.words.truncate(words_start);
                return;
            }
        }
        let entry = Entry {
            state: *state,
            first_word,
            words_start: words_start as u32,
            words_length: chain_words.len() as u16,
            live,
            category: 0,
            node,
            record: 0,
            counters: core::ptr::null(),
        };
        self.place(entry);
    }

    fn place(&mut self, entry: Entry) {
        let hash = hash(&entry.state);
        let set = (hash >> 20) as usize & self.mask;
        // SAFETY: the set is masked into both tables.
        let (tags, entries) = unsafe { (&mut *self.tags.add(set), &mut *self.entries.add(set)) };
        let way = tags.iter().position(|&tag| tag == 0).unwrap_or_else(|| {
            self.evictions += 1;
            self.victim = self.victim.wrapping_add(1);
            self.victim as usize % WAYS
        });
        tags[way] = tag(hash);
        entries[way] = entry;
    }

    /// Doubles the tables, or makes them; leaves them as they are when they are large enough or there is no
    /// memory.
    #[cold]
    fn grow(&mut self) {
        self.evictions = 0;
        let old_sets = if self.tags.is_null() { 0 } else { self.mask + 1 };
        let sets = (old_sets * 2).max(FIRST_SETS);
        if sets > MOST_SETS {
            return;
        }
        let (Ok(tags_layout), Ok(entries_layout)) =
            (Layout::array::<Tags>(sets), Layout::array::<[Entry; WAYS]>(sets))
        else {
            return;
        };
        let (Ok(tags), Ok(entries)) = (Arena.allocate(tags_layout), Arena.allocate(entries_layout)) else { return };
        let (old_tags, old_entries) = (self.tags, self.entries);
        self.tags = tags.cast::<Tags>().as_ptr();
        self.entries = entries.cast::<[Entry; WAYS]>().as_ptr();
        self.mask = sets - 1;
        // SAFETY: the new tables have `sets` sets, the old ones `old_sets`; both came from the arena, and the
        // old ones are not used after. Entries are read only where a tag is set.
        unsafe {
            core::slice::from_raw_parts_mut(self.tags, sets).fill([0; WAYS]);
            for set in 0..old_sets {
                for way in 0..WAYS {
                    if (*old_tags.add(set))[way] != 0 {
                        self.place((*old_entries.add(set))[way]);
                    }
                }
            }
            if let Some(old) = core::ptr::NonNull::new(old_tags)
                && let Ok(layout) = Layout::array::<Tags>(old_sets)
            {
                Arena.deallocate(old.cast(), layout);
            }
            if let Some(old) = core::ptr::NonNull::new(old_entries)
                && let Ok(layout) = Layout::array::<[Entry; WAYS]>(old_sets)
            {
                Arena.deallocate(old.cast(), layout);
            }
        }
    }

    /// Forgets all chains.
    pub fn clear(&mut self) {
        self.words.truncate(0);
        if !self.tags.is_null() {
            // SAFETY: the table has this many sets.
            unsafe { core::slice::from_raw_parts_mut(self.tags, self.mask + 1) }.fill([0; WAYS]);
        }
    }
}
