//! The library under test and the tools that read its files: taken from `MPROF_LIB` and `MPROF_BIN_DIR`, or built.

use std::env;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use crate::process::succeed;

/// Where the things under test are.
#[derive(Debug, Clone)]
pub struct Tools {
    /// `libmprof.so`.
    pub library: PathBuf,
    /// `mpfilt`.
    pub mpfilt: PathBuf,
    /// `mpdisplay`.
    pub mpdisplay: PathBuf,
    /// `mprof`.
    pub mprof: PathBuf,
}

impl Tools {
    /// Finds them, and builds them at the first call where the environment does not name them: `cargo test` builds no
    /// cdylib, and the tests are to see the release build.
    ///
    /// # Panics
    /// When the build fails or a file is missing.
    pub fn get() -> &'static Tools {
        static TOOLS: OnceLock<Tools> = OnceLock::new();
        TOOLS.get_or_init(|| {
            let library = env::var_os("MPROF_LIB").map(PathBuf::from);
            let folder = env::var_os("MPROF_BIN_DIR").map(PathBuf::from);
            if library.is_none() || folder.is_none() {
                build();
            }
            let built = target_folder().join("release");
            let folder = folder.unwrap_or_else(|| built.clone());
            Tools {
                library: existing(library.unwrap_or_else(|| built.join("libmprof.so"))),
                mpfilt: existing(folder.join("mpfilt")),
                mpdisplay: existing(folder.join("mpdisplay")),
                mprof: existing(folder.join("mprof")),
            }
        })
    }
}

/// Whether `C_TESTS_BARE` asks for the bare runs alone: to see that the programs themselves hold on a machine.
pub fn bare_only() -> bool {
    env::var_os("C_TESTS_BARE").is_some_and(|value| !value.is_empty() && value != "0")
}

/// Says that a test is skipped, past the test runner's capture: nothing is skipped silently.
pub fn skipped(why: &str) {
    // Where stderr is closed there is nobody to tell.
    let _ = writeln!(io::stderr(), "SKIPPED: {why}");
}

/// Cargo's target folder.
pub(crate) fn target_folder() -> PathBuf {
    match env::var_os("CARGO_TARGET_DIR") {
        // Cargo reads a relative one against the folder that it is called in; make and CI call it at the root.
        Some(folder) => workspace_folder().join(folder),
        None => workspace_folder().join("target"),
    }
}

fn workspace_folder() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the package lies in the workspace's folder")
}

fn build() {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.current_dir(workspace_folder()).args(["build", "--release", "--quiet"]);
    command.args(["-p", "mprof-preload", "-p", "mpfilt", "-p", "mpdisplay"]);
    succeed(&mut command);
}

fn existing(path: PathBuf) -> PathBuf {
    path.canonicalize().unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
