//! The display: reads profiles and shows what was allocated where, in four tables (Zorn and Hilfinger, "A Memory
//! Allocation Profiler for C and Lisp Programs", 1988, section 2).
//!
//! [`analysis`] makes data from profiles, [`report`] draws it, [`export`] writes it in other programs' forms; [`cli`]
//! is the command line and [`command`] what the program does with it.
#![forbid(unsafe_code)]

pub mod analysis;
pub mod cli;
pub mod command;
mod destination;
mod error;
pub mod export;
mod half_report;
mod input;
pub mod leak_check;
mod output;
mod pager;
pub mod report;
mod select;
mod states;
pub mod suppress;
mod whole_file;
pub mod wrapper;
