//! The counts of `programs/libcount.c`, which runs behind the profiler, and how they compare with a profile.

use std::fs;
use std::path::{Path, PathBuf};

use mprof_format::model::Profile;

use crate::compile::{Step, compile};
use crate::facts::Facts;

/// What one process image asked of the C library.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Process id.
    pub pid: u32,
    /// The process began by `fork`: it may free objects that it did not allocate.
    pub forked: bool,
    /// Successful allocations.
    pub allocs: u64,
    /// Objects freed.
    pub frees: u64,
    /// Bytes asked for.
    pub bytes: u64,
    /// Allocations of an alignment over 16 bytes.
    pub aligned: u64,
    /// The sum of those alignments, bytes.
    pub padding: u64,
}

/// `"libcount"` as the number that the file begins with.
const MAGIC: u64 = u64::from_le_bytes(*b"libcount");

/// Bytes that the profiler puts before each object; an object of a larger alignment is preceded by that much instead.
const HEADER: u64 = 16;

impl Counts {
    /// Reads one file of the library's.
    ///
    /// # Panics
    /// When it is none.
    pub fn read(path: &Path) -> Counts {
        let bytes = fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let mut words =
            bytes.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().expect("8 bytes")));
        let mut next = || words.next().unwrap_or_else(|| panic!("{}: too short", path.display()));
        assert_eq!(next(), MAGIC, "{} is not a file of libcount's", path.display());
        Counts {
            pid: u32::try_from(next()).expect("a process id"),
            forked: next() != 0,
            allocs: next(),
            frees: next(),
            bytes: next(),
            aligned: next(),
            padding: next(),
        }
    }

    /// Every process's counts in `folder`, by process id, where `LIBCOUNT_FILE` was `folder/count`.
    pub fn read_all(folder: &Path) -> Vec<Counts> {
        let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        let names = entries.map(|entry| entry.expect("a readable folder").path());
        let mut all: Vec<Counts> = names
            .filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("count.")))
            .map(|path| Counts::read(&path))
            .collect();
        all.sort_by_key(|counts| counts.pid);
        all
    }

    /// The bytes that the program asked for, of those that the profiler asked for.
    pub fn bytes_of_program(&self) -> u64 {
        self.bytes - HEADER * (self.allocs - self.aligned) - self.padding
    }

    /// Checks a profile of the same process against these counts; of bytes where `bytes` says so.
    ///
    /// # Panics
    /// When a total differs.
    pub fn assert_agrees(&self, profile: &Profile, bytes: bool) {
        let total = Facts::total_of(profile);
        let who = format!("process {} ({})", self.pid, String::from_utf8_lossy(&profile.process.program));
        assert_eq!(total.allocs, self.allocs, "{who}: allocations, profiler's against the C library's");
        if bytes {
            assert_eq!(
                total.bytes,
                self.bytes_of_program(),
                "{who}: bytes, profiler's against the C library's"
            );
        }
        if self.forked {
            // Frees of objects from before the fork are none of this profile's.
            assert!(total.frees <= self.frees, "{who}: {} frees of {}", total.frees, self.frees);
        } else {
            assert_eq!(total.frees, self.frees, "{who}: frees, profiler's against the C library's");
        }
    }
}

/// Builds the library and gives its path.
pub fn libcount() -> PathBuf {
    let flags = ["-O2", "-Wall", "-Wextra", "-shared", "-fPIC", "-fno-builtin"].map(str::to_owned).to_vec();
    let output = "libcount.so".to_owned();
    compile(&[Step { source: "libcount.c".to_owned(), output: output.clone(), flags, inputs: Vec::new() }])
        .join(output)
}
