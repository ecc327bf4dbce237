//! The memory that the program can have pointers and objects in.

use crate::arena::Array;
use crate::own_memory;

use super::maps::{Kind, Mapping};
use super::ranges::{Range, merge, without};

/// What a piece of memory belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Owner {
    /// `brk`.
    Heap,
    /// The first thread.
    FirstStack,
    /// A file: a module's variables, or a file that the program has mapped.
    File,
    /// No one that the kernel knows.
    Nobody,
}

/// A piece of memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Piece {
    /// Where it lies.
    pub(super) range: Range,
    /// Whose it is.
    pub(super) owner: Owner,
    /// What lies directly below cannot be read: as the guard below a thread's stack.
    pub(super) guarded: bool,
}

/// All pieces, sorted: what is readable, and writable or without a file. Our own memory is left out, and so is
/// `monitor`, the library that we are in. `None` without memory.
pub(super) fn of(mappings: &[Mapping], monitor: Range) -> Option<Array<Piece>> {
    let mut holes = Array::new();
    if !holes.push(monitor)
        || !own_memory::all().all(|(start, length)| holes.push(Range { start, end: start + length }))
    {
        return None;
    }
    merge(&mut holes);
    let mut pieces = Array::new();
    let mut before: Option<&Mapping> = None;
    let mut module_end = 0;
    let mut whole = true;
    for mapping in mappings {
        let touches = before.is_some_and(|before| before.range.end == mapping.range.start);
        let guarded = touches && before.is_some_and(|before| !before.readable);
        // A module's uninitialised variables are memory without a file behind its initialised ones. (A guard of a stack
        // may follow, and is none of it.)
        let is_anonymous = mapping.kind == Kind::Anonymous;
        let is_tail = is_anonymous && mapping.readable && module_end == mapping.range.start;
        if mapping.kind == Kind::File || is_tail {
            module_end = mapping.range.end;
        }
        before = Some(mapping);
        let owner = match mapping.kind {
            _ if is_tail => Owner::File,
            Kind::Device => continue,
            Kind::Anonymous => Owner::Nobody,
            Kind::Heap => Owner::Heap,
            Kind::Stack => Owner::FirstStack,
            Kind::File => Owner::File,
        };
        if mapping.readable && (mapping.writable || is_anonymous) {
            without(mapping.range, &holes, |range| {
                whole &= pieces.push(Piece {
                    range,
                    owner,
                    guarded: guarded && range.start == mapping.range.start,
                });
            });
        }
    }
    whole.then_some(pieces)
}

/// The piece that holds an address.
pub(super) fn at(pieces: &[Piece], address: usize) -> Option<usize> {
    let index = pieces.partition_point(|piece| piece.range.end <= address);
    pieces.get(index).filter(|piece| piece.range.contains(address)).map(|_| index)
}

/// Whether memory goes on from piece `index` up to `end` without a gap.
pub(super) fn reach(pieces: &[Piece], index: usize, end: usize) -> bool {
    let mut last = index;
    while pieces[last].range.end < end {
        match pieces.get(last + 1) {
            Some(next) if next.range.start == pieces[last].range.end => last += 1,
            _ => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mapping(start: usize, end: usize, rights: &str, kind: Kind) -> Mapping {
        let has = |right| rights.contains(right);
        let (readable, writable, executable) = (has('r'), has('w'), has('x'));
        Mapping { range: Range { start, end }, readable, writable, executable, kind }
    }

    #[test]
    fn pieces_are_what_can_hold_pointers() {
        let mappings = [
            mapping(0x1000, 0x2000, "rx", Kind::File),
            mapping(0x2000, 0x3000, "rw", Kind::File),
            mapping(0x3000, 0x5000, "rw", Kind::Anonymous), // the module's uninitialised variables
            mapping(0x6000, 0x9000, "rw", Kind::Heap),
            mapping(0xa000, 0xb000, "", Kind::Anonymous),
            mapping(0xb000, 0xc000, "rw", Kind::Anonymous),
            mapping(0xd000, 0xe000, "rw", Kind::Device),
            mapping(0xf000, 0x10000, "r", Kind::Anonymous),
            mapping(0x20000, 0x22000, "rw", Kind::Stack),
        ];
        let pieces = of(&mappings, Range { start: 0x2000, end: 0x4000 }).unwrap();
        let piece = |start, end, owner, guarded| Piece { range: Range { start, end }, owner, guarded };
        let expected = [
            piece(0x4000, 0x5000, Owner::File, false),
            piece(0x6000, 0x9000, Owner::Heap, false),
            piece(0xb000, 0xc000, Owner::Nobody, true),
            piece(0xf000, 0x10000, Owner::Nobody, false),
            piece(0x20000, 0x22000, Owner::FirstStack, false),
        ];
        assert_eq!(&*pieces, &expected);
        assert_eq!(at(&pieces, 0x8fff), Some(1));
        assert_eq!(at(&pieces, 0x9000), None);
    }

    #[test]
    fn what_follows_a_module_need_not_be_its() {
        let mappings = [
            mapping(0x1000, 0x2000, "rw", Kind::File),
            mapping(0x2000, 0x3000, "rw", Kind::Anonymous), // its uninitialised variables
            mapping(0x3000, 0x4000, "r", Kind::Anonymous),
            mapping(0x4000, 0x5000, "", Kind::Anonymous), // the guard
            mapping(0x5000, 0x9000, "rw", Kind::Anonymous), // of a stack, and memory of ours that touches it
        ];
        let pieces = of(&mappings, Range { start: 0x8000, end: 0x9000 }).unwrap();
        let piece = |start, end, owner, guarded| Piece { range: Range { start, end }, owner, guarded };
        let expected = [
            piece(0x1000, 0x2000, Owner::File, false),
            piece(0x2000, 0x3000, Owner::File, false),
            piece(0x3000, 0x4000, Owner::File, false),
            piece(0x5000, 0x8000, Owner::Nobody, true),
        ];
        assert_eq!(&*pieces, &expected);
    }

    #[test]
    fn pieces_that_touch_are_one_memory() {
        let piece = |start, end| Piece { range: Range { start, end }, owner: Owner::Nobody, guarded: false };
        let pieces = [piece(0x1000, 0x2000), piece(0x2000, 0x3000), piece(0x4000, 0x5000)];
        assert!(reach(&pieces, 0, 0x3000));
        assert!(!reach(&pieces, 0, 0x3001));
        assert!(reach(&pieces, 2, 0x4800));
    }
}
