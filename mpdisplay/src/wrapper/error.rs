//! What can go wrong before the program runs, one line each.

use super::program;
use crate::analysis::text::printable;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Why `mprof` ends without having run the program.
#[derive(Debug, Error)]
pub(super) enum Error {
    /// `MPROF_LIB` is wrong.
    #[error("{}: {} (named by MPROF_LIB)", shown(path), program::text(reason))]
    NamedLibrary {
        /// What it names.
        path: PathBuf,
        /// From the system.
        reason: io::Error,
    },
    /// We do not know where we are.
    #[error("cannot find out where mprof is installed: {0} (name the library in MPROF_LIB)")]
    OwnPath(io::Error),
    /// The library is nowhere.
    #[error(
        "libmprof.so is neither in {0} nor in the lib folder beside it (build it: cargo build --release; or name it in \
         MPROF_LIB)",
        shown(folder)
    )]
    NoLibrary {
        /// Our own folder.
        folder: PathBuf,
    },
    /// A path with blanks needs a link, and that cannot be made.
    #[error("the library's path has a blank or a colon, and a link to it cannot be made: {0}")]
    Link(io::Error),
    /// The profile cannot be written where it is to go.
    #[error("{}: {reason}", shown(path))]
    Output {
        /// The folder.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// Suppressions or baseline cannot be read.
    #[error(transparent)]
    LeakCheck(#[from] crate::leak_check::Error),
    /// The same for the baseline.
    #[error(transparent)]
    Input(#[from] crate::error::Error),
}

/// A path with what would act on a terminal escaped.
pub(super) fn shown(path: &Path) -> String {
    printable(path.as_os_str().as_bytes())
}
