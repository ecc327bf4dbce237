//! An ECL that was linked to call its own allocator directly (`-Bsymbolic-functions`): its objects are recorded by size.
//!
//! There is none to be had. A copy of the library is made one: where it asks the loader for its allocator it is given other
//! names, of functions that no program here calls and that stand for the same code in the copy.

use std::path::Path;
use std::process::Command;

use crate::ecl::{ECL, ecl};
use c_tests::{Tools, bare_only};

/// Functions of the allocator, and whose names they get.
const STANDINS: [(&str, &str); 7] = [
    ("ecl_cons", "cl_acosh"),
    ("ecl_list1", "cl_asinh"),
    ("ecl_alloc_object", "cl_atanh"),
    ("ecl_alloc_compact_object", "cl_cosh"),
    ("ecl_alloc", "cl_sinh"),
    ("ecl_alloc_atomic", "cl_tanh"),
    ("ecl_alloc_uncollectable", "cl_phase"),
];

const SECTION: usize = 64;
const SYMBOL: usize = 24;
const RELOCATION: usize = 24;
const RELOCATIONS: u32 = 4;
const DYNAMIC_SYMBOLS: u32 = 11;
const JUMP_SLOT: u64 = 7;

/// An ELF file, as far as it is needed here.
struct Library(Vec<u8>);

impl Library {
    fn word(&self, at: usize) -> u64 {
        u64::from_le_bytes(self.0[at..at + 8].try_into().expect("8 bytes"))
    }

    fn half(&self, at: usize) -> u32 {
        u32::from_le_bytes(self.0[at..at + 4].try_into().expect("4 bytes"))
    }

    fn set(&mut self, at: usize, word: u64) {
        self.0[at..at + 8].copy_from_slice(&word.to_le_bytes());
    }

    /// Headers of the sections of a kind.
    fn sections(&self, kind: u32) -> Vec<usize> {
        let (start, count) = (self.word(40) as usize, usize::from(self.0[60]));
        (0..count).map(|index| start + SECTION * index).filter(|at| self.half(at + 4) == kind).collect()
    }

    /// Offset and length of a section.
    fn extent(&self, section: usize) -> (usize, usize) {
        (self.word(section + 24) as usize, self.word(section + 32) as usize)
    }

    /// Number and place of a dynamic symbol.
    fn symbol(&self, name: &str) -> (u64, usize) {
        let section = self.sections(DYNAMIC_SYMBOLS)[0];
        let strings = self.word(40) as usize + SECTION * self.half(section + 40) as usize;
        let ((start, length), (names, _)) = (self.extent(section), self.extent(strings));
        let is_it = |at: &usize| {
            let text = &self.0[names + self.half(*at) as usize..];
            text.strip_prefix(name.as_bytes()).is_some_and(|rest| rest[0] == 0)
        };
        let at = (start..start + length).step_by(SYMBOL).find(is_it).expect("ECL has it");
        (((at - start) / SYMBOL) as u64, at)
    }

    fn call_directly(&mut self) {
        for (name, standin) in STANDINS {
            let ((number, at), (other, other_at)) = (self.symbol(name), self.symbol(standin));
            self.set(other_at + 8, self.word(at + 8));
            for section in self.sections(RELOCATIONS) {
                let (start, length) = self.extent(section);
                for at in (start..start + length).step_by(RELOCATION) {
                    if self.word(at + 8) == number << 32 | JUMP_SLOT {
                        self.set(at + 8, other << 32 | JUMP_SLOT);
                    }
                }
            }
        }
    }
}

/// Objects of 16 bytes that are recorded of a program that makes a list of so many conses.
fn conses(folder: &Path, count: u32) -> u64 {
    let form = format!("(progn (let (l) (dotimes (i {count}) (push i l)) (print (length l))) (ext:quit 0))");
    let mut command = Command::new(ECL);
    command.args(["--norc", "--eval", &form]).current_dir(folder).env("LD_LIBRARY_PATH", folder);
    let run = command.env("LD_PRELOAD", &Tools::get().library).output().expect("ECL can be run");
    assert!(run.status.success(), "{run:?}");
    assert_eq!(String::from_utf8_lossy(&run.stdout).trim(), count.to_string());
    assert_eq!(
        String::from_utf8_lossy(&run.stderr),
        "mprof: Lisp: recorded by size alone: this ECL was linked to call its allocator directly\n"
    );
    let mut command = Command::new(&Tools::get().mpdisplay);
    command.args(["--gc", "--tables", "bins", "--format", "csv"]).current_dir(folder);
    let bins = String::from_utf8(command.output().expect("it runs").stdout).expect("text");
    let row = bins.lines().find_map(|line| line.strip_prefix("16,16,")).expect("objects of 16 bytes");
    row.split(',').next().and_then(|allocs| allocs.parse().ok()).expect("a number")
}

#[test]
fn an_ecl_that_calls_itself_directly_is_recorded_by_size() {
    if bare_only() || ecl(&[]).is_none() {
        return;
    }
    let loaded =
        String::from_utf8(Command::new("ldd").arg(ECL).output().expect("it runs").stdout).expect("text");
    let path = loaded.split_whitespace().find(|word| word.starts_with('/') && word.contains("/libecl.so"));
    let path = Path::new(path.expect("ECL has a library"));
    let mut library = Library(std::fs::read(path).expect("it can be read"));
    library.call_directly();
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join(path.file_name().expect("a file")), &library.0).expect("written");
    // ECL itself makes some more or some less from one run to the next.
    let (few, many) = (conses(folder.path(), 1000), conses(folder.path(), 101_000));
    assert!((99_800..=100_200).contains(&(many - few)), "{few}, {many}");
}
