//! Where separate debug files lie: by build-id, by debug link, beside the program, in debuginfod's cache.
//!
//! The folders and their order are gdb's (manual, "Debugging Information in Separate Files"); a file is taken
//! only if its build-id, or where there is none the checksum in the link, says that it belongs to the module.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use object::read::Object;

use crate::mapped::MappedFile;
use crate::options::Options;

/// A debug file that was found.
pub(crate) struct DebugFile {
    pub(crate) path: PathBuf,
    pub(crate) file: MappedFile,
}

/// The result of a search by link: the file, and one that had the name but belonged to another build.
#[derive(Default)]
pub(crate) struct Search {
    pub(crate) found: Option<DebugFile>,
    pub(crate) stale: Option<PathBuf>,
}

/// Finds a module's debug file by its build-id.
pub(crate) fn by_build_id(build_id: &[u8], options: &Options) -> Option<DebugFile> {
    let hex = hexadecimal(build_id);
    let (first, rest) = hex.split_at_checked(2).filter(|(_, rest)| !rest.is_empty())?;
    let name = format!(".build-id/{first}/{rest}.debug");
    let installed = options.debug_directories.iter().map(|folder| folder.join(&name));
    let cached = options.debuginfod_cache.iter().map(|cache| cache.join(&hex).join("debuginfo"));
    installed.chain(cached).find_map(|path| open_with_build_id(path, build_id))
}

/// Finds a module's debug file by the `.gnu_debuglink` in it. `path` is the module's own file.
pub(crate) fn by_link(object: &object::File<'_>, path: &Path, options: &Options) -> Search {
    let mut search = Search::default();
    let Ok(Some((name, checksum))) = object.gnu_debuglink() else {
        return search;
    };
    // A name, not a path: nothing outside the usual folders is read because a binary says so.
    if name.is_empty() || name.contains(&b'/') || name == b".." {
        return search;
    }
    let name = OsStr::from_bytes(name);
    let folder = path.parent().unwrap_or(Path::new("/"));
    let real = std::fs::canonicalize(path).ok();
    let below = folder.strip_prefix("/").unwrap_or(folder);
    let global = options.debug_directories.iter().map(|debug| debug.join(below).join(name));
    let candidates = [folder.join(name), folder.join(".debug").join(name)].into_iter().chain(global);
    let build_id = object.build_id().ok().flatten();
    for candidate in candidates {
        // A link to the file itself leads nowhere.
        if candidate == path || (real.is_some() && std::fs::canonicalize(&candidate).ok() == real) {
            continue;
        }
        let Ok(file) = MappedFile::open(&candidate) else {
            continue;
        };
        if belongs(&file, build_id, checksum) {
            search.found = Some(DebugFile { path: candidate, file });
            return search;
        }
        search.stale.get_or_insert(candidate);
    }
    search
}

/// Finds the supplementary file (dwz) that `object`'s `.gnu_debugaltlink` names; `Err` has the path of one that
/// was not found. `path` is the debug file itself.
pub(crate) fn supplementary(
    object: &object::File<'_>,
    path: &Path,
    options: &Options,
) -> Result<Option<DebugFile>, PathBuf> {
    let Ok(Some((name, build_id))) = object.gnu_debugaltlink() else {
        return Ok(None);
    };
    let name = Path::new(OsStr::from_bytes(name));
    let beside = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let linked = beside.parent().unwrap_or(Path::new("/")).join(name);
    open_with_build_id(linked.clone(), build_id)
        .or_else(|| by_build_id(build_id, options))
        .map_or(Err(linked), |found| Ok(Some(found)))
}

/// Opens a file if it is an ELF file with this build-id.
fn open_with_build_id(path: PathBuf, build_id: &[u8]) -> Option<DebugFile> {
    let file = MappedFile::open(&path).ok()?;
    let matches = object::File::parse(&*file).ok()?.build_id().ok()? == Some(build_id);
    matches.then_some(DebugFile { path, file })
}

/// Whether a file found by name belongs to the module: by build-id where both have one, else by checksum.
fn belongs(file: &MappedFile, build_id: Option<&[u8]>, checksum: u32) -> bool {
    let Ok(object) = object::File::parse(&**file) else {
        return false;
    };
    match (build_id, object.build_id().ok().flatten()) {
        (Some(module), Some(found)) => module == found,
        _ => crc32fast::hash(file) == checksum,
    }
}

/// Bytes as hexadecimal digits.
pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
