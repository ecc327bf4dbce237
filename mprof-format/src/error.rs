//! What can be wrong with a file, and what to do about it.

use std::borrow::Cow;
use std::fmt;

/// Where and how a file is damaged. What came before that place is good.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// Byte offset in the file.
    pub offset: u64,
    /// What is wrong there.
    pub problem: Cow<'static, str>,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "damaged at byte {}: {}; copy the file or run the program again", self.offset, self.problem)
    }
}

/// Why a file cannot be used at all.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReadError {
    /// Nothing at all.
    Empty,
    /// Something else, by its first bytes.
    NotMprof,
    /// An mprof file that was copied in text mode (line ends or bytes over 127 were changed).
    TextMode,
    /// The file header is cut off or changed.
    Header(Damage),
    /// Written in a format version that this reader does not know.
    Version {
        /// The file's version.
        file: u16,
    },
    /// Written on a machine of another kind.
    Machine {
        /// Byte offset of the mark that says so.
        offset: u64,
        /// What differs.
        what: &'static str,
    },
    /// Made with a feature that this reader does not know and must not overlook.
    Feature {
        /// Byte offset of the flags or the record.
        offset: u64,
        /// The flags or the record kind.
        what: String,
    },
    /// Not even the process, the first record, can be read.
    NoProcess(Damage),
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use crate::layout::{OLDEST_VERSION, VERSION};
        match self {
            ReadError::Empty => f.write_str("the file is empty; copy the file or run the program again"),
            ReadError::NotMprof => f.write_str(
                "byte 0: not an mprof data file; give the file that a program run under mprof wrote",
            ),
            ReadError::TextMode => {
                f.write_str("byte 0: changed by a copy in text mode; copy the file again in binary mode")
            }
            ReadError::Header(damage) => write!(f, "file header {damage}"),
            ReadError::Version { file } if file > &VERSION => write!(
                f,
                "byte 8: format version {file}, and this program reads up to {VERSION}; use the mprof that wrote \
                 the file, or a newer one"
            ),
            ReadError::Version { file } => write!(
                f,
                "byte 8: format version {file}, and this program reads from {OLDEST_VERSION} to {VERSION}; use the \
                 mprof that wrote the file, or run the program again"
            ),
            ReadError::Machine { offset, what } => {
                write!(f, "byte {offset}: {what}; use the mprof of the machine that wrote it")
            }
            ReadError::Feature { offset, what } => {
                write!(
                    f,
                    "byte {offset}: {what} is not known to this program; use the mprof that wrote the file"
                )
            }
            ReadError::NoProcess(damage) => write!(f, "nothing to show: {damage}"),
        }
    }
}

impl std::error::Error for ReadError {}
