//! From profiles to what the tables say: data only, no drawing.

pub mod bins;
pub mod code;
pub mod cycles;
pub mod direct;
pub mod flow;
pub mod functions;
pub mod graph;
pub mod leaks;
mod names;
pub mod share;
mod start;
pub mod tally;
pub mod text;
pub mod totals;
pub mod tree;
pub mod walk;
