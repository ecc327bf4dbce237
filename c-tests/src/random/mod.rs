//! Random programs, whose profiles must be exactly what the programs say about themselves.
//!
//! A program is made from a seed (`source.rs`) and compiled with the runtime of `programs/random/`: functions of all
//! shapes in several source files and a shared library, C and C++, with and without frame pointers, which call each
//! other at random, directly and through pointers, recursively, jump, throw, raise signals, switch stacks, and allocate,
//! resize and free each other's objects in several threads. Each run of it, with a seed of its own, keeps the truth on
//! the way (`truth.rs`), and the profile of the same run is held against it (`compare.rs`).

mod chance;
mod compare;
mod program;
mod source;
mod truth;

pub use program::{RandomProgram, Run};
