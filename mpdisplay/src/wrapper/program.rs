//! Finds the program as a shell would, and looks whether it can be profiled.

use object::elf;
use object::read::elf::{FileHeader, ProgramHeader, Sym};
use object::read::{ReadCache, ReadRef};
use std::env;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Why a program leaves no profile, or not the one that is wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Obstacle {
    /// There is no dynamic loader to preload a library.
    Static,
    /// It is for another machine than the library.
    OtherMachine,
    /// Its C library is musl.
    OtherLibrary,
    /// The loader preloads nothing into programs with more rights than their user.
    MoreRights,
    /// It replaces `malloc` to find errors.
    Sanitizer(String),
    /// It brings its own memory allocator.
    OwnAllocator(String),
    /// Go's memory does not come from `malloc`.
    Go,
}

impl Obstacle {
    /// Whether there is certainly no profile.
    pub(super) fn is_fatal(&self) -> bool {
        matches!(
            self,
            Obstacle::Static | Obstacle::OtherMachine | Obstacle::OtherLibrary | Obstacle::MoreRights
        )
    }
}

impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Obstacle::Static => f.write_str(
                "it is linked statically, and the library cannot be loaded before it (link it dynamically: without -static)",
            ),
            Obstacle::OtherMachine => f.write_str("it is for another machine than x86-64 (build it for this one)"),
            Obstacle::OtherLibrary => {
                f.write_str("it uses the C library musl, the profiler's is glibc (build it for glibc)")
            }
            Obstacle::MoreRights => f.write_str(
                "it is set-user-ID, set-group-ID or has capabilities, and the system loads no library before such a \
                 program (run a copy without these, or as that user)",
            ),
            Obstacle::Sanitizer(name) => write!(
                f,
                "it is built with {name}, which replaces malloc itself (build it without -fsanitize)"
            ),
            Obstacle::OwnAllocator(symbol) => write!(
                f,
                "it brings an allocator of its own ({symbol}), whose objects are not seen (build it with the C library's)"
            ),
            Obstacle::Go => f.write_str("it is written in Go, whose memory does not come from malloc"),
        }
    }
}

/// Why a program cannot be run, as shells tell it.
#[derive(Debug)]
pub(super) struct Unrunnable {
    pub(super) reason: String,
    /// 126 or 127.
    pub(super) status: u8,
}

/// A program that can be run.
#[derive(Debug)]
pub(super) struct Program {
    /// Its file.
    pub(super) path: PathBuf,
    /// A script that does not name its interpreter: it is for the shell.
    pub(super) for_shell: bool,
    /// What may keep it from being profiled.
    pub(super) obstacle: Option<Obstacle>,
}

/// Finds a program: a path if it has a slash, else in the folders of `PATH`.
pub(super) fn find(name: &OsStr) -> Result<Program, Unrunnable> {
    let path = if name.as_bytes().contains(&b'/') { runnable(Path::new(name))? } else { search(name)? };
    let (for_shell, obstacle) = look(&path, 0);
    Ok(Program { path, for_shell, obstacle })
}

fn search(name: &OsStr) -> Result<PathBuf, Unrunnable> {
    let folders = env::var_os("PATH").unwrap_or_else(|| OsString::from("/usr/bin:/bin"));
    let mut best = Unrunnable { reason: "command not found".into(), status: 127 };
    if name.is_empty() {
        return Err(best);
    }
    for folder in env::split_paths(&folders) {
        match runnable(&folder.join(name)) {
            Ok(path) => return Ok(path),
            // Another folder may have one that can be run.
            Err(error) if error.status == 126 && !folder.join(name).is_dir() => best = error,
            Err(_) => {}
        }
    }
    Err(best)
}

fn runnable(path: &Path) -> Result<PathBuf, Unrunnable> {
    let metadata = fs::metadata(path).map_err(|error| Unrunnable {
        reason: text(&error),
        status: if error.kind() == io::ErrorKind::NotFound { 127 } else { 126 },
    })?;
    if metadata.is_dir() {
        return Err(Unrunnable { reason: "is a folder".into(), status: 126 });
    }
    if rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_err() {
        let hint =
            if metadata.permissions().mode() & 0o111 == 0 { " (chmod +x makes it a program)" } else { "" };
        return Err(Unrunnable { reason: format!("permission denied{hint}"), status: 126 });
    }
    Ok(path.to_path_buf())
}

/// What the system says, without the number.
pub(super) fn text(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_lowercase()
}

/// Scripts may name scripts as interpreters; the kernel stops after so many (`BINPRM_MAX_RECURSION`).
const MAX_INTERPRETERS: u32 = 5;

/// Looks into a program's file: whether it is a script for the shell, and what obstacle there is. A file that cannot
/// be read has none that we know.
fn look(path: &Path, depth: u32) -> (bool, Option<Obstacle>) {
    let Ok(mut file) = File::open(path) else { return (false, more_rights(path)) };
    let mut start = Vec::new();
    if file.by_ref().take(512).read_to_end(&mut start).is_err() || depth > MAX_INTERPRETERS {
        return (false, None);
    }
    if let Some(line) = start.strip_prefix(b"#!") {
        let interpreter = interpreter(line);
        return (false, interpreter.and_then(|path| look(&path, depth + 1).1));
    }
    if !start.starts_with(&elf::ELFMAG) {
        return (true, None);
    }
    (false, more_rights(path).or_else(|| look_into_elf(&start, file)))
}

/// The program that a `#!` line stands for: its first word, and if that is `env`, what env looks for.
fn interpreter(line: &[u8]) -> Option<PathBuf> {
    let line = line.split(|&byte| byte == b'\n').next()?;
    let mut words = line.split(|byte| matches!(byte, b' ' | b'\t')).filter(|word| !word.is_empty());
    let path = PathBuf::from(OsString::from_vec(words.next()?.to_vec()));
    if path.file_name() != Some(OsStr::new("env")) {
        return Some(path);
    }
    let name = words.find(|word| !word.starts_with(b"-") && !word.contains(&b'='))?;
    search(OsStr::from_bytes(name)).ok()
}

/// Whether the program runs with more rights than we have (ld.so(8), "Secure-execution mode").
fn more_rights(path: &Path) -> Option<Obstacle> {
    let metadata = fs::metadata(path).ok()?;
    let mode = metadata.mode();
    let other_user = mode & 0o4000 != 0 && metadata.uid() != rustix::process::getuid().as_raw();
    let other_group = mode & 0o2010 == 0o2010 && metadata.gid() != rustix::process::getgid().as_raw();
    let capable = !rustix::process::getuid().is_root()
        && rustix::fs::getxattr(path, c"security.capability", &mut [0u8; 64]).is_ok();
    (other_user || other_group || capable).then_some(Obstacle::MoreRights)
}

type Header = elf::FileHeader64<object::Endianness>;

fn look_into_elf(start: &[u8], file: File) -> Option<Obstacle> {
    let machine = start.get(18..20)?;
    if start.get(4) != Some(&elf::ELFCLASS64.0) || machine != elf::EM_X86_64.0.to_le_bytes() {
        return Some(Obstacle::OtherMachine);
    }
    let cache = ReadCache::new(file);
    let header = Header::parse(&cache).ok()?;
    let endian = header.endian().ok()?;
    let segments = header.program_headers(endian, &cache).ok()?;
    let interpreter = segments.iter().find_map(|segment| segment.interpreter(endian, &cache).ok().flatten());
    let Some(interpreter) = interpreter else { return Some(Obstacle::Static) };
    if String::from_utf8_lossy(interpreter).contains("/ld-musl") {
        return Some(Obstacle::OtherLibrary);
    }
    symbols(header, endian, &cache)
}

/// What the program's symbols tell about its allocator.
fn symbols<'data, R: ReadRef<'data>>(
    header: &'data Header,
    endian: object::Endianness,
    data: R,
) -> Option<Obstacle> {
    let sections = header.sections(endian, data).ok()?;
    if sections.iter().any(|section| sections.section_name(endian, section) == Ok(b".go.buildinfo")) {
        return Some(Obstacle::Go);
    }
    let mut allocator = None;
    for kind in [elf::SHT_DYNSYM, elf::SHT_SYMTAB] {
        let Ok(table) = sections.symbols(endian, data, kind) else { continue };
        for symbol in table.iter() {
            let Ok(name) = table.symbol_name(endian, symbol) else { continue };
            // The sanitizers' libraries define what the program refers to.
            if let Some(sanitizer) = sanitizer(name) {
                return Some(Obstacle::Sanitizer(sanitizer.into()));
            }
            if !symbol.is_undefined(endian) && symbol.st_type() == elf::STT_FUNC && is_allocator(name) {
                allocator.get_or_insert_with(|| String::from_utf8_lossy(name).into_owned());
            }
        }
    }
    allocator.map(Obstacle::OwnAllocator)
}

fn sanitizer(symbol: &[u8]) -> Option<&'static str> {
    match symbol {
        b"__asan_init" => Some("AddressSanitizer"),
        b"__lsan_init" => Some("LeakSanitizer"),
        b"__tsan_init" => Some("ThreadSanitizer"),
        b"__msan_init" => Some("MemorySanitizer"),
        b"__hwasan_init" => Some("HWAddressSanitizer"),
        _ => None,
    }
}

/// `malloc` itself, or the names of jemalloc, mimalloc, tcmalloc and snmalloc where these have a prefix.
fn is_allocator(symbol: &[u8]) -> bool {
    const NAMES: [&[u8]; 7] = [
        b"malloc",
        b"je_malloc",
        b"_rjem_malloc",
        b"_rjem_mallocx",
        b"mi_malloc",
        b"tc_malloc",
        b"sn_malloc",
    ];
    NAMES.contains(&symbol)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interpreters_are_found_also_behind_env() {
        let path = |line: &str| interpreter(line.as_bytes());
        assert_eq!(path("/bin/sh\n"), Some("/bin/sh".into()));
        assert_eq!(path(" /bin/sh -e\nexit\n"), Some("/bin/sh".into()));
        assert_eq!(path("/usr/bin/env -S A=b sh -e\n"), search(OsStr::new("sh")).ok());
        assert_eq!(path("\n"), None);
    }

    #[test]
    fn programs_that_cannot_be_run_get_the_shells_status() {
        let status = |name: &str| find(OsStr::new(name)).expect_err("cannot be run").status;
        assert_eq!(status("no-such-program-anywhere"), 127);
        assert_eq!(status("/no/such/program"), 127);
        assert_eq!(status(""), 127);
        assert_eq!(status("/"), 126);
        assert_eq!(status("/etc/passwd"), 126);
        assert_eq!(status("/etc/passwd/x"), 126);
    }

    #[test]
    fn ordinary_programs_have_no_obstacle() {
        let program = find(OsStr::new("sh")).expect("every system has one");
        assert_eq!(program.obstacle, None);
        assert!(!program.for_shell);
    }
}
