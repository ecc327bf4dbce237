//! The engine of mprof's monitor: what happens inside a program when it allocates and frees.
//!
//! It is an ordinary library that exports no C symbol: the preloaded library puts it behind `malloc`, tests and
//! benches call it. Rules of the house:
//!
//! * no lock, no allocation but from [`arena`], no system call where nothing new happens, no libc;
//! * a thread changes its own [`heap::Heap`] only; others may read what never moves or goes;
//! * memory that runs out costs chains, never counts, and never the program's life.
//!
//! The way of an allocation: [`events`] (the order around the real call) → [`heap`] (the thread's own) → [`memo`]
//! (is the chain one that was seen?) → [`chain`] (else walk what changed, by [`unwind`]'s rules) → [`tree`] and
//! [`records`] (count it) → [`header`] (say so before the object). At the end, [`dump`].
#![no_std]

#[cfg(test)]
extern crate alloc;

pub mod arena;
pub mod bins;
pub mod chain;
pub mod child;
pub mod curve;
pub mod dump;
pub mod elf_image;
pub mod events;
pub mod freed;
pub mod header;
pub mod heap;
pub mod kept;
pub mod ledger;
pub mod lifetimes;
pub mod lisp;
pub mod location;
pub mod maps;
pub mod mark;
pub mod memo;
pub mod misuse;
pub mod modules;
pub mod nesting;
pub mod note;
mod own_memory;
pub mod page_objects;
pub mod process;
pub mod reach;
pub mod recording;
pub mod records;
pub mod reference;
pub mod seccomp;
pub mod snapshots;
pub mod stack_bounds;
pub mod sys;
pub mod thread;
pub mod threads;
pub mod tree;
pub mod unwind;
pub mod watch;
pub mod words;
