//! Pointers into the middle of an object that are as good as one to its start, because some languages and libraries
//! keep no other. As memcheck's `--leak-check-heuristics=all` (Valgrind manual, section 4.2.8), and glibc's dynamic
//! thread vector.

use super::memory::Memory;
use super::ranges::Range;

const WORD: usize = 8;

/// Whether an address in `object` counts as its start. `place`: where the address was read, 0 if in a register.
/// `is_constant`: whether memory at an address can be read and not written.
pub(super) fn is_as_good_as_start(
    memory: Memory,
    object: Range,
    address: usize,
    place: usize,
    is_constant: &dyn Fn(usize) -> bool,
) -> bool {
    let size = object.end - object.start;
    let offset = address - object.start;
    if !offset.is_multiple_of(WORD) {
        return false;
    }
    let word = |at: usize| memory.word(at).unwrap_or(0);
    match offset {
        WORD => {
            // C++ arrays of a type with a destructor: the number of elements comes first. SQLite and others: the
            // length of the rest.
            let first = word(object.start) as usize;
            first != 0 && (first == size - WORD || (size - WORD).is_multiple_of(first))
        }
        // glibc's dynamic thread vector: thread control blocks, whose first word is their own address, point to its
        // second entry.
        16 if is_control_block(memory, place.wrapping_sub(WORD)) => true,
        // The strings of the C++ library before its ABI of 2011: length, capacity, count of users, text, a zero.
        24 => {
            let (length, capacity) = (word(object.start), word(object.start + WORD));
            (length <= capacity && capacity == (size - 24 - 1) as u64)
                || has_base(memory, object, address, is_constant)
        }
        _ => has_base(memory, object, address, is_constant),
    }
}

fn is_control_block(memory: Memory, address: usize) -> bool {
    address.is_multiple_of(16) && memory.word(address) == Some(address as u64)
}

/// Whether a C++ object with several polymorphic bases begins at the object's start, one of them at the address. Each
/// begins with a pointer to a virtual table, before which stands how far it is from there to the whole object
/// (Itanium C++ ABI, section 2.5.2).
fn has_base(memory: Memory, object: Range, address: usize, is_constant: &dyn Fn(usize) -> bool) -> bool {
    const TO_TOP: usize = 16;
    let distance = |at: usize| {
        let table = memory.word(at)? as usize;
        let is_table = table.is_multiple_of(WORD) && table > TO_TOP && is_constant(table - TO_TOP);
        if is_table { memory.word(table - TO_TOP) } else { None }
    };
    let offset = (address - object.start) as i64;
    address + WORD <= object.end
        && distance(address) == Some(offset.wrapping_neg() as u64)
        && distance(object.start) == Some(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(words: &[u64], size: usize, offset: usize, place: usize, constant: Option<usize>) -> bool {
        let start = words.as_ptr() as usize;
        let object = Range { start, end: start + size };
        let is_constant = |at: usize| constant.is_some_and(|constant| at == constant);
        is_as_good_as_start(Memory::by_kernel(), object, start + offset, place, &is_constant)
    }

    #[test]
    fn arrays_begin_behind_the_number_of_their_elements() {
        assert!(judge(&[5, 0, 0, 0, 0, 0], 8 + 5 * 8, 8, 0, None));
        assert!(!judge(&[5, 0, 0, 0, 0, 0], 8 + 4 * 8, 8, 0, None));
        assert!(!judge(&[5, 0, 0, 0, 0, 0], 8 + 5 * 8, 16, 0, None));
        assert!(!judge(&[0, 0], 16, 8, 0, None));
    }

    #[test]
    fn lengths_may_stand_before_what_they_are_of() {
        assert!(judge(&[33, 0, 0, 0, 0, 0], 41, 8, 0, None));
    }

    #[test]
    fn strings_begin_behind_length_capacity_and_users() {
        assert!(judge(&[3, 7, 0, 0], 32, 24, 0, None));
        assert!(!judge(&[8, 7, 0, 0], 32, 24, 0, None));
        assert!(!judge(&[3, 8, 0, 0], 32, 24, 0, None));
    }

    #[test]
    fn thread_control_blocks_point_to_the_second_entry_of_the_vector() {
        let mut words = alloc::vec![0u64; 4];
        // The block is 16-byte aligned.
        let first = words.as_ptr() as usize / 8 % 2;
        let block = (&raw const words[first]) as usize;
        let place = block + 8;
        assert!(!judge(&[0; 6], 48, 16, place, None));
        words[first] = block as u64;
        assert!(judge(&[0; 6], 48, 16, place, None));
        assert!(!judge(&[0; 6], 48, 32, place, None));
    }

    #[test]
    fn bases_know_their_distance_from_the_whole() {
        let first = [0u64, 0, 0];
        let second = [-16i64 as u64, 0, 0];
        let object = [&raw const first[2] as u64, 1, &raw const second[2] as u64, 2];
        let start = object.as_ptr() as usize;
        let range = Range { start, end: start + 32 };
        let constants = [first.as_ptr() as usize, second.as_ptr() as usize];
        let good = |offset| {
            is_as_good_as_start(Memory::by_kernel(), range, start + offset, 0, &|at| constants.contains(&at))
        };
        assert!(good(16));
        assert!(!good(8));
        assert!(!is_as_good_as_start(Memory::by_kernel(), range, start + 16, 0, &|_| false));
    }
}
