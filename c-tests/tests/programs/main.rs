//! One test a program in `programs/`: what it does and what the report must show stands in its head.

mod comparison;
mod cpp;
mod deaths;
mod ends;
mod libraries;
mod names;
mod options;
mod paper;
mod processes;
mod reachability;
mod rules;
mod signals;
mod sizes;
mod start;
mod surroundings;
mod threads;
mod unwinding;
