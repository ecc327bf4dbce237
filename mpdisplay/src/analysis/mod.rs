//! From profiles to what the tables say: data only, no drawing.

pub mod annotation;
pub mod bins;
pub mod chains;
pub mod code;
pub mod curve;
pub mod cycles;
pub mod direct;
pub mod flow;
pub mod functions;
pub mod glob;
pub mod graph;
pub mod kinds;
pub mod leaks;
pub mod modules;
mod names;
pub mod number;
pub mod part;
pub mod past;
pub mod pattern;
pub mod share;
mod start;
pub mod tally;
pub mod text;
pub mod threads;
pub mod totals;
pub mod tree;
pub mod walk;
