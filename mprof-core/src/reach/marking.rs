//! Marking what can be reached.
//!
//! The classes are memcheck's (Valgrind manual, section 4.2.8): an object is *reachable* over a chain of pointers to the
//! starts of objects, from a root; *possible* where only chains are left with a pointer into the middle of one; else it
//! is lost, and *indirect* where another lost object points to it. Of a ring of lost objects that nothing outside
//! points to, the one with the lowest address counts as lost, the others as indirect.

use crate::arena::Array;

use super::allocator::is_next_chunk;
use super::interior::is_as_good_as_start;
use super::memory::{Memory, Scanner};
use super::objects::Objects;
use super::ranges::Range;

/// Classes of objects, by rising rank: the higher one counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(super) enum Class {
    /// No pointer to it was found.
    Lost = 0,
    /// Only lost objects have pointers to it.
    Indirect = 1,
    /// Only pointers into the middle of an object lead to it.
    Possible = 2,
    /// The program can still get at it.
    Reachable = 3,
}

/// State of an object that no pointer was found to so far.
const UNSEEN: u8 = 0;
/// The object begins a group of lost ones.
const LEADER: u8 = 1;
const INDIRECT: u8 = 2;
const POSSIBLE: u8 = 3;
const REACHABLE: u8 = 4;
/// Added where what the object holds is still to be looked at.
const PENDING: u8 = 8;

/// Objects from this size on are read page by page, those that were never touched left out, bytes.
const LARGE: usize = 64 * 1024;
/// Words of smaller objects that are read at once.
const BUFFER: usize = 512;

/// The marks of all objects.
pub(super) struct Marking<'a> {
    objects: &'a Objects,
    memory: Memory,
    /// The library of glibc's allocator.
    library: Range,
    is_constant: &'a dyn Fn(usize) -> bool,
    states: Array<u8>,
    /// Objects whose contents are to be looked at; those that found no room are [`PENDING`] all the same.
    stack: Array<u32>,
    overflowed: bool,
}

impl<'a> Marking<'a> {
    /// With no object seen. `None` without memory. `library`: that of the allocator, if it is glibc's. `is_constant`: see [`is_as_good_as_start`].
    pub(super) fn new(
        objects: &'a Objects,
        memory: Memory,
        library: Range,
        is_constant: &'a dyn Fn(usize) -> bool,
    ) -> Option<Marking<'a>> {
        let mut states = Array::new();
        if !states.reserve(objects.len()) || !(0..objects.len()).all(|_| states.push(UNSEEN)) {
            return None;
        }
        Some(Marking {
            objects,
            memory,
            library,
            is_constant,
            states,
            stack: Array::new(),
            overflowed: false,
        })
    }

    /// Takes words for roots that were read at `place`, or in registers if it is 0.
    pub(super) fn roots(&mut self, place: usize, words: &[u64]) {
        self.look(place, words, REACHABLE);
    }

    fn look(&mut self, place: usize, words: &[u64], from: u8) {
        for (index, &word) in words.iter().enumerate() {
            if let Some(object) = self.objects.at(word as usize) {
                let place = if place == 0 { 0 } else { place + index * 8 };
                self.meet(object, word as usize, place, from);
            }
        }
    }

    /// Marks an object that `address` leads to from a root or an object in state `from`.
    fn meet(&mut self, object: usize, address: usize, place: usize, from: u8) {
        let state = self.states[object] & !PENDING;
        if state >= from {
            return;
        }
        let mut new = from;
        if from == REACHABLE {
            let range = self.objects.range(object);
            let direct = address == range.start
                || is_as_good_as_start(self.memory, range, address, place, self.is_constant);
            if !direct {
                if self.library.contains(place) && is_next_chunk(self.memory, range.start, address) {
                    return;
                }
                new = POSSIBLE;
            }
        }
        if state >= new {
            return;
        }
        self.set(object, new);
    }

    /// Gives an object a state, and has its contents looked at.
    fn set(&mut self, object: usize, state: u8) {
        self.states[object] = state | PENDING;
        if !self.stack.push(object as u32) {
            self.overflowed = true;
        }
    }

    /// Follows the pointers in all objects that are to be looked at. `scanner` is free for use.
    pub(super) fn follow(&mut self, scanner: &mut Scanner) {
        loop {
            while let Some(&object) = self.stack.last() {
                self.stack.truncate(self.stack.len() - 1);
                self.enter(object as usize, scanner);
            }
            if !core::mem::take(&mut self.overflowed) {
                return;
            }
            for object in 0..self.states.len() {
                self.enter(object, scanner);
            }
        }
    }

    /// Looks at what an object holds, if it is to be looked at.
    fn enter(&mut self, object: usize, scanner: &mut Scanner) {
        let state = self.states[object];
        if state & PENDING == 0 {
            return;
        }
        let state = state & !PENDING;
        self.states[object] = state;
        // What a leader points to is as what an indirect one does.
        let from = if state == LEADER { INDIRECT } else { state };
        let range = self.objects.range(object);
        if range.end - range.start >= LARGE {
            scanner.scan(range, |address, words| {
                self.look(address, words, from);
                address + size_of_val(words)
            });
            return;
        }
        let mut buffer = [0u64; BUFFER];
        let mut at = range.start;
        while at + 8 <= range.end {
            let words = ((range.end - at) / 8).min(BUFFER);
            let read = self.memory.read(at, &mut buffer[..words]);
            self.look(at, &buffer[..read], from);
            if read < words {
                return;
            }
            at += words * 8;
        }
    }

    /// Finds out which of the objects that no root leads to hang on others. After this each has its class.
    pub(super) fn sort_lost(&mut self, scanner: &mut Scanner) {
        for object in 0..self.states.len() {
            if self.states[object] == UNSEEN {
                self.set(object, LEADER);
                self.follow(scanner);
                // It may point to itself, or what it points to back to it.
                self.states[object] = LEADER;
            }
        }
    }

    /// The class of each object.
    pub(super) fn classes(&self) -> impl Iterator<Item = Class> {
        self.states.iter().map(|state| match state & !PENDING {
            REACHABLE => Class::Reachable,
            POSSIBLE => Class::Possible,
            INDIRECT => Class::Indirect,
            _ => Class::Lost,
        })
    }

    /// Looks at all of a range as roots, following what it finds as it goes. `scanner` reads the range, `other` the
    /// objects.
    pub(super) fn root_range(&mut self, range: Range, scanner: &mut Scanner, other: &mut Scanner) {
        scanner.scan(range, |address, words| {
            self.roots(address, words);
            self.follow(other);
            address + size_of_val(words)
        });
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    /// Objects of eight words each, between which `pointers` lead: (from, to, offset in bytes).
    fn classes(count: usize, pointers: &[(usize, usize, usize)], roots: &[(usize, usize)]) -> Vec<Class> {
        let mut words = alloc::vec![0u64; count * 8];
        let start = words.as_ptr() as usize;
        let address = |object: usize, offset: usize| (start + object * 64 + offset) as u64;
        for (number, &(from, to, offset)) in pointers.iter().enumerate() {
            words[from * 8 + number % 8] = address(to, offset);
        }
        let objects = Objects::of((0..count).map(|object| (start + object * 64, 64, object as u32)));
        let mut scanner = Scanner::new(Memory::by_kernel(), None).unwrap();
        let mut marking =
            Marking::new(&objects, Memory::by_kernel(), Range { start: 0, end: 0 }, &|_| false).unwrap();
        let roots: Vec<u64> = roots.iter().map(|&(object, offset)| address(object, offset)).collect();
        marking.roots(0, &roots);
        marking.follow(&mut scanner);
        marking.sort_lost(&mut scanner);
        marking.classes().collect()
    }

    use Class::{Indirect, Lost, Possible, Reachable};

    #[test]
    fn chains_are_reachable_by_the_starts_of_objects() {
        let chain = [(0, 1, 0), (1, 2, 0), (2, 3, 0)];
        assert_eq!(classes(4, &chain, &[(0, 0)]), [Reachable; 4]);
        assert_eq!(classes(4, &chain, &[(1, 0)]), [Lost, Reachable, Reachable, Reachable]);
        assert_eq!(classes(4, &chain, &[]), [Lost, Indirect, Indirect, Indirect]);
    }

    #[test]
    fn a_pointer_into_the_middle_makes_what_follows_possible() {
        let chain = [(0, 1, 0), (1, 2, 40), (2, 3, 0)];
        assert_eq!(classes(4, &chain, &[(0, 0)]), [Reachable, Reachable, Possible, Possible]);
        assert_eq!(classes(4, &chain, &[(0, 40)]), [Possible; 4]);
        assert_eq!(classes(4, &chain, &[(0, 40), (0, 0)])[..2], [Reachable; 2]);
        // Another way leads to the last one after all.
        assert_eq!(classes(4, &chain, &[(0, 0), (3, 0)])[2..], [Possible, Reachable]);
    }

    #[test]
    fn lost_objects_hang_on_those_that_point_to_them() {
        // A ring: the lowest address stands for it.
        let ring = [(0, 1, 0), (1, 2, 0), (2, 0, 0)];
        assert_eq!(classes(3, &ring, &[]), [Lost, Indirect, Indirect]);
        // An object that points to itself.
        assert_eq!(classes(1, &[(0, 0, 0)], &[]), [Lost]);
        // A higher object points to one that was first taken for a leader.
        assert_eq!(classes(3, &[(0, 1, 0), (2, 0, 8)], &[]), [Indirect, Indirect, Lost]);
        // Two lost objects share a third.
        assert_eq!(classes(3, &[(0, 1, 0), (2, 1, 0)], &[]), [Lost, Indirect, Lost]);
    }

    #[test]
    fn long_chains_need_no_stack() {
        let count = 100_000;
        let chain: Vec<_> = (1..count).map(|object| (object - 1, object, 0)).collect();
        assert!(classes(count, &chain, &[(0, 0)]).iter().all(|&class| class == Reachable));
    }
}
