//! The command line of `mpdisplay`, and nothing else: each group of options in a file of its own.

mod export;
mod leaks;
mod names;
mod paths;
mod reading;
mod screen;
mod several;
mod tables;
mod wrapper;

pub use export::Export;
pub use leaks::{Generation, LeakChecks, SuppressionFormat};
pub use names::Naming;
pub use paths::Paths;
pub use reading::Reading;
pub use screen::{Screen, When};
pub use several::Several;
pub use tables::{Shown, Sort, Table};
pub use wrapper::WrapperArguments;

use clap::Parser;
use std::path::PathBuf;

/// Shows what a program allocated: leaks, sizes, functions, call graph
#[derive(Debug, Parser)]
#[command(version, name = "mpdisplay", long_about = ABOUT, after_help = EXAMPLES, max_term_width = 100)]
pub struct Arguments {
    /// Profiles; `-` reads standard input, as a pipe without FILE does [default: mprof.data]
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,

    /// What is shown.
    #[command(flatten)]
    pub shown: Shown,

    /// How call chains are shown.
    #[command(flatten)]
    pub paths: Paths,

    /// In which form, and where to.
    #[command(flatten)]
    pub export: Export,
    /// What counts.
    #[command(flatten)]
    pub reading: Reading,

    /// How several processes, threads and runs are taken together.
    #[command(flatten)]
    pub several: Several,

    /// How the report looks on a terminal.
    #[command(flatten)]
    pub screen: Screen,

    /// Which leaks count, and what follows from them.
    #[command(flatten)]
    pub leaks: LeakChecks,

    /// Suppressions in place of the tables.
    #[command(flatten)]
    pub generation: Generation,

    /// Where names come from.
    #[command(flatten)]
    pub naming: Naming,
}

const ABOUT: &str = "\
Shows what a program allocated: leaks, sizes, functions, call graph.

Run a program under the library; at its end it leaves mprof.data in the folder it was started in. Then:

    LD_PRELOAD=/path/to/libmprof.so ./program
    mpdisplay

The four tables, in this order: leaks (what was never freed, by the last callers), bins (objects by size, with the \
user types of that size), direct (functions that allocate themselves) and graph (who calls whom, and how much is \
allocated on whose behalf). Several files are summed, by function name.";

const EXAMPLES: &str = "\
Examples:
  mpdisplay                                the four tables of mprof.data
  mpdisplay --tables leaks --depth all     what leaks, with whole call chains
  mpdisplay --tables leaks --lines         … with source lines
  mpdisplay -v server.data                 everything, small rows too
  mpdisplay mprof.data*                    a program and its children, summed
  mpdisplay --format html -o report.html   a page for the browser
  mpdisplay --format flamegraph --measure kept -o leaks.svg
                                           who keeps memory, as a flame graph
  mpdisplay --format pprof -o heap.pb.gz   for `go tool pprof heap.pb.gz`
  mpfilt -o named.data && mpdisplay named.data
                                           names now, to be read anywhere later
  mpdisplay --gen-suppressions > known     what leaks today, as suppressions
  mpdisplay --suppressions known --fail-on-leak --junit leaks.xml mprof.data*
                                           a test that fails when more leaks

Exit status: 0; 1 with --fail-on-leak if that much was kept; 2 for wrong usage and for input that cannot be read or is
incomplete (the tables of what could be read are printed all the same).";

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definition_is_consistent() {
        Arguments::command().debug_assert();
    }
}
