//! Stack words that a walk read, kept so that they can be compared with the stack later, fast.
//!
//! A list is kept outermost word first and compared from its end, in the order of the walk, one word after the
//! other: the first that differs ends it. That is the fastest order as well, for the processor reads ahead by
//! itself: a word takes three loads and a compare. A list begins with a word that always differs, so that nothing
//! needs to be counted.

use crate::arena::Zeroable;
use crate::unwind::read_word;

/// A word of the stack.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Word {
    /// Its address.
    pub address: usize,
    /// What it held.
    pub value: usize,
}

// SAFETY: integers.
unsafe impl Zeroable for Word {}

/// What the first word of a list is compared with: that has its lowest bit set.
static OTHER: usize = 0;

impl Word {
    /// The word at `address` as it is now.
    ///
    /// # Safety
    /// The address is readable: the caller has read it in a walk just now.
    #[inline(always)]
    pub unsafe fn now(address: usize) -> Word {
        // SAFETY: the caller vouches for the address.
        Word { address, value: unsafe { read_word(address) } }
    }

    /// The word that a list begins with: it always differs. `note`: what the list's keeper wants to know.
    #[inline]
    pub fn stop(note: u32) -> Word {
        Word::marked_stop(note, 0)
    }

    /// The same, with a number below 2¹⁶ besides.
    #[inline]
    pub fn marked_stop(note: u32, mark: usize) -> Word {
        Word { address: &raw const OTHER as usize, value: (note as usize) << 32 | mark << 1 | 1 }
    }

    /// Whether it is a word that stops.
    #[inline(always)]
    pub fn stops(self) -> bool {
        self.address == &raw const OTHER as usize
    }

    /// The note in a word that stops.
    #[inline(always)]
    pub fn note(self) -> u32 {
        (self.value >> 32) as u32
    }

    /// The number in a word that stops.
    pub fn mark(self) -> usize {
        self.value >> 1 & 0xffff
    }
}

/// Compares words with the stack, from the one at `word` down. Returns the first that differs: the word that stops,
/// when all others are as they were.
///
/// # Safety
/// `word` is in a list that begins with [`Word::stop`]. A walk read the words from it down, and the thread is in the
/// state that the walk was in before it read the last one. Then each further word is readable if those before it are
/// as they were: a walk would read it next.
#[inline(always)]
pub unsafe fn compare(mut word: *const Word) -> *const Word {
    // SAFETY: the list is not left, for the word that it begins with differs; the addresses as the caller vouches.
    let differs = |word: *const Word| unsafe { read_word((*word).address) != (*word).value };
    // SAFETY: as above. Four a turn, written out: the turn's own cost is half of that of the words.
    unsafe {
        loop {
            if differs(word) {
                return word;
            }
            if differs(word.sub(1)) {
                return word.sub(1);
            }
            if differs(word.sub(2)) {
                return word.sub(2);
            }
            if differs(word.sub(3)) {
                return word.sub(3);
            }
            word = word.sub(4);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_changed_word_is_found() {
        let mut stack: alloc::vec::Vec<usize> = (0..3000).map(|word| word * 7).collect();
        let indices: alloc::vec::Vec<usize> = (0..3000).rev().step_by(13).collect();
        let mut words = alloc::vec![Word::stop(0)];
        // SAFETY: all addresses lie in the vector.
        words.extend(indices.iter().map(|&index| unsafe { Word::now(&raw const stack[index] as usize) }));
        let last = &raw const words[words.len() - 1];
        // SAFETY: as above.
        assert_eq!(unsafe { compare(last) }, words.as_ptr());
        for (position, &index) in indices.iter().enumerate() {
            stack[index] += 1;
            // SAFETY: as above.
            assert_eq!(unsafe { compare(last) }, &raw const words[position + 1]);
            stack[index] -= 1;
        }
    }

    #[test]
    fn an_empty_list_is_as_it_was() {
        let stop = Word::stop(7);
        // SAFETY: the list has no words.
        assert_eq!(unsafe { compare(&raw const stop) }, &raw const stop);
        assert!(stop.stops());
        assert_eq!(stop.note(), 7);
    }
}
