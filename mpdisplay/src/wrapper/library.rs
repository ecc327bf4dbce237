//! Finds `libmprof.so` and puts it before the program.

use super::Error;
use std::env;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// The library's file name.
const NAME: &str = "libmprof.so";

/// The folders of the library, seen from the folder of our own executable: beside it, as in a build folder; then as
/// installed; then the release build, seen from another one.
const FOLDERS: [&str; 9] = [
    ".",
    "../lib",
    "../lib/mprof",
    "../lib64",
    "../lib64/mprof",
    "../lib/x86_64-linux-gnu",
    "../lib/x86_64-linux-gnu/mprof",
    "../release",
    "../target/release",
];

/// Finds the library: what `MPROF_LIB` names, or where it lies relative to us.
pub(super) fn find() -> Result<PathBuf, Error> {
    if let Some(path) = env::var_os("MPROF_LIB").filter(|path| !path.is_empty()) {
        let path = PathBuf::from(path);
        let path = if path.is_dir() { path.join(NAME) } else { path };
        return path.canonicalize().map_err(|reason| Error::NamedLibrary { path, reason });
    }
    let own = env::current_exe().and_then(|path| path.canonicalize()).map_err(Error::OwnPath)?;
    let folder = own.parent().unwrap_or(Path::new("/"));
    find_from(folder).ok_or_else(|| Error::NoLibrary { folder: folder.to_path_buf() })
}

fn find_from(folder: &Path) -> Option<PathBuf> {
    FOLDERS.iter().find_map(|place| {
        let path = folder.join(place).join(NAME).canonicalize().ok()?;
        path.is_file().then_some(path)
    })
}

/// A value for `LD_PRELOAD`, and what must live as long as it is used.
pub(super) struct Preload {
    pub(super) value: OsString,
    /// A folder with a link to the library, where its own path cannot be written there.
    _link: Option<TempDir>,
}

/// Puts the library before what is preloaded already. The loader takes blanks and colons for separators and knows no
/// quotes (ld.so(8)): a library whose path has some is given by a link.
pub(super) fn preload(library: &Path, already: Option<&OsStr>) -> Result<Preload, Error> {
    let link = if library.as_os_str().as_bytes().iter().any(|&byte| is_separator(byte)) {
        Some(link(library).map_err(Error::Link)?)
    } else {
        None
    };
    let path = link.as_ref().map_or_else(|| library.to_path_buf(), |link| link.path().join(NAME));
    let mut value = path.into_os_string();
    for other in already.unwrap_or_default().as_bytes().split(|&byte| is_separator(byte)) {
        if !other.is_empty() && other != library.as_os_str().as_bytes() {
            value.push(":");
            value.push(OsStr::from_bytes(other));
        }
    }
    Ok(Preload { value, _link: link })
}

fn is_separator(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b':')
}

fn link(library: &Path) -> std::io::Result<TempDir> {
    let folder = tempfile::Builder::new().prefix("mprof-").tempdir()?;
    std::os::unix::fs::symlink(library, folder.path().join(NAME))?;
    Ok(folder)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn value(library: &str, already: &str) -> String {
        let preload = preload(Path::new(library), Some(OsStr::new(already))).expect("no link needed");
        preload.value.into_string().expect("text")
    }

    #[test]
    fn the_library_comes_first_and_once() {
        assert_eq!(value("/l/libmprof.so", ""), "/l/libmprof.so");
        assert_eq!(value("/l/libmprof.so", "liba.so libb.so"), "/l/libmprof.so:liba.so:libb.so");
        assert_eq!(value("/l/libmprof.so", ":/l/libmprof.so::/b.so"), "/l/libmprof.so:/b.so");
    }

    #[test]
    fn a_path_that_the_loader_would_split_becomes_a_link() {
        let folder = tempfile::Builder::new().prefix("with blank: ").tempdir().expect("a folder");
        let library = folder.path().join(NAME);
        fs::write(&library, "x").expect("written");
        let preload = preload(&library, None).expect("a link");
        let value = preload.value.to_str().expect("text").to_owned();
        assert!(!value.contains(": "), "{value}");
        assert_eq!(fs::canonicalize(&value).expect("a link"), library.canonicalize().expect("a path"));
        drop(preload);
        assert!(!Path::new(&value).exists());
    }

    #[test]
    fn it_is_found_beside_and_below_the_prefix() {
        let prefix = tempfile::tempdir().expect("a folder");
        let bin = prefix.path().join("bin");
        fs::create_dir(&bin).expect("made");
        assert_eq!(find_from(&bin), None);
        for folder in ["lib/x86_64-linux-gnu/mprof", "lib/mprof", "lib", "bin"] {
            let folder = prefix.path().join(folder);
            fs::create_dir_all(&folder).expect("made");
            let library = folder.join(NAME);
            fs::write(&library, "x").expect("written");
            assert_eq!(find_from(&bin), Some(library.canonicalize().expect("a path")));
        }
    }
}
