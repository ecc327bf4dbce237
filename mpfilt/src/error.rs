//! What can go wrong for the user of the command, one line each.

use std::io;
use std::path::PathBuf;

use mprof_format::{Damage, ReadError};
use thiserror::Error;

/// Why `mpfilt` ends with status 2.
#[derive(Debug, Error)]
pub(crate) enum Error {
    /// The profile cannot be opened or read.
    #[error("{}: {reason}; give the file that a program run under mprof wrote", path.display())]
    Input {
        /// As given.
        path: PathBuf,
        /// From the system.
        reason: io::Error,
    },
    /// The bytes are no profile of ours.
    #[error("{}: {reason}", path.display())]
    Format {
        /// As given.
        path: PathBuf,
        /// What is wrong, and what to do.
        reason: ReadError,
    },
    /// The profile ends early; the result has what came before.
    #[error("{}: {damage}; the result has what came before", path.display())]
    Damaged {
        /// As given.
        path: PathBuf,
        /// Where and what.
        damage: Damage,
    },
    /// The profile was made from one that ended early.
    #[error("{}: made from a damaged file: its numbers are too small", path.display())]
    Incomplete {
        /// As given.
        path: PathBuf,
    },
    /// Bytes for programs would go to a person's screen.
    #[error("a profile is not for reading; try `mpfilt --text`, `mpfilt -o FILE`, or `mpfilt | mpdisplay`")]
    Terminal,
    /// The result cannot be written.
    #[error("{}: cannot be written: {reason}", path.display())]
    Output {
        /// Where to.
        path: PathBuf,
        /// From the system.
        reason: io::Error,
    },
}
