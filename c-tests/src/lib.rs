//! The proof on real programs: compile a program, run it bare and under the profiler, hold the runs against each
//! other, and read facts out of the profile.
//!
//! ```no_run
//! use c_tests::{Program, kept};
//!
//! Program::c("figure6").check(|run| {
//!     assert_eq!(run.facts().chain("main > foo > bar"), kept(1, 24));
//! });
//! ```
//!
//! [`Program::check`] runs the program four times, each time in an empty folder: bare; under `libmprof.so`; under it
//! with `MPROF_VERIFY=1`; and under it with a library of ours behind it that only counts. What the program prints and
//! how it ends must be the same each time, every chain must be the reference unwinder's, the report's tables must
//! agree with each other, two profiles must give the same report, and the totals must be those of the library behind.
//! Only then the test's own facts are looked at.

mod compile;
pub mod count;
pub mod executable;
mod facts;
pub mod instructions;
mod outcome;
mod process;
mod program;
pub mod random;
mod tables;
mod tools;
mod trial;

pub use compile::programs_folder;
pub use facts::{Facts, Totals, freed, kept, totals};
pub use outcome::Outcome;
pub use process::{Output, Status, peak_memory, with_default_signals};
pub use program::Program;
pub use tables::{Edges, Entry, Tables};
pub use tools::{Tools, bare_only, skipped};
