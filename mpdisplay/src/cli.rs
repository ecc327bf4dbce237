//! The command line of `mpdisplay`, and nothing else.

use std::path::PathBuf;

use clap::{Parser, ValueEnum};

use mpdisplay::analysis::leaks::Depth;
use mpdisplay::suppress::generate::Format;

pub(crate) mod leaks;

use leaks::{LeakArguments, SuppressionFormat};

/// Shows what a program allocated: leaks, sizes, functions, call graph
///
/// Run a program under the library; at its end it leaves mprof.data in the folder it was started in. Then:
///
///     LD_PRELOAD=/path/to/libmprof.so ./program
///     mpdisplay
///
/// The four tables, in this order: `leaks` (what was never freed, by the last callers), `bins` (objects by size, with
/// the user types of that size), `direct` (functions that allocate themselves) and `graph` (who calls whom, and how
/// much is allocated on whose behalf). Several files are summed, by function name.
#[derive(Debug, Parser)]
#[command(version, name = "mpdisplay", after_help = EXAMPLES, max_term_width = 100)]
pub(crate) struct Arguments {
    /// Profiles; `-` reads standard input, as a pipe without FILE does [default: mprof.data]
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,

    /// Which tables, of leaks, bins, direct, graph
    #[arg(long, value_name = "LIST", value_delimiter = ',', help_heading = "What is shown")]
    pub(crate) tables: Vec<Table>,

    /// Leave the table of leaks out
    #[arg(long, alias = "noleaktable", conflicts_with = "tables", help_heading = "What is shown")]
    pub(crate) no_leaks: bool,

    /// Only rows from 1 % on (default: 0.5 %)
    #[arg(short, long, help_heading = "What is shown")]
    pub(crate) terse: bool,

    /// All rows, all types, and all figures of the leaks
    #[arg(short, long, conflicts_with = "terse", help_heading = "What is shown")]
    pub(crate) verbose: bool,

    /// At most N rows a table
    #[arg(long, value_name = "N", help_heading = "What is shown")]
    pub(crate) limit: Option<usize>,

    /// Order of rows (default: each table's own)
    #[arg(long, value_name = "ORDER", help_heading = "What is shown")]
    pub(crate) sort: Option<Sort>,

    /// Callers in a path of the leaks: a number, or `all`
    #[arg(long, value_name = "N", default_value = "5", value_parser = depth, help_heading = "Paths")]
    pub(crate) depth: Depth,

    /// Tell call sites apart by their offset in the function: make_widget+26
    #[arg(long, conflicts_with = "lines", help_heading = "Paths")]
    pub(crate) offsets: bool,

    /// Tell call sites apart by their line: make_widget (widgets.c:17)
    #[arg(long, help_heading = "Paths")]
    pub(crate) lines: bool,

    /// Do not merge functions that call each other in a cycle: whole call chains are known, so each function's
    /// bytes can be counted once however often it is on a chain
    #[arg(long, help_heading = "Call graph")]
    pub(crate) exact: bool,

    /// Show `.` for shares under 1 % and `**` for all, where the paper has blanks and 99
    #[arg(long, help_heading = "What is shown")]
    pub(crate) marks: bool,

    /// Look for programs and libraries below DIR (a container's or another machine's files)
    #[arg(long, value_name = "DIR", help_heading = "Names")]
    pub(crate) root: Option<PathBuf>,

    /// Look for separate debug files in DIR too, before /usr/lib/debug; may be given more than once
    #[arg(long = "debug-dir", value_name = "DIR", help_heading = "Names")]
    pub(crate) debug_directories: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) leaks: LeakArguments,

    /// Print suppressions for the leaks that the table would show, instead of the tables
    #[arg(
        long,
        value_name = "FORMAT",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "lsan",
        help_heading = "Leaks as a test result"
    )]
    pub(crate) gen_suppressions: Option<SuppressionFormat>,
}

impl From<SuppressionFormat> for Format {
    fn from(format: SuppressionFormat) -> Self {
        match format {
            SuppressionFormat::Lsan => Format::Sanitizer,
            SuppressionFormat::Valgrind => Format::Valgrind,
        }
    }
}

/// A table of the report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Table {
    /// Memory leaks
    Leaks,
    /// Allocation bins
    Bins,
    /// Direct allocation
    Direct,
    /// Allocation call graph
    Graph,
}

/// An order of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Sort {
    /// By falling bytes allocated
    Bytes,
    /// By falling bytes kept
    Kept,
    /// By falling objects allocated
    Allocs,
    /// By name, path or size
    Name,
}

fn depth(text: &str) -> Result<Depth, String> {
    match text.parse() {
        Ok(0) => Err("at least 1, or `all`".into()),
        Ok(number) => Ok(Depth::Last(number)),
        Err(_) if text == "all" => Ok(Depth::All),
        Err(_) => Err("a number, or `all`".into()),
    }
}

const EXAMPLES: &str = "\
Examples:
  mpdisplay                                the four tables of mprof.data
  mpdisplay --tables leaks --depth all     what leaks, with whole call chains
  mpdisplay --tables leaks --lines         … with source lines
  mpdisplay -v server.data                 everything, small rows too
  mpdisplay mprof.data*                    a program and its children, summed
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

    #[test]
    fn depths_are_numbers_from_1_or_all() {
        assert_eq!(depth("5"), Ok(Depth::Last(5)));
        assert_eq!(depth("all"), Ok(Depth::All));
        assert!(depth("0").is_err());
        assert!(depth("-1").is_err());
    }
}
