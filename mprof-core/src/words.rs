//! Stack words that a walk read, kept so that they can be compared with the stack later, fast.
//!
//! A list is kept outermost word first and compared from its end, in the order of the walk. An entry is
//!
//! ```text
//! bits 0–47   the word (return addresses and frame pointers have 47 bits)
//! bits 48–63  distance from this word's address to the next one further out, in words; 0: it does not fit,
//!             and the entry below holds that address
//! ```

use crate::arena::Array;
use crate::sys::PAGE;
use crate::unwind::read_word;

const VALUE_BITS: u32 = 48;
const VALUE: u64 = (1 << VALUE_BITS) - 1;

/// A list that is being extended inward.
pub struct WordList<'a> {
    words: &'a mut Array<u64>,
    /// Address of the last word, that is the innermost.
    innermost: Option<usize>,
}

impl<'a> WordList<'a> {
    /// Extends `words`, whose last entry is of the word at `innermost`.
    pub fn onto(words: &'a mut Array<u64>, innermost: Option<usize>) -> Self {
        let innermost = innermost.filter(|_| !words.is_empty());
        WordList { words, innermost }
    }

    /// Appends the word at `address` as it is now. False without memory, or for a word that has no place in a
    /// walk (the list is then useless).
    ///
    /// The caller has just read the word in a walk.
    #[must_use]
    pub fn push(&mut self, address: usize) -> bool {
        // SAFETY: the caller read it a moment ago, in a frame that is still live.
        let value = unsafe { read_word(address) } as u64;
        if value > VALUE {
            return false;
        }
        let distance = match self.innermost {
            None => 0,
            Some(outer) => {
                let bytes = outer.wrapping_sub(address);
                let words = bytes / 8;
                if bytes.is_multiple_of(8) && (1..1 << (64 - VALUE_BITS)).contains(&words) {
                    words as u64
                } else if self.words.push(outer as u64) {
                    0
                } else {
                    return false;
                }
            }
        };
        self.innermost = Some(address);
        self.words.push(distance << VALUE_BITS | value)
    }

    /// Address of the innermost word; 0 for an empty list.
    pub fn first_address(&self) -> usize {
        self.innermost.unwrap_or(0)
    }
}

/// Compares a list with the stack, from its end, whose word lies at `address`. Returns how many entries are left
/// where a word differs (that word's entry being the last of them); 0 when all are equal.
///
/// # Safety
/// The words were read by a walk, and the thread is in the state that this walk was in before it read the
/// innermost one. Then each further word is readable if those before it are as they were: a real walk would
/// read it next. Words on one page are read together, before it is known whether the first of them is as it was.
#[inline(always)]
pub unsafe fn compare(words: &[u64], address: usize) -> usize {
    let mut left = words.len();
    let mut address = address;
    while left > 0 {
        if left >= 4 {
            // SAFETY: left >= 4 entries.
            let [a, b, c, d] = unsafe {
                let end = words.as_ptr().add(left);
                [*end.sub(1), *end.sub(2), *end.sub(3), *end.sub(4)]
            };
            let at_b = address + distance(a);
            let at_c = at_b + distance(b);
            let at_d = at_c + distance(c);
            if address & !(PAGE - 1) == at_d & !(PAGE - 1) {
                // SAFETY: all on the page of the word at `address`, which a walk would read now.
                let difference = unsafe {
                    differs(address, a) | differs(at_b, b) | differs(at_c, c) | differs(at_d, d)
                };
                // A distance of 0 would make an address serve as a word; the steps below sort that out.
                let chained = distance(a) != 0 && distance(b) != 0 && distance(c) != 0;
                if difference == 0 && chained && (distance(d) != 0 || left == 4) {
                    address = at_d + distance(d);
                    left -= 4;
                    continue;
                }
            }
        }
        let entry = words[left - 1];
        // SAFETY: all before were equal: a walk would read this word now.
        if unsafe { differs(address, entry) } != 0 {
            return left;
        }
        left -= 1;
        if distance(entry) != 0 {
            address += distance(entry);
        } else if left > 0 {
            left -= 1;
            address = words[left] as usize;
        }
    }
    0
}

/// Distance to the next word further out, bytes.
#[inline(always)]
fn distance(entry: u64) -> usize {
    (entry >> VALUE_BITS) as usize * 8
}

/// Zero if the stack holds the entry's word at `address`.
///
/// # Safety
/// The address is readable.
#[inline(always)]
unsafe fn differs(address: usize, entry: u64) -> u64 {
    // SAFETY: the caller vouches for the address.
    (unsafe { read_word(address) } as u64) ^ (entry & VALUE)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A list of the words at these indices of `stack`, given outermost first.
    fn list(stack: &[u64], outermost_first: &[usize]) -> (Array<u64>, usize) {
        let mut words = Array::new();
        let mut list = WordList::onto(&mut words, None);
        for &index in outermost_first {
            assert!(list.push(&raw const stack[index] as usize));
        }
        let first = list.first_address();
        (words, first)
    }

    #[test]
    fn each_changed_word_is_found() {
        let mut stack: alloc::vec::Vec<u64> = (0..3000).map(|word| word * 7).collect();
        let indices: alloc::vec::Vec<usize> = (0..3000).rev().step_by(13).collect();
        let (words, first) = list(&stack, &indices);
        // SAFETY: all addresses lie in the vector.
        assert_eq!(unsafe { compare(&words, first) }, 0);
        for (position, &index) in indices.iter().enumerate() {
            stack[index] += 1;
            // SAFETY: as above.
            assert_eq!(unsafe { compare(&words, first) }, position + 1);
            stack[index] -= 1;
        }
    }

    #[test]
    fn words_in_any_order_and_far_apart_can_be_kept() {
        let mut stack = alloc::vec![0u64; 200_000];
        for (index, word) in stack.iter_mut().enumerate() {
            *word = index as u64;
        }
        let indices = [199_999, 5, 70_000, 69_999, 100, 99, 98, 97, 96, 150_000];
        let (words, first) = list(&stack, &indices);
        // SAFETY: all addresses lie in the vector.
        assert_eq!(unsafe { compare(&words, first) }, 0);
        for &index in &indices {
            stack[index] ^= 1;
            // SAFETY: as above.
            let left = unsafe { compare(&words, first) };
            assert_eq!(words[left - 1] & VALUE, index as u64);
            stack[index] ^= 1;
        }
    }
}
