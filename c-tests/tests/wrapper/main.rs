//! `mprof`, the command that runs a program under the library, and leaks as test results.

mod consumers;
mod in_the_program;
mod installed;
mod leaks;
mod obstacles;
mod running;
mod scratch;
mod signals;
mod terminal;
