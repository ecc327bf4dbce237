//! Options about names.

use clap::Args;
use std::path::PathBuf;

/// Where names come from.
#[derive(Debug, Args)]
#[command(next_help_heading = "Names")]
pub struct Naming {
    /// Look for programs and libraries below DIR (a container's or another machine's files)
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,

    /// Look for separate debug files in DIR too, before /usr/lib/debug; may be given more than once
    #[arg(long = "debug-dir", value_name = "DIR")]
    debug_directories: Vec<PathBuf>,

    /// Look for source files below DIR, by their whole paths or the ends of them; may be given more than once
    #[arg(long = "source-dir", value_name = "DIR")]
    pub source_directories: Vec<PathBuf>,
}

impl Naming {
    /// What the filter is to do with profiles that have no names yet.
    pub fn options(&self) -> mpfilt::Options {
        let mut options = mpfilt::Options { root: self.root.clone(), ..mpfilt::Options::default() };
        options.debug_directories.splice(0..0, self.debug_directories.iter().cloned());
        options
    }
}
