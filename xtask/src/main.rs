//! Writes what is made from the command lines' definitions: manual pages and shell completions.
//!
//! `cargo run -p xtask -- man FOLDER`, `cargo run -p xtask -- completions FOLDER`; `make install` does both.
#![forbid(unsafe_code)]

mod completions;
mod manual;
mod programs;

use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    let words: Vec<_> = std::env::args_os().skip(1).collect();
    let (task, folder) = match words.as_slice() {
        [task, folder] => (task.to_str(), PathBuf::from(folder)),
        _ => (None, PathBuf::new()),
    };
    let written: io::Result<()> = match task {
        Some("man") => manual::write_all(&folder),
        Some("completions") => completions::write_all(&folder),
        _ => {
            eprintln!("usage: xtask man FOLDER\n       xtask completions FOLDER");
            return ExitCode::from(2);
        }
    };
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {}: {error}", folder.display());
            ExitCode::FAILURE
        }
    }
}
