//! What the user asked for about leaks, and the files that belong to it.

use super::{Excess, junit, sarif};
use crate::analysis::kinds::Kinds;
use crate::analysis::leaks::{Leaks, PathOptions};
use crate::analysis::part::Part;
use crate::analysis::text::printable;
use crate::analysis::tree::Tree;
use crate::report::options::Options;
use crate::report::view::View;
use crate::suppress::{self, Suppressions};
use crate::whole_file;
use mprof_format::model::Profile;
use std::fs;
use std::io::{self, BufWriter, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Settings of a leak check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Files of suppressions.
    pub suppressions: Vec<PathBuf>,
    /// Whether the built-in suppressions count.
    pub built_in: bool,
    /// Bytes kept from which on it fails; 0: anything kept. `None`: it does not fail.
    pub limit: Option<u64>,
    /// Kinds of kept objects that count, where they were classified.
    pub kinds: Kinds,
    /// Where to write the JUnit report.
    pub junit: Option<PathBuf>,
    /// Where to write the SARIF log.
    pub sarif: Option<PathBuf>,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            suppressions: Vec::new(),
            built_in: true,
            limit: None,
            kinds: Kinds::LOST,
            junit: None,
            sarif: None,
        }
    }
}

/// What goes wrong with the files of a leak check, one line each.
#[derive(Debug, Error)]
pub enum Error {
    /// A file of suppressions cannot be read.
    #[error("{}: {reason} (suppressions)", path.display())]
    Suppressions {
        /// As given.
        path: PathBuf,
        /// From the system.
        reason: io::Error,
    },
    /// It has a line that cannot be understood.
    #[error(transparent)]
    Line(#[from] suppress::ReadError),
    /// A result cannot be written.
    #[error("{}: cannot be written: {reason}", path.display())]
    Output {
        /// As given.
        path: PathBuf,
        /// From the system.
        reason: io::Error,
    },
}

impl Settings {
    /// Reads all suppressions: the user's first, so that it is they who are named where several match.
    ///
    /// # Errors
    /// When a file cannot be read or understood.
    pub fn read_suppressions(&self) -> Result<Suppressions, Error> {
        let mut all = Suppressions::default();
        for path in &self.suppressions {
            let bytes =
                fs::read(path).map_err(|reason| Error::Suppressions { path: path.clone(), reason })?;
            all.read(&bytes, &printable(path.as_os_str().as_bytes()))?;
        }
        if self.built_in {
            all.rules.append(&mut Suppressions::built_in().rules);
        }
        Ok(all)
    }

    /// The leak table without what is suppressed and, where `baseline` is given, without what it has already.
    pub fn leaks<'t>(
        tree: &'t Tree,
        paths: PathOptions,
        suppressions: &Suppressions,
        baseline: Option<&[Profile]>,
    ) -> Leaks<'t> {
        let mut leaks = Leaks::beyond(tree, paths, &suppress::apply(suppressions, tree));
        if let Some(baseline) = baseline {
            let tree = Tree::new(baseline);
            leaks.compare(&Leaks::beyond(&tree, paths, &suppress::apply(suppressions, &tree)));
        }
        leaks
    }

    /// Whether anything is asked for that needs the leak table.
    pub fn wants_leaks(&self) -> bool {
        self.limit.is_some() || self.junit.is_some() || self.sarif.is_some()
    }

    /// The same of a view; the baseline's chains are chosen and changed as the view's.
    pub fn leaks_in<'v>(view: &'v View, options: &Options, baseline: Option<&[Profile]>) -> Leaks<'v> {
        let mut leaks = view.leaks(options);
        if let Some(baseline) = baseline {
            let parts: Vec<Part<'_>> = baseline.iter().map(Part::whole).collect();
            leaks.compare(&View::new(&parts, options).leaks(options));
        }
        leaks
    }

    /// Those of the leaks that count.
    pub fn counted<'t>(&self, leaks: &Leaks<'t>) -> Leaks<'t> {
        leaks.of_kinds(self.kinds)
    }

    /// Whether the check fails.
    pub fn fails(&self, leaks: &Leaks<'_>) -> bool {
        self.limit.is_some_and(|limit| Excess::of(&self.counted(leaks)).reaches(limit))
    }

    /// Writes the files that were asked for, each whole or not at all. Where no limit is set, every leak counts as a
    /// failed test there: who asks for a test report wants to see them.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn write_results(&self, profiles: &[Profile], leaks: &Leaks<'_>) -> Result<(), Error> {
        let failing = self.limit.is_none() || self.fails(leaks);
        let leaks = &self.counted(leaks);
        if let Some(path) = &self.junit {
            write_whole(path, |out| junit::write(profiles, leaks, failing, out))?;
        }
        if let Some(path) = &self.sarif {
            let root = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
            let root = printable(root.as_os_str().as_bytes());
            write_whole(path, |out| sarif::write(profiles, leaks, failing, &root, out))?;
        }
        Ok(())
    }
}

/// Writes a file whole or not at all.
fn write_whole(
    path: &Path,
    write: impl Fn(&mut BufWriter<&mut dyn Write>) -> io::Result<()>,
) -> Result<(), Error> {
    whole_file::write(path, write).map_err(|reason| Error::Output { path: path.to_path_buf(), reason })
}
