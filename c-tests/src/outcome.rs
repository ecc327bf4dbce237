//! What a run under the profiler left behind, and how to read it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use mprof_format::model::Profile;

use crate::facts::Facts;
use crate::process::{Output, succeed};
use crate::tables::Tables;
use crate::tools::Tools;

/// The finished run of one program under the profiler.
#[derive(Debug)]
pub struct Outcome {
    /// What the program printed and how it ended.
    pub output: Output,
    /// The folder that it ran in.
    pub folder: PathBuf,
    data_name: String,
    facts: OnceLock<Facts>,
}

impl Outcome {
    pub(crate) fn new(output: Output, folder: PathBuf, data_name: &str) -> Outcome {
        Outcome { output, folder, data_name: data_name.to_owned(), facts: OnceLock::new() }
    }

    /// Path of the first process's data file.
    pub fn data(&self) -> PathBuf {
        self.folder.join(&self.data_name)
    }

    /// The first process's profile.
    pub fn facts(&self) -> &Facts {
        self.facts.get_or_init(|| self.read(&self.data_name))
    }

    /// The profiles of all other processes (`mprof.data.PID`), by process id.
    pub fn children(&self) -> Vec<Facts> {
        let names = self.data_files().into_iter().filter(|name| *name != self.data_name);
        let mut children: Vec<Facts> = names.map(|name| self.read(&name)).collect();
        children.sort_by_key(|facts| facts.profile.process.pid);
        children
    }

    /// The names of the data files in the folder, sorted.
    pub fn data_files(&self) -> Vec<String> {
        let mut names: Vec<String> = entries(&self.folder);
        names.retain(|name| name.starts_with(&self.data_name));
        names
    }

    /// Reads one data file of the folder, through `mpfilt`.
    ///
    /// # Panics
    /// When it is not there, or not sound.
    pub fn read(&self, name: &str) -> Facts {
        let named = self.folder.with_extension("named");
        let mut mpfilt = Command::new(&Tools::get().mpfilt);
        succeed(mpfilt.arg("-o").arg(&named).arg(self.folder.join(name)));
        Facts::new(sound_profile(&named))
    }

    /// Reads one data file of the folder as the program wrote it.
    ///
    /// # Panics
    /// When it is not there, or not sound.
    pub fn raw(&self, name: &str) -> Profile {
        sound_profile(&self.folder.join(name))
    }

    /// What `mpdisplay` prints for the first process's file with these options.
    ///
    /// # Panics
    /// When it fails.
    pub fn report(&self, options: &[&str]) -> Tables {
        let mut mpdisplay = Command::new(&Tools::get().mpdisplay);
        Tables::new(succeed(mpdisplay.env("LC_ALL", "C").args(options).arg(self.data())))
    }
}

/// A whole profile, in which nothing is missing.
fn sound_profile(path: &Path) -> Profile {
    let bytes = fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let loaded = mprof_format::read(&bytes).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    assert_eq!(loaded.damage, None, "{}", path.display());
    assert!(!loaded.profile.incomplete, "{}: incomplete", path.display());
    assert_eq!(
        loaded.profile.process.unrecorded,
        0,
        "{}: allocations that were not recorded",
        path.display()
    );
    loaded.profile
}

/// The names in a folder, sorted; none where the program has removed the folder itself.
pub(crate) fn entries(folder: &Path) -> Vec<String> {
    if !folder.is_dir() {
        return Vec::new();
    }
    let listing = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut names: Vec<String> = listing
        .map(|entry| entry.expect("a readable folder").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}
