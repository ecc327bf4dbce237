//! The command line of `mprof`.

use super::{LeakChecks, Naming};
use clap::Parser;
use std::ffi::OsString;
use std::path::PathBuf;

/// Runs a program and profiles the memory that it allocates
#[derive(Debug, Parser)]
#[command(
    version,
    name = "mprof",
    override_usage = "mprof [OPTIONS] [--] PROGRAM [ARGUMENTS]...\n       mprof show [OPTIONS] [FILE]...",
    long_about = ABOUT,
    after_help = EXAMPLES,
    max_term_width = 100
)]
pub struct WrapperArguments {
    /// The program and its arguments; `--` before it where its name is `show` or begins with a dash
    #[arg(value_name = "PROGRAM", required = true, trailing_var_arg = true, value_hint = clap::ValueHint::CommandWithArguments)]
    pub command: Vec<OsString>,

    /// Write the profile to FILE instead of mprof.data; %p in it becomes the process id, %n the program's name
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Tell kept objects apart by whether the program could still reach them when it ended (MPROF_LEAK_CHECK=1): then
    /// only those count as leaks that it has lost
    #[arg(long)]
    pub leak_check: bool,

    /// No summary; errors and failed leak checks are still told
    #[arg(short, long)]
    pub quiet: bool,

    /// Leave the addresses in the profile without names (mpfilt or mprof show find them later, if the program and its
    /// libraries are then still the same)
    #[arg(long)]
    pub raw: bool,

    /// Which leaks count, and what follows from them.
    #[command(flatten)]
    pub leaks: LeakChecks,

    /// Where names come from.
    #[command(flatten)]
    pub naming: Naming,
}

const ABOUT: &str = "\
Runs a program and profiles the memory that it allocates.

The program runs as it would without mprof: same input and output, same signals, same exit status. When it ends, a \
summary goes to standard error and the profile to mprof.data in the current folder; each child process writes one of \
its own, mprof.data.PID. `mprof show` prints the tables; it is mpdisplay, with all its options.";

const EXAMPLES: &str = "\
Examples:
  mprof ./server --port 8080               run it, then say what it kept
  mprof show --tables leaks --lines        what leaks, with source lines
  mprof -o before.data -- pytest tests     a program whose options follow
  mprof --fail-on-leak ./test              status 1 if the test passes but leaks
  mprof --leak-check --fail-on-leak ./test  … if it has lost the last pointer to something
  mprof --fail-on-leak --baseline known.data ./test
                                           … if it leaks more than it did

Exit status: the program's own, and 128+N (by the same signal) if signal N ended it. If that would be 0: 1 with
--fail-on-leak if that much was kept, 2 if the leaks could not be checked. 2 for wrong usage, 126 if the program cannot
be run, 127 if there is no such program.

Environment: MPROF_LIB names the library if it is not found; MPROF_DATA, MPROF_SUPPRESSIONS and other variables are
described in libmprof(3).";

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    fn command(words: &[&str]) -> Vec<OsString> {
        WrapperArguments::try_parse_from(words).expect("sound").command
    }

    #[test]
    fn the_definition_is_consistent() {
        WrapperArguments::command().debug_assert();
    }

    #[test]
    fn options_end_at_the_program() {
        assert_eq!(command(&["mprof", "-q", "ls", "-o", "--color"]), ["ls", "-o", "--color"]);
        assert_eq!(command(&["mprof", "--", "-x", "-q"]), ["-x", "-q"]);
        assert_eq!(command(&["mprof", "--fail-on-leak", "./t", "--", "a"]), ["./t", "--", "a"]);
        assert_eq!(command(&["mprof", "--fail-on-leak=1K", "./t"]), ["./t"]);
        assert!(WrapperArguments::try_parse_from(["mprof", "--no-such-option", "ls"]).is_err());
        assert!(WrapperArguments::try_parse_from(["mprof"]).is_err());
    }
}
