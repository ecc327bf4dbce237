//! Files that are written whole or not at all.

use std::fs::{self, Permissions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

const BUFFER: usize = 1 << 16;

/// Writes a file whole or not at all: beside it first, then in its place. What is no regular file (a pipe, a
/// device) cannot be replaced and is written to.
pub(crate) fn write<T>(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<T>) -> io::Result<T> {
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    if fs::metadata(&target).is_ok_and(|metadata| !metadata.is_file()) {
        return buffered(&mut fs::OpenOptions::new().write(true).open(&target)?, write);
    }
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut beside = tempfile::Builder::new()
        .prefix(".mpdisplay-")
        .permissions(Permissions::from_mode(0o666))
        .tempfile_in(folder)?;
    let done = buffered(beside.as_file_mut(), write)?;
    beside.persist(&target).map_err(|error| error.error)?;
    Ok(done)
}

fn buffered<T>(out: &mut dyn Write, write: impl FnOnce(&mut dyn Write) -> io::Result<T>) -> io::Result<T> {
    let mut out = BufWriter::with_capacity(BUFFER, out);
    let done = write(&mut out)?;
    out.flush()?;
    Ok(done)
}
