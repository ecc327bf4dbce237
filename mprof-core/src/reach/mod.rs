//! Which kept objects the program can still reach, as LeakSanitizer and memcheck ask at the end of a process.
//!
//! No table of objects is kept while the program runs: their headers are searched for. The order of things, most of it
//! in a helper process:
//!
//! 1. [`threads`]: all other threads are stopped and their registers noted ([`helper`]);
//! 2. [`maps`], [`pieces`]: the memory that the program can have pointers in;
//! 3. [`objects`]: the live objects, by their headers; [`allocator`]: the real allocator's memory around them;
//! 4. [`stacks`]: what of the stacks is in use;
//! 5. [`marking`]: everything else that is writable, and the registers, are roots; what they lead to is marked, by
//!    words at multiples of 8 that are addresses of objects or in them ([`interior`]);
//! 6. objects and bytes of each class are summed up for each counter record.
//!
//! All of this takes time in proportion to the memory that is in use.

pub mod allocator;
mod helper;
mod interior;
mod maps;
mod marking;
mod memory;
mod objects;
mod pieces;
pub mod ranges;
mod stacks;
mod table;
mod threads;

use crate::arena::Array;
use crate::process;
use crate::sys;
use crate::thread::control_block;

use allocator::{Allocator, Areas};
use maps::Mapping;
use marking::Marking;
use memory::{Memory, Scanner};
use objects::Objects;
use ranges::{Range, find, merge, without};
use threads::{Thread, Threads};

pub use table::{forget, of_record, summary};

/// What the engine does not know about the process.
#[derive(Debug, Clone, Copy)]
pub struct Facts<'a> {
    /// The calling thread's stack pointer where the program called us. What lies above it, the registers that the
    /// program wants back among it, is the program's.
    pub sp: usize,
    /// The real allocator.
    pub allocator: Allocator,
    /// The library that we are in: its variables are no roots.
    pub monitor: Range,
    /// Roots all the same: memory of ours that holds pointers of the program's.
    pub roots: &'a [Range],
}

/// What there is to say about a classification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Summary {
    /// Threads whose registers could not be looked at; all of their stacks counted as in use.
    pub unseen_threads: u32,
}

/// Why there is no classification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// The mappings cannot be read.
    NoMaps,
    /// The kernel lets us read memory in neither way.
    NoReading,
    /// There is no memory for it.
    NoMemory,
    /// The helper process was killed.
    Killed,
}

/// Classifies the live objects; [`of_record`] knows the result then. No thread may be within its heap, and the calling
/// thread has blocked all signals that can be.
///
/// # Errors
/// Where it cannot be done; nothing is known then.
pub fn classify(facts: Facts<'_>) -> Result<Summary, Failure> {
    let caller = Thread { sp: facts.sp, control_block: control_block() };
    let (process, caller_id) = (process::id(), sys::thread_id());
    let mut outcome = Err(Failure::Killed);
    let helped = helper::run(&mut || {
        let threads = Threads::stop(process, caller, caller_id);
        // SAFETY: the helper catches faults.
        outcome = look_around(unsafe { Memory::guarded() }, &threads, facts);
        threads.release();
    });
    if helped {
        return outcome;
    }
    let mut threads = Threads::default();
    threads.unseen = u32::from(!threads::is_alone(process, caller_id));
    if !threads.known.push(caller) {
        return Err(Failure::NoMemory);
    }
    let memory = Memory::by_kernel();
    if memory.word(facts.sp & !7).is_none() {
        return Err(Failure::NoReading);
    }
    look_around(memory, &threads, facts)
}

/// Classifies the live objects, given the threads.
fn look_around(memory: Memory, threads: &Threads, facts: Facts<'_>) -> Result<Summary, Failure> {
    let mappings = maps::read().ok_or(Failure::NoMaps)?;
    let page_map = memory::open_page_map();
    let known = (|| {
        let mut scanners = [Scanner::new(memory, page_map)?, Scanner::new(memory, page_map)?];
        classify_all(memory, threads, facts, &mappings, &mut scanners)
    })();
    if let Some(page_map) = page_map {
        sys::close(page_map);
    }
    known.ok_or(Failure::NoMemory)
}

/// The steps 2 to 6. `None` without memory.
fn classify_all(
    memory: Memory,
    threads: &Threads,
    facts: Facts<'_>,
    mappings: &[Mapping],
    [scanner, other]: &mut [Scanner; 2],
) -> Option<Summary> {
    let pieces = pieces::of(mappings, facts.monitor)?;
    let mut areas = Areas::new(facts.allocator, memory, &pieces);
    let objects = Objects::find(&pieces, scanner, &mut areas)?;
    let mut holes = areas.ranges;
    stacks::unused(memory, threads, &pieces, &mut holes)?;
    merge(&mut holes);
    let constants = constants(mappings)?;
    let is_constant = |address: usize| find(&constants, address).is_some();
    let mut marking = Marking::new(&objects, memory, facts.allocator.library(), &is_constant)?;
    marking.roots(0, &threads.registers);
    for thread in threads.known.as_slice() {
        // A stack in an object: a coroutine's.
        if let Some(object) = objects.at(thread.sp) {
            let range = Range { start: thread.sp, end: objects.range(object).end };
            marking.root_range(range, scanner, other);
        }
    }
    for &range in facts.roots {
        marking.root_range(range, scanner, other);
    }
    for piece in pieces.as_slice() {
        without(piece.range, &holes, |range| marking.root_range(range, scanner, other));
    }
    marking.follow(other);
    marking.sort_lost(other);
    let summary = Summary { unseen_threads: threads.unseen };
    let classes = marking.classes().enumerate();
    table::fill(
        summary,
        classes.map(|(object, class)| {
            let range = objects.range(object);
            (objects.record(object), class, range.end - range.start)
        }),
    )?;
    Some(summary)
}

/// The memory of files that can be read and not written: where virtual tables are.
fn constants(mappings: &[Mapping]) -> Option<Array<Range>> {
    let mut ranges = Array::new();
    let constant =
        |mapping: &&Mapping| mapping.readable && !mapping.writable && mapping.kind == maps::Kind::File;
    let whole = mappings.iter().filter(constant).all(|mapping| ranges.push(mapping.range));
    merge(&mut ranges);
    whole.then_some(ranges)
}
