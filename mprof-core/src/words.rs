//! Stack words that a walk read, kept so that they can be compared with the stack later, fast.
//!
//! A list is kept outermost word first and compared from its end, in the order of the walk, one word after the
//! other: the first that differs ends it. That is the fastest order as well, for the processor reads ahead by
//! itself; a word takes three loads. Addresses are kept as distances from a base that all words of a list share.

use crate::arena::{Array, Zeroable};
use crate::unwind::read_word;

/// A list has room for words this far below and above the address it was started at, bytes.
const REACH: usize = 16 << 30;

/// Words of a stack and their addresses.
#[derive(Debug, Default)]
pub struct WordList {
    /// Distances from `base`, in words.
    distances: Array<u32>,
    values: Array<usize>,
    base: usize,
}

// SAFETY: integers and empty arrays.
unsafe impl Zeroable for WordList {}

/// A part of a list that belongs to one chain.
#[derive(Debug, Clone, Copy)]
pub struct Words<'a> {
    distances: &'a [u32],
    values: &'a [usize],
    base: usize,
}

impl WordList {
    /// Empties the list; the words to come are within [`REACH`] of `address`.
    pub fn start(&mut self, address: usize) {
        self.truncate(0);
        self.base = address.wrapping_sub(REACH) & !7;
    }

    /// Words in the list.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Forgets the words from index `length` on.
    pub fn truncate(&mut self, length: usize) {
        self.distances.truncate(length);
        self.values.truncate(length);
    }

    /// Appends the word at `address` as it is now. False without memory, or for an address out of reach.
    ///
    /// # Safety
    /// The address is readable: the caller has read it in a walk just now.
    #[must_use]
    pub unsafe fn push(&mut self, address: usize) -> bool {
        let distance = address.wrapping_sub(self.base);
        if !distance.is_multiple_of(8) || distance >= 2 * REACH {
            return false;
        }
        // SAFETY: the caller vouches for the address.
        let value = unsafe { read_word(address) };
        self.distances.push((distance / 8) as u32) && self.values.push(value)
    }

    /// Appends a word of another list, at a distance from that list's base; it can be had back by
    /// [`WordList::part`] with that base. False without memory.
    #[must_use]
    pub fn append_one(&mut self, words: Words<'_>, index: usize) -> bool {
        self.distances.push(words.distances[index]) && self.values.push(words.values[index])
    }

    /// The first `length` words.
    #[inline(always)]
    pub fn first(&self, length: usize) -> Words<'_> {
        self.part(0, length, self.base)
    }

    /// `length` words from `start` on, which are at distances from `base`.
    #[inline(always)]
    pub fn part(&self, start: usize, length: usize, base: usize) -> Words<'_> {
        Words {
            distances: &self.distances[start..start + length],
            values: &self.values[start..start + length],
            base,
        }
    }
}

impl Words<'_> {
    /// How many words there are.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Address of a word.
    #[inline(always)]
    pub fn address(&self, index: usize) -> usize {
        self.base.wrapping_add(self.distances[index] as usize * 8)
    }

    /// What the distances are from.
    pub fn base(&self) -> usize {
        self.base
    }

    /// Compares with the stack, from the end. Returns how many words are left where one differs (that word being
    /// the last of them); 0 when all are as they were.
    ///
    /// # Safety
    /// The words were read by a walk, and the thread is in the state that the walk was in before it read the last
    /// one. Then each further word is readable if those before it are as they were: a walk would read it next.
    #[inline(always)]
    pub unsafe fn compare(&self) -> usize {
        let mut left = self.values.len();
        let (distances, values) = (self.distances.as_ptr(), self.values.as_ptr());
        let base = self.base;
        // SAFETY: indices below the length of both slices; the addresses as the caller vouches.
        let differs = |index: usize| unsafe {
            read_word(base.wrapping_add(*distances.add(index) as usize * 8)) != *values.add(index)
        };
        // Four a turn, written out: the turn's own cost is half of that of the words.
        while left >= 4 {
            if differs(left - 1) {
                return left;
            }
            if differs(left - 2) {
                return left - 1;
            }
            if differs(left - 3) {
                return left - 2;
            }
            if differs(left - 4) {
                return left - 3;
            }
            left -= 4;
        }
        while left > 0 && !differs(left - 1) {
            left -= 1;
        }
        left
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(stack: &[usize], outermost_first: &[usize]) -> WordList {
        let mut list = WordList::default();
        list.start(stack.as_ptr() as usize);
        for &index in outermost_first {
            // SAFETY: within the slice.
            assert!(unsafe { list.push(&raw const stack[index] as usize) });
        }
        list
    }

    #[test]
    fn each_changed_word_is_found() {
        let mut stack: alloc::vec::Vec<usize> = (0..3000).map(|word| word * 7).collect();
        let indices: alloc::vec::Vec<usize> = (0..3000).rev().step_by(13).collect();
        let list = list(&stack, &indices);
        let words = list.first(list.len());
        // SAFETY: all addresses lie in the vector.
        assert_eq!(unsafe { words.compare() }, 0);
        for (position, &index) in indices.iter().enumerate() {
            stack[index] += 1;
            // SAFETY: as above.
            assert_eq!(unsafe { words.compare() }, position + 1);
            stack[index] -= 1;
        }
    }

    #[test]
    fn words_that_are_copied_keep_their_addresses() {
        let stack: alloc::vec::Vec<usize> = (0..100).collect();
        let first = list(&stack, &[90, 50, 10]);
        let mut copy = WordList::default();
        for index in [0, 1, 2, 0, 1] {
            assert!(copy.append_one(first.first(3), index));
        }
        let words = copy.part(3, 2, first.first(3).base());
        // SAFETY: all addresses lie in the vector.
        assert_eq!(unsafe { words.compare() }, 0);
        assert_eq!(words.values, &[90, 50]);
    }

    #[test]
    fn addresses_out_of_reach_are_refused() {
        let mut list = WordList::default();
        list.start(1 << 40);
        // SAFETY: refused before it is read.
        assert!(!unsafe { list.push((1 << 40) + REACH) });
        // SAFETY: as above.
        assert!(!unsafe { list.push((1 << 40) - REACH - 8) });
    }
}
