//! Whole chains that were seen, by entry state: an allocation from a known place proves its chain unchanged by
//! comparing the stack words that the chain depends on, and touches neither rules nor tree.

use core::alloc::Layout;

use allocator_api2::alloc::Allocator;

use crate::arena::{Arena, Zeroable};
use crate::chain::Proof;
use crate::records::Record;
use crate::unwind::State;
use crate::words::WordList;

const WAYS: usize = 4;
const FIRST_SETS: usize = 16;
const MOST_SETS: usize = 512;
/// Words of all entries together; when they are used up, the memo starts anew.
const MOST_WORDS: usize = 32 * 1024;
/// A chain with more words than this has no entry: it is cheaper found from the last one.
const ENTRY_WORDS: usize = 96;
/// Entries put over others after which it is judged whether that is worth it.
const TRIAL: u32 = 512;
/// Chains that are then not kept, if it is not; doubled each time.
const PAUSE: u32 = 4096;
const LONGEST_PAUSE: u32 = 1 << 20;

/// A chain that was seen. One cache line.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
pub struct Entry {
    state: State,
    base: usize,
    words_start: u32,
    words_length: u16,
    live: bool,
    /// Whether the entry was ever found again.
    used: bool,
    /// Category that `record` is for.
    pub category: u8,
    /// Calling context.
    pub node: u32,
    /// Number of the counter record of the context and category.
    pub record: u32,
    /// That record; null before the first use.
    pub counters: *const Record,
}

/// A counter record's number, the record, and the category it is for.
pub type Counted = (u32, *const Record, u8);

/// Marks of the entries of one set, side by side so that a miss costs one line.
type Tags = [u32; WAYS];

/// The memo of one thread.
#[derive(Debug)]
pub struct Memo {
    tags: *mut Tags,
    entries: *mut [Entry; WAYS],
    /// Number of sets less one; meaningless while `tags` is null.
    mask: usize,
    words: WordList,
    /// Entries put over others in this trial, and those of them that had never been found again.
    evictions: u32,
    wasted: u32,
    /// Chains still not to be kept, and how long the next pause will be.
    pause: u32,
    next_pause: u32,
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
            let words = self.words.part(entry.words_start as usize, entry.words_length.into(), entry.base);
            // SAFETY: they were read by a walk from this very state.
            if unsafe { words.compare() } == 0 {
                let entry = &mut entries[way];
                entry.used = true;
                return Some(entry);
            }
        }
        None
    }

    /// Remembers a chain, and forgets others if need be.
    pub fn insert(&mut self, state: &State, proof: Proof<'_>, node: u32, (record, counters, category): Counted) {
        if proof.words.len() > ENTRY_WORDS {
            return;
        }
        if self.pause > 0 {
            self.pause -= 1;
            return;
        }
        if self.tags.is_null() || self.evictions >= TRIAL {
            self.judge();
        }
        if self.tags.is_null() {
            return;
        }
        if self.words.len() + proof.words.len() > MOST_WORDS {
            self.clear();
        }
        let words_start = self.words.len();
        if !self.words.append(proof.words) {
            self.words.truncate(words_start);
            return;
        }
        self.place(Entry {
            state: *state,
            base: proof.words.base(),
            words_start: words_start as u32,
            words_length: proof.words.len() as u16,
            live: proof.live,
            used: false,
            category,
            node,
            record,
            counters,
        });
    }

    /// Makes the tables larger if entries are put over others that are in use; if most of these were never found
    /// again, there are more chains in turn than can be kept: then none is for a while.
    #[cold]
    fn judge(&mut self) {
        let wasteful = self.wasted > self.evictions / 4 * 3;
        if !self.tags.is_null() && self.mask + 1 == MOST_SETS && wasteful {
            self.next_pause = (self.next_pause * 2).clamp(PAUSE, LONGEST_PAUSE);
            self.pause = self.next_pause;
        } else {
            self.next_pause = 0;
            self.grow();
        }
        self.evictions = 0;
        self.wasted = 0;
    }

    fn place(&mut self, entry: Entry) {
        let hash = hash(&entry.state);
        let set = (hash >> 20) as usize & self.mask;
        // SAFETY: the set is masked into both tables.
        let (tags, entries) = unsafe { (&mut *self.tags.add(set), &mut *self.entries.add(set)) };
        let way = tags.iter().position(|&tag| tag == 0).unwrap_or_else(|| {
            self.victim = self.victim.wrapping_add(1);
            let victim = self.victim as usize % WAYS;
            self.evictions += 1;
            self.wasted += u32::from(!entries[victim].used);
            victim
        });
        tags[way] = tag(hash);
        entries[way] = entry;
    }

    /// Doubles the tables, or makes them; leaves them as they are when they are large enough or there is no
    /// memory.
    #[cold]
    fn grow(&mut self) {
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
