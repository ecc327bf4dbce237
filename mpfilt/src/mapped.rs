//! Files as bytes: the one place with unsafe code.
#![allow(unsafe_code)]

use std::fs::OpenOptions;
use std::io;
use std::ops::Deref;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use memmap2::Mmap;

/// A file's bytes, mapped read-only.
pub(crate) struct MappedFile {
    map: Option<Mmap>,
    /// Last change of its contents, seconds since 1970.
    pub(crate) modified: i64,
}

impl MappedFile {
    /// Maps a regular file. Paths come from profiles, which may name anything: opening must not wait (a pipe
    /// without a writer) and nothing but a regular file is read (a device could deliver bytes for ever).
    pub(crate) fn open(path: &Path) -> io::Result<MappedFile> {
        let file =
            OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY).open(path)?;
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
        }
        let modified = metadata.mtime();
        if metadata.len() == 0 {
            return Ok(MappedFile { map: None, modified });
        }
        // SAFETY: the mapping is private and read-only, and nothing of ours writes to the file. Another process
        // could change it meanwhile: everything that reads these bytes checks each index and offset where it
        // uses it, so changing bytes give wrong names at worst; a file that is cut short under us ends the
        // process with SIGBUS, as it does every tool that maps binaries.
        let map = unsafe { Mmap::map(&file)? };
        Ok(MappedFile { map: Some(map), modified })
    }
}

impl Deref for MappedFile {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.map.as_deref().unwrap_or(&[])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_regular_files_are_opened() {
        let folder = tempfile::tempdir().expect("temporary folder");
        assert!(MappedFile::open(folder.path()).is_err());
        assert!(MappedFile::open(Path::new("/dev/zero")).is_err());
        let path = folder.path().join("empty");
        std::fs::write(&path, b"").expect("write");
        assert_eq!(&*MappedFile::open(&path).expect("empty file"), b"");
        std::fs::write(&path, b"bytes").expect("write");
        assert_eq!(&*MappedFile::open(&path).expect("file"), b"bytes");
    }

    #[test]
    fn a_pipe_does_not_block() {
        let folder = tempfile::tempdir().expect("temporary folder");
        let path = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&path).status().expect("mkfifo");
        assert!(made.success());
        assert!(MappedFile::open(&path).is_err());
    }
}
