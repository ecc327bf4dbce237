//! Files that are written whole or not at all.

use std::fs::{self, Permissions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Writes a file beside its place first and then puts it there. What is no regular file (a pipe, `/dev/stdout`) cannot
/// be replaced and is written to directly.
///
/// # Errors
/// Those of the system, and of `write`.
pub(crate) fn write(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<&mut dyn Write>) -> io::Result<()>,
) -> io::Result<()> {
    let buffered = |file: &mut dyn Write| {
        let mut out = BufWriter::with_capacity(1 << 16, file);
        write(&mut out)?;
        out.flush()
    };
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    if fs::metadata(&target).is_ok_and(|metadata| !metadata.is_file()) {
        return buffered(&mut fs::OpenOptions::new().write(true).open(&target)?);
    }
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut beside = tempfile::Builder::new()
        .prefix(".mprof-")
        .permissions(Permissions::from_mode(0o666))
        .tempfile_in(folder)?;
    buffered(beside.as_file_mut())?;
    beside.persist(&target).map_err(|error| error.error)?;
    Ok(())
}
