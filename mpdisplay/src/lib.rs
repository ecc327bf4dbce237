//! The display: reads profiles and shows what was allocated where, in four tables (Zorn and Hilfinger, "A Memory
//! Allocation Profiler for C and Lisp Programs", 1988, section 2).
//!
//! [`analysis`] makes data from profiles, [`report`] draws it.
#![forbid(unsafe_code)]

pub mod analysis;
pub mod error;
pub mod input;
pub mod leak_check;
pub mod report;
pub mod suppress;
