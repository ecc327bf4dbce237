//! ECL as the program under test.

use std::path::PathBuf;
use std::process::Command;

use c_tests::{Program, skipped};

pub(crate) const ECL: &str = "/usr/bin/ecl";

/// A file of `lisp/`.
fn source(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("lisp").join(name)
}

/// The version that the numbers are of.
const VERSION: &str = "ECL 21.2.1";

/// ECL with these arguments; `None`, and a line on standard error, where it is not installed, or is of another version.
pub(crate) fn ecl(arguments: &[&str]) -> Option<Program> {
    let program = Program::installed(ECL)?;
    let version = Command::new(ECL).arg("--version").output().expect("ECL can be run").stdout;
    let version = String::from_utf8_lossy(&version).trim().to_owned();
    if version != VERSION {
        skipped(&format!("{ECL} is {version}, not {VERSION}"));
        return None;
    }
    Some(program.args(&["--norc"]).args(arguments).lisp())
}

/// ECL interpreting a file.
pub(crate) fn interpreted(name: &str) -> Option<Program> {
    let path = source(name);
    ecl(&["--load", path.to_str()?, "--eval", "(ext:quit 0)"])
}

/// ECL running a file that it compiled before.
pub(crate) fn compiled(name: &str) -> Option<Program> {
    let program = ecl(&[])?;
    let fas = compile(name);
    Some(program.args(&["--load", fas.to_str()?, "--eval", "(ext:quit 0)"]))
}

/// Compiles a file; gives the path of the result, which stays.
///
/// # Panics
/// When ECL cannot.
pub(crate) fn compile(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("lisp");
    std::fs::create_dir_all(&folder).expect("cargo's folder for tests can be written");
    let fas = folder.join(name).with_extension("fas");
    // Another test may be at the same file: each makes its own, and the last one stays.
    let own = tempfile::Builder::new().prefix("compile-").tempdir_in(&folder).expect("a temporary folder");
    let output = own.path().join("out.fas");
    let form = format!(
        "(ext:quit (if (compile-file {:?} :output-file {:?}) 0 1))",
        source(name).display().to_string(),
        output.display().to_string()
    );
    let run = Command::new(ECL).args(["--norc", "--eval", &form]).current_dir(own.path()).output();
    let run = run.expect("ECL can be run");
    assert!(run.status.success() && output.is_file(), "compiling {name}: {run:?}");
    std::fs::rename(&output, &fas).expect("both are in one folder");
    fas
}
