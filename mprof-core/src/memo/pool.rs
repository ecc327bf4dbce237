//! Where the memo keeps its entries, and the stack words of chains in *segments* that chains share.
//!
//! Most of a chain is that of many others: the words of the outer frames. They are cut into segments where they pass
//! from one block of the stack to the next, so that two chains with the same frames there have the same segments,
//! kept once. A segment is a list as [`crate::words`] has it, whose first word links to the segment further out.

use crate::arena::{Array, Zeroable};
use crate::memo::table::{self, Table};
use crate::words::Word;

/// Everything in the pool begins a cache line.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
struct Line([Word; WORDS_PER_LINE]);

const WORDS_PER_LINE: usize = 4;
const _: () = assert!(size_of::<Line>() == 64);

/// log2 of the bytes in a block of the stack.
const BLOCK_BITS: u32 = 11;
/// Words of a segment, without the one that stops.
const SEGMENT_WORDS: usize = 31;

/// A segment, given by the place of its last word in the pool, counted in words. It has at least one besides the one that
/// stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub(super) struct Link(u32);

impl Link {
    /// No segment.
    pub(super) const NONE: Link = Link(0);

    fn new(line: u32, count: usize) -> Link {
        Link(line * WORDS_PER_LINE as u32 + count as u32)
    }

    #[inline(always)]
    pub(super) fn is_none(self) -> bool {
        self.0 == 0
    }

    /// The place of the segment's last word.
    #[inline(always)]
    pub(super) fn last(self) -> u32 {
        self.0
    }
}

/// The pool.
#[derive(Debug)]
pub(super) struct Pool {
    lines: Array<Line>,
    /// Segments by what they hold.
    segments: Table,
}

// SAFETY: an empty array and a table that `start` makes ready.
unsafe impl Zeroable for Pool {}

impl Pool {
    /// Makes an all-zero pool ready for use.
    pub(super) fn start(&mut self) {
        self.segments.start();
    }

    /// Lines in use.
    pub(super) fn len(&self) -> usize {
        self.lines.len()
    }

    /// A line's memory.
    #[inline(always)]
    pub(super) fn line(&self, index: u32) -> *const Word {
        self.word(index * WORDS_PER_LINE as u32)
    }

    /// The word at a place.
    #[inline(always)]
    pub(super) fn word(&self, place: u32) -> *const Word {
        debug_assert!((place as usize) < self.lines.len() * WORDS_PER_LINE);
        // SAFETY: the caller's place is in a line in use.
        unsafe { self.lines.start().cast::<Word>().add(place as usize) }
    }

    /// The place of a word.
    #[inline(always)]
    pub(super) fn place(&self, word: *const Word) -> u32 {
        // SAFETY: the caller's word is in the pool.
        unsafe { word.offset_from(self.lines.start().cast()) as u32 }
    }

    /// The segment further out than the one that begins with this word.
    #[inline(always)]
    pub(super) fn next(stop: Word) -> Link {
        Link(stop.note())
    }

    /// The words from this segment's last on, outward, with their places.
    pub(super) fn words(&self, from: Link) -> impl Iterator<Item = (u32, Word)> + '_ {
        let mut place = from.last();
        core::iter::from_fn(move || {
            while place != 0 {
                let at = place;
                // SAFETY: a segment's lines hold words.
                let word = unsafe { *self.word(at) };
                if !word.stops() {
                    place -= 1;
                    return Some((at, word));
                }
                place = Pool::next(word).last();
            }
            None
        })
    }

    /// The words of one segment, outermost first, given by its line.
    fn segment(&self, line: u32) -> (&[Word], Link) {
        // SAFETY: a segment begins with a word that stops and has so many words after it.
        unsafe {
            let start = self.line(line);
            (core::slice::from_raw_parts(start.add(1), (*start).mark()), Pool::next(*start))
        }
    }

    /// Appends lines; returns the index of the first, which is not 0. `None` without memory or when there are too many.
    pub(super) fn add_lines(&mut self, count: usize) -> Option<u32> {
        let index = self.lines.len().max(1);
        if index + count > table::PLACES || !self.lines.reserve(index + count) {
            return None;
        }
        while self.lines.len() < index + count {
            // SAFETY: there is room.
            unsafe { self.lines.push_reserved(Line([Word::stop(0); WORDS_PER_LINE])) };
        }
        Some(index as u32)
    }

    /// Keeps a chain's words, outermost first; returns the innermost segment. `None` without memory.
    pub(super) fn add_words(&mut self, words: &[Word]) -> Option<Link> {
        let mut link = Link::NONE;
        for block in words.chunk_by(|a, b| a.address >> BLOCK_BITS == b.address >> BLOCK_BITS) {
            for words in block.chunks(SEGMENT_WORDS) {
                link = self.add_segment(words, link)?;
            }
        }
        Some(link)
    }

    /// The segment with these words, made now if there is none.
    fn add_segment(&mut self, words: &[Word], next: Link) -> Option<Link> {
        let hash = hash_segment(words, next);
        let is_it = |line| self.segment(line) == (words, next);
        if let Some(place) = self.segments.find(hash, is_it) {
            return Some(Link::new(place, words.len()));
        }
        let mut segments = core::mem::replace(&mut self.segments, Table::none());
        let room = segments.reserve(|line| {
            let (words, next) = self.segment(line);
            hash_segment(words, next)
        });
        self.segments = segments;
        if !room {
            return None;
        }
        let place = self.add_lines((1 + words.len()).div_ceil(WORDS_PER_LINE))?;
        let start = self.line(place).cast_mut();
        // SAFETY: the lines were appended for these words.
        unsafe {
            start.write(Word::marked_stop(next.0, words.len()));
            start.add(1).copy_from_nonoverlapping(words.as_ptr(), words.len());
        }
        self.segments.insert(hash, place);
        Some(Link::new(place, words.len()))
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.lines.truncate(0);
        self.segments.clear();
    }
}

fn hash_segment(words: &[Word], next: Link) -> u64 {
    words.iter().fold(next.0.into(), |hash, word| {
        table::hash(hash ^ word.address as u64, hash.rotate_left(32) ^ word.value as u64)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chains_share_the_segments_of_their_outer_frames() {
        // SAFETY: all-zero pools are made ready by `start`.
        let mut pool: Pool = unsafe { core::mem::zeroed() };
        pool.start();
        let word = |address: usize, value: usize| Word { address: 0x7000 + address, value };
        let outer: [Word; 40] = core::array::from_fn(|index| word(0x1000 - 8 * index, index));
        let chain = |inner: &[Word]| [&outer[..], inner].concat();
        let first = pool.add_words(&chain(&[word(0x100, 1)])).unwrap();
        let lines = pool.len();
        let second = pool.add_words(&chain(&[word(0x100, 2)])).unwrap();
        assert_ne!(first, second);
        assert_eq!(pool.len(), lines + 1);
        assert_eq!(pool.add_words(&chain(&[word(0x100, 1)])), Some(first));
        let mut found: alloc::vec::Vec<Word> = pool.words(second).map(|(_, word)| word).collect();
        found.reverse();
        assert_eq!(found, chain(&[word(0x100, 2)]));
    }
}
