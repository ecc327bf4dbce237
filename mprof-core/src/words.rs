//! Stack words that a walk read, kept so that they can be compared with the stack later, fast.
//!
//! A list is kept outermost word first and compared from its end, in the order of the walk, one word after the
//! other: the first that differs ends it. That is the fastest order as well, for the processor reads ahead by
//! itself: a word takes three loads and a compare. A list begins with a word that always differs, so that nothing
//! needs to be counted.

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

/// What the first word of a list is compared with.
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

    /// The word that a list begins with: it always differs.
    #[inline]
    pub fn stop() -> Word {
        Word { address: &raw const OTHER as usize, value: 1 }
    }
}

/// Compares words with the stack, from the one at `last` down. Returns the index of the first that differs: 0, the
/// word that stops, when all others are as they were.
///
/// # Safety
/// `words` points to a list that begins with [`Word::stop`] and has `last` words more. A walk read these, and the
/// thread is in the state that the walk was in before it read the last one. Then each further word is readable if
/// those before it are as they were: a walk would read it next.
#[inline(always)]
pub unsafe fn compare(words: *const Word, last: usize) -> usize {
    let mut at = last;
    // SAFETY: the index does not get below 0, where a word differs; the addresses as the caller vouches.
    let differs = |index: usize| unsafe {
        let word = &*words.add(index);
        read_word(word.address) != word.value
    };
    // Four a turn, written out: the turn's own cost is half of that of the words.
    loop {
        if differs(at) {
            return at;
        }
        if differs(at - 1) {
            return at - 1;
        }
        if differs(at - 2) {
            return at - 2;
        }
        if differs(at - 3) {
            return at - 3;
        }
        at -= 4;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_changed_word_is_found() {
        let mut stack: alloc::vec::Vec<usize> = (0..3000).map(|word| word * 7).collect();
        let indices: alloc::vec::Vec<usize> = (0..3000).rev().step_by(13).collect();
        let mut words = alloc::vec![Word::stop()];
        // SAFETY: all addresses lie in the vector.
        words.extend(indices.iter().map(|&index| unsafe { Word::now(&raw const stack[index] as usize) }));
        let last = words.len() - 1;
        // SAFETY: as above.
        assert_eq!(unsafe { compare(words.as_ptr(), last) }, 0);
        for (position, &index) in indices.iter().enumerate() {
            stack[index] += 1;
            // SAFETY: as above.
            assert_eq!(unsafe { compare(words.as_ptr(), last) }, position + 1);
            stack[index] -= 1;
        }
    }

    #[test]
    fn an_empty_list_is_as_it_was() {
        // SAFETY: the list has no words.
        assert_eq!(unsafe { compare(&Word::stop(), 0) }, 0);
    }
}
