//! What can go wrong for the user of the command, one line each.

use std::fmt;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::analysis::text::printable;
use mprof_format::{Damage, ReadError};
use thiserror::Error;

/// Why `mpdisplay` ends with status 2.
#[derive(Debug, Error)]
pub(crate) enum Error {
    /// A profile cannot be opened or read.
    #[error("{}: {reason}{advice}", shown(path))]
    Input {
        /// As given.
        path: PathBuf,
        /// From the system.
        reason: io::Error,
        /// What to do.
        advice: Advice,
    },
    /// The bytes are no profile of ours.
    #[error("{}: {reason}", shown(path))]
    Format {
        /// As given.
        path: PathBuf,
        /// What is wrong, and what to do.
        reason: ReadError,
    },
    /// The profile ends early.
    #[error("{}: {damage}; the tables are of what came before", shown(path))]
    Damaged {
        /// As given.
        path: PathBuf,
        /// Where and what.
        damage: Damage,
    },
    /// The profile was made from one that ended early.
    #[error("{}: made from a damaged file: its numbers are too small", shown(path))]
    Incomplete {
        /// As given.
        path: PathBuf,
    },
    /// A leak check cannot be made.
    #[error(transparent)]
    LeakCheck(#[from] crate::leak_check::Error),
    /// No profile has anything of the half that was asked for.
    #[error("nothing of {missing} in these profiles; there is: {}", there.join(", "))]
    NoHalf {
        /// Asked for.
        missing: &'static str,
        /// As they are shown.
        there: Vec<&'static str>,
    },
    /// No profile is of the process that was asked for.
    #[error("no process {pid} in these profiles; there {}", numbers(there))]
    NoProcess {
        /// Asked for.
        pid: u32,
        /// Rising.
        there: Vec<u32>,
    },
    /// No profile has the thread that was asked for.
    #[error(
        "no thread {tid} in these profiles; there {} (threads with the same start function are one, unless the program \
         is started with MPROF_THREADS=each)",
        numbers(there)
    )]
    NoThread {
        /// Asked for.
        tid: u32,
        /// Rising.
        there: Vec<u32>,
    },
    /// Processes or threads of two runs are not the same, so they cannot be compared one by one.
    #[error(
        "--diff compares sums: choose what is summed by --pid or --tid, not by --by process or --by thread"
    )]
    ApartAndCompared,
    /// No source file is called as was asked for.
    #[error("no line of a source file {name} is on a call chain{}", sources(there))]
    NoSource {
        /// Asked for, printable.
        name: String,
        /// Base names, those with most bytes first.
        there: Vec<String>,
    },
    /// A profile was given where a source file is expected.
    #[error("--annotate {name}: this is a profile, not a source file: put it first, `{name} --annotate`")]
    ProfileAsSource {
        /// As given, printable.
        name: String,
    },
    /// The report cannot be written.
    #[error("cannot write the report: {0}")]
    Output(io::Error),
    /// A file cannot be written.
    #[error("{}: cannot write: {reason}", shown(path))]
    OutputFile {
        /// As given.
        path: PathBuf,
        /// From the system.
        reason: io::Error,
    },
    /// Options do not go together.
    #[error("{0}")]
    Usage(&'static str),
}

/// A path with what would act on a terminal escaped.
fn shown(path: &Path) -> String {
    printable(path.as_os_str().as_bytes())
}

/// The numbers that there are.
fn numbers(there: &[u32]) -> String {
    const SHOWN: usize = 20;
    let texts: Vec<String> = there.iter().take(SHOWN).map(u32::to_string).collect();
    let verb = if there.len() == 1 { "is" } else { "are" };
    let more = there.len().saturating_sub(SHOWN);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{verb} {}{more}", texts.join(", "))
}

/// The source files that there are.
fn sources(there: &[String]) -> String {
    const SHOWN: usize = 6;
    match there {
        [] => "; no lines are known at all: compile with -g".into(),
        _ => {
            let more = there.len().saturating_sub(SHOWN);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            format!("; there are lines of {}{more}", there[..there.len().min(SHOWN)].join(", "))
        }
    }
}

/// What to do about a profile that is not there.
#[derive(Debug)]
pub(crate) enum Advice {
    /// Nothing comes to mind.
    None,
    /// There are profiles beside it.
    Others(Vec<PathBuf>),
    /// There are none.
    Record,
}

impl fmt::Display for Advice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Advice::None => Ok(()),
            Advice::Record => f.write_str("; make one: LD_PRELOAD=/path/to/libmprof.so ./program"),
            Advice::Others(files) => {
                f.write_str("; there is")?;
                const SHOWN: usize = 4;
                for (index, file) in files.iter().take(SHOWN).enumerate() {
                    let comma = if index == 0 { " " } else { ", " };
                    write!(f, "{comma}{}", shown(file))?;
                }
                if files.len() > SHOWN {
                    write!(f, " and {} more", files.len() - SHOWN)?;
                }
                Ok(())
            }
        }
    }
}
