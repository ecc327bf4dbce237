//! Files that are to be executed.

use std::path::Path;
use std::process::Command;

/// Copies a file and makes it one that may be executed.
///
/// The copy is another process's work: where this one writes a file, a child that another test's thread has forked
/// meanwhile may hold it open, and then it cannot be executed (`ETXTBSY`, execve(2)).
///
/// # Panics
/// It cannot be copied.
pub fn copy(from: &Path, to: &Path) {
    let status = Command::new("install").args(["-m", "755", "--"]).args([from, to]).status();
    assert!(status.is_ok_and(|status| status.success()), "{} cannot be copied", from.display());
}

/// Makes a file with these bytes that may be executed.
///
/// # Panics
/// It cannot be written.
pub fn write(path: &Path, bytes: &[u8]) {
    let mut written = path.as_os_str().to_owned();
    written.push(".written");
    std::fs::write(&written, bytes).expect("it can be written");
    copy(Path::new(&written), path);
    std::fs::remove_file(&written).expect("it was there");
}
