//! Which file a module is, and whether it still is that file.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use mprof_format::model::{Module, ModuleKind};
use object::read::Object;

use crate::debug_files::hexadecimal;
use crate::dwarf::Arena;
use crate::mapped::MappedFile;
use crate::options::Options;
use crate::warning::{Problem, printable};

/// A module's own image.
pub(crate) struct Image<'a> {
    /// Where it was found; the vdso has no path.
    pub(crate) path: Option<PathBuf>,
    /// Its bytes.
    pub(crate) data: &'a [u8],
    /// The same, as an ELF file.
    pub(crate) object: object::File<'a>,
}

/// Finds the image of a module and makes sure that it is the one that ran: a file whose build-id is another now
/// would give wrong names.
///
/// # Errors
/// What a person should be told about the module.
pub(crate) fn find<'a>(module: &Module, options: &Options, arena: &'a Arena) -> Result<Image<'a>, Problem> {
    match module.kind {
        ModuleKind::Vdso => find_vdso(module, arena),
        _ => find_file(module, options, arena),
    }
}

fn find_file<'a>(module: &Module, options: &Options, arena: &'a Arena) -> Result<Image<'a>, Problem> {
    let path = rooted(&module.path, options);
    let file = MappedFile::open(&path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Problem::FileGone { path: printable(path.as_os_str().as_bytes()) },
        _ => Problem::Unreadable { reason: error.to_string() },
    })?;
    let data = arena.file(file);
    let object = object::File::parse(data);
    let found = object.as_ref().ok().and_then(|object| object.build_id().ok().flatten());
    if !module.build_id.is_empty() && found != Some(&module.build_id) {
        let recorded = hexadecimal(&module.build_id);
        return Err(Problem::FileChanged { recorded, found: found.map(hexadecimal).unwrap_or_default() });
    }
    let object = object.map_err(|error| Problem::Unreadable { reason: error.to_string() })?;
    Ok(Image { path: Some(path), data, object })
}

/// Our own vdso, if it is the module's: the kernel maps the same one into every process until it is replaced.
fn find_vdso<'a>(module: &Module, arena: &'a Arena) -> Result<Image<'a>, Problem> {
    let data = arena.bytes(own_vdso().map_err(|_| Problem::OtherKernel)?);
    let object = object::File::parse(data).map_err(|_| Problem::OtherKernel)?;
    let found = object.build_id().ok().flatten();
    if module.build_id.is_empty() || found != Some(&module.build_id) {
        return Err(Problem::OtherKernel);
    }
    Ok(Image { path: None, data, object })
}

/// Reads the vdso out of our own memory (proc_pid_maps(5), proc_pid_mem(5)), without a raw pointer.
fn own_vdso() -> io::Result<Vec<u8>> {
    let absent = || io::Error::from(io::ErrorKind::NotFound);
    for line in BufReader::new(File::open("/proc/self/maps")?).split(b'\n') {
        let line = String::from_utf8_lossy(&line?).into_owned();
        if !line.ends_with("[vdso]") {
            continue;
        }
        let (start, rest) = line.split_once('-').ok_or_else(absent)?;
        let end = rest.split(' ').next().unwrap_or_default();
        let parse = |digits: &str| u64::from_str_radix(digits, 16).map_err(|_| absent());
        let (start, end) = (parse(start)?, parse(end)?);
        let mut memory = File::open("/proc/self/mem")?;
        memory.seek(SeekFrom::Start(start))?;
        let mut image = Vec::new();
        memory.take(end.saturating_sub(start)).read_to_end(&mut image)?;
        return Ok(image);
    }
    Err(absent())
}

/// A path of the profile below the root that the user gave.
pub(crate) fn rooted(path: &[u8], options: &Options) -> PathBuf {
    let path = Path::new(OsStr::from_bytes(path));
    match &options.root {
        Some(root) => root.join(path.strip_prefix("/").unwrap_or(path)),
        None => path.to_path_buf(),
    }
}
