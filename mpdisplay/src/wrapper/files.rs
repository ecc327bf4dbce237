//! The data files that a run left.

use crate::input::{self, Input};
use mprof_format::model::Profile;
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// File systems and clocks may be a little behind each other.
const SLACK: Duration = Duration::from_secs(2);

/// A data file.
#[derive(Debug)]
pub(super) struct DataFile {
    /// As a person would name it.
    pub(super) path: PathBuf,
    /// What is in it.
    pub(super) profile: Profile,
    /// What is wrong with it.
    pub(super) trouble: Option<crate::error::Error>,
}

/// What a run left.
#[derive(Debug, Default)]
pub(super) struct Left {
    /// The program's own.
    pub(super) own: Option<DataFile>,
    /// Of its children and theirs, by process id.
    pub(super) children: Vec<DataFile>,
    /// Whether files of other runs lie there under such names.
    pub(super) others: bool,
}

impl Left {
    /// All, the program's own first.
    pub(super) fn all(&self) -> impl Iterator<Item = &DataFile> {
        self.own.iter().chain(&self.children)
    }
}

/// Finds the files of a run that began at `start`, in which process `pid` was the first. `pattern` is the name as
/// `MPROF_DATA` has it.
pub(super) fn find(pattern: &Path, pid: u32, start: SystemTime) -> Left {
    let mut left = Left::default();
    for (path, written) in candidates(pattern) {
        // Reading takes time, and old files may be many.
        let input = if written + SLACK >= start { input::read(&path).ok() } else { None };
        let Some(Input { profile, trouble }) =
            input.filter(|input| input.profile.process.start_unix_ns >= nanoseconds(start))
        else {
            left.others = true;
            continue;
        };
        let file = DataFile { path, profile, trouble };
        if file.profile.process.pid == pid {
            left.own = Some(file);
        } else {
            left.children.push(file);
        }
    }
    left.children
        .sort_by(|a, b| a.profile.process.pid.cmp(&b.profile.process.pid).then_with(|| a.path.cmp(&b.path)));
    left
}

fn nanoseconds(time: SystemTime) -> u64 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    since.saturating_sub(Duration::from_millis(10)).as_nanos().try_into().unwrap_or(u64::MAX)
}

/// Files whose names fit, and when they were written.
fn candidates(pattern: &Path) -> Vec<(PathBuf, SystemTime)> {
    let folder = pattern.parent().filter(|folder| !folder.as_os_str().is_empty());
    let Some(name) = pattern.file_name() else { return Vec::new() };
    let Ok(entries) = fs::read_dir(folder.unwrap_or(Path::new("."))) else { return Vec::new() };
    let path = |name: OsString| folder.map_or_else(|| PathBuf::from(&name), |folder| folder.join(&name));
    let mut files: Vec<(PathBuf, SystemTime)> = entries
        .flatten()
        .filter(|entry| fits(name.as_bytes(), entry.file_name().as_bytes()))
        .filter_map(|entry| Some((path(entry.file_name()), entry.metadata().ok()?.modified().ok()?)))
        .collect();
    files.sort();
    files
}

/// Whether a file's name is one that the library makes of the pattern: `%p` any number, `%n` anything, `%%` a `%`; and
/// a number may follow (see libmprof(3), `MPROF_DATA`).
fn fits(pattern: &[u8], name: &[u8]) -> bool {
    let digits = |name: &[u8]| name.iter().take_while(|byte| byte.is_ascii_digit()).count();
    match pattern {
        [b'%', b'p', rest @ ..] => (1..=digits(name)).any(|end| fits(rest, &name[end..])),
        [b'%', b'n', rest @ ..] => (0..=name.len()).any(|end| fits(rest, &name[end..])),
        [b'%', b'%', rest @ ..] => name.first() == Some(&b'%') && fits(rest, &name[1..]),
        [byte, rest @ ..] => name.first() == Some(byte) && fits(rest, &name[1..]),
        [] => match name {
            [] => true,
            [b'.', id @ ..] => !id.is_empty() && digits(id) == id.len(),
            _ => false,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fit_as_the_library_makes_them() {
        let fits = |pattern: &str, name: &str| fits(pattern.as_bytes(), name.as_bytes());
        assert!(fits("mprof.data", "mprof.data"));
        assert!(fits("mprof.data", "mprof.data.4711"));
        assert!(!fits("mprof.data", "mprof.data.4711.tmp"));
        assert!(!fits("mprof.data", "mprof.data."));
        assert!(!fits("mprof.data", "mprof.data2"));
        assert!(fits("%n-%p.data", "my-app-12.data"));
        assert!(!fits("%n-%p.data", "my-app-x.data"));
        assert!(fits("100%%", "100%.5"));
    }
}
