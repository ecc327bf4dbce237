//! Where the real allocator's memory lies. Pointers in it count only where they are in a live object: what freed
//! objects held is still there.
//!
//! glibc's structure is known (malloc/malloc.c and malloc/arena.c): the word before a block is its chunk's size, with
//! flags in the low three bits; chunks are in the main heap, in a mapping of their own, or in a heap of an arena,
//! whose head stands at a multiple of its largest size. Of other allocators nothing is known: all of a mapping is
//! theirs that an object of ours lies in.

use crate::arena::Array;
use crate::header::{self, HEADER};

use super::memory::Memory;
use super::pieces::{Owner, Piece, reach};
use super::ranges::Range;

/// Largest size of a heap of an arena, and what its address is a multiple of, bytes (`HEAP_MAX_SIZE`).
const ARENA_HEAP: usize = 64 << 20;
const PAGE: usize = crate::sys::PAGE;

/// Flags of a chunk's size.
const IS_MMAPPED: u64 = 2;
const NON_MAIN_ARENA: u64 = 4;
const FLAGS: u64 = 7;

/// The real allocator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Allocator {
    /// glibc's, which lies there.
    Glibc(Range),
    /// Another one.
    Other,
}

impl Allocator {
    /// The library of glibc's; nothing for others.
    pub(super) fn library(self) -> Range {
        match self {
            Allocator::Glibc(library) => library,
            Allocator::Other => Range { start: 0, end: 0 },
        }
    }

    fn is_glibc(self) -> bool {
        matches!(self, Allocator::Glibc(_))
    }
}

/// Whether an address in the object at `object` is that of the chunk behind it, as glibc has it in its lists of free
/// chunks: a chunk begins with the last word of the block before.
pub(super) fn is_next_chunk(memory: Memory, object: usize, address: usize) -> bool {
    let mut words = [0; 2];
    if memory.read(object - HEADER, &mut words) < words.len() {
        return false;
    }
    let Some(header) = header::parse(object, words[0], words[1]) else { return false };
    let block = object - header.offset();
    memory.word(block - 8).is_some_and(|head| block - 16 + (head & !FLAGS) as usize == address)
}

/// The memory that is the allocator's, as it is found out.
#[derive(Debug)]
pub(super) struct Areas {
    allocator: Allocator,
    memory: Memory,
    /// What is the allocator's, in the order in which it was found.
    pub(super) ranges: Array<Range>,
    last: Range,
    /// Whether all of it found room.
    pub(super) whole: bool,
}

impl Areas {
    /// With the areas that need no object to be found by.
    pub(super) fn new(allocator: Allocator, memory: Memory, pieces: &[Piece]) -> Areas {
        let (ranges, last) = (Array::new(), Range { start: 0, end: 0 });
        let mut areas = Areas { allocator, memory, ranges, last, whole: true };
        for piece in pieces {
            if piece.owner == Owner::Heap {
                areas.add(piece.range);
            } else if allocator.is_glibc() && piece.range.start.is_multiple_of(ARENA_HEAP) {
                // An arena of which all objects were freed.
                if let Some(range) = areas.arena_heap(piece.range.start, piece.range) {
                    areas.add(range);
                }
            }
        }
        areas
    }

    fn add(&mut self, range: Range) {
        self.whole &= self.ranges.push(range);
        self.last = range;
    }

    /// Takes in an object that begins in piece `index`. False where its block cannot be one of the allocator's, which
    /// its size tells: then it is no object.
    pub(super) fn add_object(&mut self, pieces: &[Piece], index: usize, block: usize, end: usize) -> bool {
        let piece = &pieces[index];
        let mut area = None;
        if self.allocator.is_glibc() {
            let Some(head) = self.memory.word(block.wrapping_sub(8)) else { return false };
            let size = (head & !FLAGS) as usize;
            let Some(chunk) = block.checked_sub(16) else { return false };
            let Some(chunk_end) = chunk.checked_add(size) else { return false };
            // A chunk's last word is the first of the next one, unless it is a mapping of its own.
            let usable_end = if head & IS_MMAPPED == 0 { chunk_end + 8 } else { chunk_end };
            if usable_end < end || !reach(pieces, index, chunk_end) {
                return false;
            }
            if self.last.contains(block) {
                return true;
            }
            area = if head & IS_MMAPPED != 0 {
                self.mapping(chunk, chunk_end)
            } else if head & NON_MAIN_ARENA != 0 {
                self.arena_heap(block & !(ARENA_HEAP - 1), piece.range)
            } else {
                None
            };
        }
        if self.last.contains(block) {
            return true;
        }
        let own = Range { start: block, end };
        let all = if matches!(piece.owner, Owner::Nobody | Owner::Heap) { piece.range } else { own };
        self.add(area.unwrap_or(all));
        true
    }

    /// The mapping of a chunk that has its own; the word before the size says how far before the chunk it begins.
    fn mapping(&self, chunk: usize, end: usize) -> Option<Range> {
        let start = chunk.checked_sub(self.memory.word(chunk)? as usize)?;
        let is_mapping =
            start.is_multiple_of(PAGE) && end.is_multiple_of(PAGE) && chunk - start < PAGE.max(end - chunk);
        is_mapping.then_some(Range { start, end })
    }

    /// The heap of an arena at `base`, in a piece of memory. Its head: the arena's address, the heap before, the size
    /// in use, the size made readable.
    fn arena_heap(&self, base: usize, piece: Range) -> Option<Range> {
        let mut head = [0u64; 4];
        if !piece.contains(base) || self.memory.read(base, &mut head) < head.len() {
            return None;
        }
        let [arena, before, size, readable] = head.map(|word| word as usize);
        let is_first = before == 0 && arena & !(ARENA_HEAP - 1) == base;
        let follows = before != 0 && before.is_multiple_of(ARENA_HEAP);
        let sizes = size <= readable && readable <= ARENA_HEAP && size != 0 && size.is_multiple_of(PAGE);
        let fits = base + readable <= piece.end && arena % ARENA_HEAP < PAGE;
        ((is_first || follows) && sizes && fits).then_some(Range { start: base, end: base + readable })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GLIBC: Allocator = Allocator::Glibc(Range { start: 0, end: 0 });

    /// Memory for a chunk: the words before it, then its size.
    fn piece(words: &[u64], owner: Owner) -> Piece {
        let start = words.as_ptr() as usize;
        Piece { range: Range { start, end: start + size_of_val(words) }, owner, guarded: false }
    }

    #[test]
    fn a_block_is_as_large_as_its_chunk_says() {
        let mut words = [0u64; 32];
        words[1] = 0x81; // 128 bytes from word 0 on, the chunk before is in use
        let pieces = [piece(&words, Owner::Nobody)];
        let block = pieces[0].range.start + 16;
        let fits =
            |bytes| Areas::new(GLIBC, Memory::by_kernel(), &[]).add_object(&pieces, 0, block, block + bytes);
        assert!(fits(120));
        assert!(!fits(121));
    }

    #[test]
    fn the_chunk_behind_begins_in_the_last_word_of_a_block() {
        let mut words = alloc::vec![0u64; 16];
        // The object is 16-byte aligned, its block 16 bytes before, its chunk 16 bytes before that.
        let first = words.as_ptr() as usize / 8 % 2;
        words[first + 1] = 0x41;
        let object = (&raw mut words[first + 4]).cast::<u8>();
        // SAFETY: the two words before the object are ours.
        unsafe {
            header::write(object, header::Header { size: 40, record: 7, offset_log2: 4, birth: 0, flags: 0 })
        };
        let is_next = |offset| is_next_chunk(Memory::by_kernel(), object as usize, object as usize + offset);
        assert_eq!([24, 32, 40].map(is_next), [false, true, false]);
    }

    #[test]
    fn a_chunk_that_leaves_the_memory_is_none() {
        let words = [0, 0x1001, 0, 0];
        let pieces = [piece(&words, Owner::Nobody)];
        let block = pieces[0].range.start + 16;
        let mut areas = Areas::new(GLIBC, Memory::by_kernel(), &[]);
        assert!(!areas.add_object(&pieces, 0, block, block + 8));
        // Of another allocator's blocks nothing is known.
        let mut areas = Areas::new(Allocator::Other, Memory::by_kernel(), &[]);
        assert!(areas.add_object(&pieces, 0, block, block + 8));
        assert_eq!(&*areas.ranges, &[pieces[0].range]);
    }

    #[test]
    fn in_a_module_only_the_object_is_the_allocators() {
        let words = [0u64; 8];
        let pieces = [piece(&words, Owner::File)];
        let block = pieces[0].range.start + 16;
        let mut areas = Areas::new(Allocator::Other, Memory::by_kernel(), &[]);
        assert!(areas.add_object(&pieces, 0, block, block + 32));
        assert_eq!(&*areas.ranges, &[Range { start: block, end: block + 32 }]);
    }
}
