//! Stack words that a walk read, kept so that they can be compared with the stack later, fast.
//!
//! A list is kept outermost word first and compared from its end, in the order of the walk, one word after the
//! other: the first that differs ends it. That is the fastest order as well, for the processor reads ahead by
//! itself: a word takes three loads and a compare.

use crate::arena::Zeroable;
use crate::unwind::read_word;

/// A word of the stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct Word {
    /// Its address.
    pub address: usize,
    /// What it held.
    pub value: usize,
}

// SAFETY: integers.
unsafe impl Zeroable for Word {}

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
}

/// Compares words with the stack, from the end. Returns how many are left where one differs (that word being the
/// last of them); 0 when all are as they were.
///
/// # Safety
/// A walk read the words, and the thread is in the state that the walk was in before it read the last one. Then
/// each further word is readable if those before it are as they were: a walk would read it next.
#[inline(always)]
pub unsafe fn compare(words: &[Word]) -> usize {
    let mut left = words.len();
    let start = words.as_ptr();
    // SAFETY: indices below the slice's length; the addresses as the caller vouches.
    let differs = |index: usize| unsafe {
        let word = &*start.add(index);
        read_word(word.address) != word.value
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_changed_word_is_found() {
        let mut stack: alloc::vec::Vec<usize> = (0..3000).map(|word| word * 7).collect();
        let indices: alloc::vec::Vec<usize> = (0..3000).rev().step_by(13).collect();
        // SAFETY: all addresses lie in the vector.
        let words: alloc::vec::Vec<Word> =
            indices.iter().map(|&index| unsafe { Word::now(&raw const stack[index] as usize) }).collect();
        // SAFETY: as above.
        assert_eq!(unsafe { compare(&words) }, 0);
        for (position, &index) in indices.iter().enumerate() {
            stack[index] += 1;
            // SAFETY: as above.
            assert_eq!(unsafe { compare(&words) }, position + 1);
            stack[index] -= 1;
        }
    }
}
