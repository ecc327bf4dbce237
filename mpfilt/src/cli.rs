//! The command line of `mpfilt`, and nothing else.

use std::path::PathBuf;

use clap::Parser;

/// Gives the addresses in an mprof profile their names
///
/// A program that runs under mprof writes addresses. mpfilt looks them up in the program, its libraries and their
/// debug information, and writes the same profile with names: functions, source files and lines, inlined calls, and
/// the user types of each size. It wants the very files that ran: run it on that machine, before you build anew.
///
/// mpdisplay does the same by itself for a profile without names; mpfilt is for profiles that are read elsewhere or
/// later.
#[derive(Debug, Parser)]
#[command(version, name = "mpfilt", after_help = EXAMPLES, max_term_width = 100)]
pub(crate) struct Arguments {
    /// The profile; `-` reads standard input
    #[arg(value_name = "FILE", default_value = "mprof.data")]
    pub(crate) input: PathBuf,

    /// Write the result to FILE (whole or not at all) instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// Print who calls whom and how much that allocates, for people, instead of a profile
    #[arg(short, long)]
    pub(crate) text: bool,

    /// Look names up anew in a profile that has some
    #[arg(long)]
    pub(crate) again: bool,

    /// Look for programs and libraries below DIR (a container's or another machine's files)
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,

    /// Look for separate debug files in DIR too, before /usr/lib/debug; may be given more than once
    #[arg(long = "debug-dir", value_name = "DIR")]
    pub(crate) debug_directories: Vec<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  mpfilt mprof.data | mpdisplay            names and the report in one go
  mpfilt -o named.data mprof.data          a profile that can be read anywhere
  mpfilt --text                            mprof.data as lines like
                                           34 bytes  2 allocs  main -> foo
  mpfilt --root /srv/box -o n.data m.data  the program ran in a container

Exit status: 0; 2 for wrong usage and for input that cannot be read or is
incomplete (what could be read is written all the same).";

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definition_is_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn the_default_is_the_file_that_programs_write() {
        let arguments = Arguments::try_parse_from(["mpfilt"]).expect("no argument needed");
        assert_eq!(arguments.input, PathBuf::from("mprof.data"));
        assert_eq!(arguments.output, None);
    }
}
