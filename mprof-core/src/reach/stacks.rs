//! What of the stacks is not in use: below the stack pointers of live threads, and all of the stacks that the C library
//! keeps of threads that have ended. Old pointers are there.

use crate::arena::Array;

use super::memory::Memory;
use super::pieces::{Owner, Piece, at};
use super::ranges::Range;
use super::threads::Threads;

const PAGE: usize = crate::sys::PAGE;
/// Thread control blocks lie at multiples of this.
const CONTROL_BLOCK: usize = 64;

/// Adds the parts of stacks that are not in use to `holes`. `None` without memory.
pub(super) fn unused(
    memory: Memory,
    threads: &Threads,
    pieces: &[Piece],
    holes: &mut Array<Range>,
) -> Option<()> {
    let mut whole = true;
    for thread in threads.known.as_slice() {
        let Some(index) = at(pieces, thread.sp) else { continue };
        let piece = pieces[index];
        // (Without a guard below, another stack or anything else may begin there.)
        let is_its_own = piece.owner == Owner::FirstStack
            || (piece.guarded
                && piece.range.contains(thread.control_block)
                && thread.control_block > thread.sp);
        if is_its_own {
            whole &= holes.push(Range { start: piece.range.start, end: thread.sp });
        }
    }
    if threads.unseen == 0 {
        for piece in pieces {
            whole &= abandoned(memory, threads, piece).into_iter().flatten().all(|range| holes.push(range));
        }
    }
    whole.then_some(())
}

/// The memory that is not in use if a piece is the stack of a thread that has ended. The C library keeps the thread's
/// vector of variables for the next thread, to which the second word of the control block points.
fn abandoned(memory: Memory, threads: &Threads, piece: &Piece) -> Option<[Range; 2]> {
    let Range { start, end } = piece.range;
    let is_used = |address: usize| {
        threads.known.iter().any(|thread| thread.control_block == address || piece.range.contains(thread.sp))
    };
    match piece.owner {
        Owner::FirstStack if threads.first_has_ended => Some([piece.range, Range { start: end, end }]),
        Owner::Nobody if piece.guarded => {
            let block = last_control_block(memory, piece.range).filter(|&address| !is_used(address))?;
            Some([Range { start, end: block + 8 }, Range { start: block + 16, end }])
        }
        _ => None,
    }
}

/// The thread control block at the upper end of a stack that glibc made (nptl/allocatestack.c): it holds its own
/// address, as its first word and as its third.
fn last_control_block(memory: Memory, stack: Range) -> Option<usize> {
    let start = stack.end.saturating_sub(PAGE).max(stack.start);
    let blocks = (start..stack.end).step_by(CONTROL_BLOCK).rev();
    let holds = |place: usize, address: usize| memory.word(place) == Some(address as u64);
    blocks.into_iter().find(|&address| holds(address, address) && holds(address + 16, address))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reach::threads::Thread;
    use crate::sys;

    /// Two pages as a stack, with a control block 256 bytes from its end.
    fn stack() -> (Piece, usize) {
        let start = sys::map(2 * PAGE).unwrap() as usize;
        let block = start + 2 * PAGE - 256;
        for word in [block, block + 16] {
            // SAFETY: within the pages, which are ours.
            unsafe { (word as *mut usize).write(block) };
        }
        let range = Range { start, end: start + 2 * PAGE };
        (Piece { range, owner: Owner::Nobody, guarded: true }, block)
    }

    fn holes(piece: Piece, known: &[Thread], unseen: u32) -> alloc::vec::Vec<Range> {
        let mut threads = Threads::default();
        threads.unseen = unseen;
        assert!(known.iter().all(|&thread| threads.known.push(thread)));
        let mut holes = Array::new();
        unused(Memory::by_kernel(), &threads, &[piece], &mut holes).unwrap();
        holes.to_vec()
    }

    #[test]
    fn below_a_stack_pointer_nothing_is_in_use() {
        let (piece, control_block) = stack();
        let sp = piece.range.start + PAGE;
        let expected = [Range { start: piece.range.start, end: sp }];
        assert_eq!(holes(piece, &[Thread { sp, control_block }], 0), expected);
        // Where its stack begins is not known: another one may lie below.
        assert_eq!(holes(Piece { guarded: false, ..piece }, &[Thread { sp, control_block }], 0), []);
        // A thread that runs in memory of its own making.
        assert_eq!(holes(piece, &[Thread { sp, control_block: 64 }], 0), []);
    }

    #[test]
    fn stacks_of_ended_threads_are_not_in_use() {
        let (piece, control_block) = stack();
        let Range { start, end } = piece.range;
        let but_for_the_vector =
            [Range { start, end: control_block + 8 }, Range { start: control_block + 16, end }];
        assert_eq!(holes(piece, &[], 0), but_for_the_vector);
        // It may be the stack of a thread that could not be looked at.
        assert_eq!(holes(piece, &[], 1), []);
        // The thread is alive, and uses another stack just now.
        assert_eq!(holes(piece, &[Thread { sp: 64, control_block }], 0), []);
        assert_eq!(holes(Piece { guarded: false, ..piece }, &[], 0), []);
    }
}
