//! One test a program in `programs/`: what it does and what the report must show stands in its head.

mod allocators;
mod comparison;
mod confinement;
mod cpp;
mod crowds;
mod deaths;
mod ends;
mod libraries;
mod misuse;
mod names;
mod options;
mod paper;
mod processes;
mod reachability;
mod requests;
mod rules;
mod signals;
mod sizes;
mod stacks;
mod start;
mod surroundings;
mod threads;
mod unwinding;
