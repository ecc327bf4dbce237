//! Compiling test programs, once for each (sources, flags, compiler): the results are kept in cargo's target folder.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use crate::process::succeed;
use crate::tools::target_folder;

/// The folder with the sources of all test programs.
pub fn programs_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("programs")
}

/// One call of a compiler: `source` in the programs folder becomes `output`.
#[derive(Debug, Clone, Hash)]
pub(crate) struct Step {
    /// File name in the programs folder; its extension chooses the compiler.
    pub source: String,
    /// File name of the result.
    pub output: String,
    /// Flags before the source.
    pub flags: Vec<String>,
    /// Words after the source: libraries, and object files of earlier steps.
    pub inputs: Vec<String>,
}

/// Runs the steps in order in one folder and gives that folder.
///
/// # Panics
/// When a compiler fails: its message is in the panic's.
pub(crate) fn compile(steps: &[Step]) -> PathBuf {
    let root = target_folder().join("c-tests");
    let done = root.join(fingerprint(steps));
    if done.is_dir() {
        return done;
    }
    fs::create_dir_all(&root).expect("the target folder can be written");
    // Compiled beside and renamed, so that another test never sees half of it.
    let scratch = tempfile::tempdir_in(&root).expect("the target folder can be written");
    for step in steps {
        let mut command = Command::new(compiler(&step.source));
        command.current_dir(scratch.path()).args(&step.flags).arg("-o").arg(&step.output);
        command.arg(programs_folder().join(&step.source)).args(&step.inputs);
        succeed(&mut command);
    }
    if fs::rename(scratch.path(), &done).is_err() {
        assert!(done.is_dir(), "{} cannot be made", done.display());
    }
    done
}

/// The compiler that a source needs, where this machine has none.
pub(crate) fn missing_compiler(source: &str) -> Option<String> {
    let compiler = compiler(source);
    Command::new(&compiler).arg("--version").output().is_err().then_some(compiler)
}

/// The compiler for a source file, by its extension; the environment may name another.
pub(crate) fn compiler(source: &str) -> String {
    let (variable, default) = match Path::new(source).extension().and_then(|e| e.to_str()) {
        Some("cpp") => ("CXX", "g++"),
        Some("rs") => ("RUSTC", "rustc"),
        _ => ("CC", "gcc"),
    };
    env::var(variable).unwrap_or_else(|_| default.to_owned())
}

/// A name that is different whenever the result could be: from sources, flags and the compilers' versions.
fn fingerprint(steps: &[Step]) -> String {
    let mut hasher = DefaultHasher::new();
    for step in steps {
        step.hash(&mut hasher);
        version(&compiler(&step.source)).hash(&mut hasher);
    }
    let sources = steps.iter().map(|step| step.source.as_str());
    for name in sources.chain(["check.h", "stepping.h"]) {
        let path = programs_folder().join(name);
        fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display())).hash(&mut hasher);
    }
    let name = steps.last().expect("something to compile").output.replace('/', "_");
    format!("{name}-{:016x}", hasher.finish())
}

fn version(compiler: &str) -> String {
    static KNOWN: Mutex<BTreeMap<String, String>> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN.lock().expect("no compiler's version panicked");
    known
        .entry(compiler.to_owned())
        .or_insert_with(|| succeed(Command::new(compiler).arg("--version")))
        .clone()
}
