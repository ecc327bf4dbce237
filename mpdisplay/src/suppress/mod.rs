//! Suppressions: which kept objects are no leaks worth a line.
//!
//! Two formats are read, also mixed in one file: LeakSanitizer's (`leak:pattern`) and Valgrind memcheck's records
//! (`{ name Memcheck:Leak fun:… }`). Both become a [`Rule`]: a pattern over the frames of a call chain, matched from
//! the allocation outwards. [`apply`] finds for each chain of a [`Tree`](crate::analysis::tree::Tree) the first rule
//! that matches it.

mod apply;
mod built_in;
pub mod generate;
mod glob;
mod pattern;
mod read;

pub use apply::{Label, Suppressed, apply};
pub use pattern::{Matcher, Step};
pub use read::ReadError;

use crate::analysis::kinds::Kinds;
use std::fmt;

/// Where a rule was written.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// In the list that comes with the tool.
    BuiltIn,
    /// In a file of the user's.
    File {
        /// As the user named it, printable.
        name: String,
        /// Line where the rule begins, from 1.
        line: usize,
    },
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::BuiltIn => f.write_str("built in"),
            Origin::File { name, line } => write!(f, "{name}:{line}"),
        }
    }
}

/// One suppression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// The record's name, or `leak:pattern` as it was written; printable.
    pub name: String,
    /// Where it was written.
    pub origin: Origin,
    /// The kinds of leaks that it is for. Without a classification of the kept objects it is for all of them.
    pub kinds: Kinds,
    /// Frames from the allocation outwards; what lies beyond the last one does not matter.
    pub steps: Vec<Step>,
}

/// Rules in the order in which they were read; the first that matches a chain counts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Suppressions {
    /// The rules.
    pub rules: Vec<Rule>,
}

impl Suppressions {
    /// What the C library, the loader and common runtimes keep on purpose.
    pub fn built_in() -> Self {
        Suppressions { rules: built_in::rules() }
    }

    /// Adds the rules of a file. Records for other tools and other errors than leaks are passed over, since people
    /// keep them in one file.
    ///
    /// # Errors
    /// Says the line that cannot be understood; nothing was added then.
    pub fn read(&mut self, bytes: &[u8], name: &str) -> Result<(), ReadError> {
        let origin = |line| Origin::File { name: name.to_owned(), line };
        self.rules.append(&mut read::rules(bytes, &origin)?);
        Ok(())
    }
}
