//! Damaged and crafted files: wrong or missing names at worst.

mod support;

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use mpfilt::Problem;
use object::{Object, ObjectSection};
use support::{Recording, Workshop, text};

const PROGRAM: &str = r#"
#include <cstdlib>
namespace shop {
template <class T> struct Shelf { T items[9]; struct Inner { int n[31]; } inner; typedef Inner Alias; };
void *volatile v;
template <class F> inline __attribute__((always_inline)) void each(F f) { for (int i = 0; i < 3; i++) f(i); }
void fill(int n) { each([n](int i) { v = malloc(n + i); }); if (n > 99) throw n; }
}
shop::Shelf<long> shelf;
shop::Shelf<long>::Alias other;
int main(int c, char **) { shop::fill(c); return 0; }
"#;

static PANICKED: AtomicBool = AtomicBool::new(false);

/// Names a file's code at regular places; nothing may panic, in whatever thread.
fn name(path: &Path) -> Recording {
    let mut recording = Recording::of(path);
    recording.profile.modules[0].build_id.clear();
    recording.sizes(&[8, 24, 124, 196, 200]);
    (0x1000..0x1400).step_by(7).for_each(|address| {
        recording.frame(address);
    });
    recording.name();
    assert!(!PANICKED.load(Ordering::Relaxed), "a thread panicked");
    recording
}

fn note_panics() {
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        PANICKED.store(true, Ordering::Relaxed);
        hook(info);
    }));
}

/// Numbers without pattern, the same in every run (Marsaglia's xorshift64).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit as u64) as usize
    }
}

#[test]
fn damaged_files_do_no_harm() {
    note_panics();
    let workshop = Workshop::new();
    workshop.write("a.cpp", PROGRAM);
    for options in ["-gdwarf-5", "-gdwarf-4 -fdebug-types-section", "-gdwarf-5 -gz"] {
        workshop.run(&format!("g++ -O2 {options} a.cpp -o a"));
        let whole = fs::read(workshop.file("a")).expect("the program");
        let path = workshop.file("damaged");
        let object = object::File::parse(&*whole).expect("ELF");
        let debug: Vec<_> =
            object.sections().filter(|of| of.name().is_ok_and(|name| name.contains("debug"))).collect();
        let ranges: Vec<_> = debug.iter().filter_map(ObjectSection::file_range).collect();
        let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
        for cut in (0..whole.len()).step_by(whole.len() / 60) {
            fs::write(&path, &whole[..cut]).expect("write");
            name(&path);
        }
        for _ in 0..400 {
            let mut bytes = whole.clone();
            // Mostly in debug information, a few bits at a time; now and then in the headers.
            for _ in 0..=numbers.below(4) {
                let (start, length) = match numbers.below(8) {
                    0 => (0, 64),
                    1 => (whole.len() as u64 - 64 * 40, 64 * 40),
                    _ => ranges[numbers.below(ranges.len())],
                };
                if length > 0 {
                    let at = start as usize + numbers.below(length as usize);
                    bytes[at] ^= 1 << numbers.below(8);
                }
            }
            fs::write(&path, &bytes).expect("write");
            name(&path);
        }
    }
}

/// Links a program of one function with debug information of our own, and names it.
fn crafted(sections: &str) -> Vec<String> {
    let workshop = Workshop::new();
    let code = ".text\n.globl _start\n_start:\n.rept 64\nnop\n.endr\n.Lend:\n";
    workshop.write("a.s", &format!("{code}{sections}"));
    workshop.run("as a.s -o a.o && ld --build-id=none -Ttext=0x1000 a.o -o a");
    let begin = Instant::now();
    let mut recording = Recording::of(&workshop.file("a"));
    recording.sizes(&[8]);
    let frame = recording.frame(0x1004);
    let warnings = recording.name();
    assert!(begin.elapsed() < Duration::from_secs(20), "took {:?}", begin.elapsed());
    // The symbol table still names the function.
    assert_eq!(recording.function_names(frame), ["_start"]);
    let damage = warnings.iter().filter(|of| matches!(of.problem(), Problem::Damaged { .. }));
    text(&damage.cloned().collect::<Vec<_>>())
}

/// A unit header for DWARF 4 with an abbreviation table at `abbreviations`.
fn unit(abbreviations: &str, entries: &str) -> String {
    format!(".section .debug_info\n.long 9f-8f\n8: .value 4\n.long {abbreviations}\n.byte 8\n{entries}\n9:\n")
}

/// Abbreviation 1 is a compilation unit with its code; others follow.
const UNIT_ABBREVIATION: &str = ".section .debug_abbrev\n.byte 1,0x11,1, 0x11,1, 0x12,7, 0,0\n";
const UNIT_ENTRY: &str = ".byte 1\n.quad _start\n.quad 64\n";

fn damaged(reason: &str) -> [String; 1] {
    [format!("a: its debug information is damaged and was not used: {reason}")]
}

#[test]
fn deep_nesting_is_refused() {
    // Inlined calls in inlined calls, a byte each: a reader that recurses would need a stack of gigabytes.
    let abbreviations = format!("{UNIT_ABBREVIATION}.byte 2,0x1d,1, 0,0, 0\n");
    let entries = format!("{UNIT_ENTRY}.fill 3000000,1,2\n.fill 3000001,1,0\n");
    assert_eq!(crafted(&(abbreviations + &unit("0", &entries))), damaged("entries are nested too deep"));
}

#[test]
fn attributes_without_bytes_are_limited() {
    let attributes = ".byte 0x3f,0x19\n".repeat(900);
    let abbreviations = format!("{UNIT_ABBREVIATION}.byte 2,0x34,0\n{attributes}.byte 0,0, 0\n");
    let entries = format!("{UNIT_ENTRY}.fill 5000000,1,2\n.byte 0\n");
    assert_eq!(
        crafted(&(abbreviations + &unit("0", &entries))),
        damaged("a unit has more attributes than bytes for them")
    );
    let attributes = ".byte 0x3f,0x19\n".repeat(1001);
    let abbreviations = format!("{UNIT_ABBREVIATION}.byte 2,0x34,0\n{attributes}.byte 0,0, 0\n");
    let entries = format!("{UNIT_ENTRY}.byte 2,0\n");
    assert_eq!(crafted(&(abbreviations + &unit("0", &entries))), damaged("an entry has too many attributes"));
}

#[test]
fn abbreviation_tables_must_not_overlap() {
    // Each unit starts at another entry of one long table.
    let table = ".byte 1,0x11,1,0,0\n".repeat(20000);
    let units: String = (0..2000).map(|n| unit(&(n * 5).to_string(), ".byte 1,0")).collect();
    assert_eq!(
        crafted(&format!(".section .debug_abbrev\n{table}.byte 0\n{units}")),
        damaged("abbreviation tables overlap")
    );
}

#[test]
fn one_line_table_cannot_serve_all_units() {
    let folders = ".asciz \"d\"\n".repeat(1000);
    let lines = format!(
        ".section .debug_line\n.long 5f-4f\n4: .value 4\n.long 7f-6f\n6: .byte 1,1,1,-5,14,1\n.rept 500\n{folders}.endr\n.byte 0,0\n7:\n5:\n"
    );
    let abbreviations = ".section .debug_abbrev\n.byte 1,0x11,0, 0x10,0x17, 0,0, 0\n";
    let units = unit("0", ".byte 1\n.long 0\n").repeat(2000);
    assert_eq!(
        crafted(&format!("{lines}{abbreviations}{units}")),
        damaged("one line number table is used by too many units")
    );
}

#[test]
fn one_range_list_cannot_serve_all_functions() {
    let list = ".section .debug_ranges\n.rept 20000\n.quad _start, .Lend\n.endr\n.quad 0,0\n";
    let abbreviations = format!("{UNIT_ABBREVIATION}.byte 2,0x2e,0, 0x55,0x17, 0,0, 0\n");
    let entries = format!("{UNIT_ENTRY}.rept 100000\n.byte 2\n.long 0\n.endr\n.byte 0\n");
    assert_eq!(
        crafted(&format!("{list}{abbreviations}{}", unit("0", &entries))),
        damaged("one list of address ranges is used by too many entries")
    );
}

#[test]
fn long_paths_are_not_repeated_for_each_file() {
    let folder = "d".repeat(1000);
    let lines = format!(
        ".section .debug_line\n.long 5f-4f\n4: .value 4\n.long 7f-6f\n6: .byte 1,1,1,-5,14,1\n.fill 60000,1,0x64\n.byte 0\n\
         .asciz \"{folder}\"\n.byte 0\n.rept 500000\n.asciz \"f\"\n.byte 1,0,0\n.endr\n.byte 0\n7:\n5:\n"
    );
    let abbreviations = ".section .debug_abbrev\n.byte 1,0x11,0, 0x10,0x17, 0,0, 0\n";
    assert_eq!(
        crafted(&format!("{lines}{abbreviations}{}", unit("0", ".byte 1\n.long 0\n"))),
        damaged("the source paths of a unit are too long")
    );
}

#[test]
fn references_in_circles_end() {
    // A function whose origin is itself, and a typedef of itself.
    let abbreviations = format!(
        "{UNIT_ABBREVIATION}.byte 2,0x2e,0, 0x11,1, 0x12,7, 0x31,0x13, 0,0\n.byte 3,0x16,0, 3,8, 0x49,0x13, 0,0, 0\n"
    );
    let entries = format!(
        "{UNIT_ENTRY}3: .byte 2\n.quad _start\n.quad 64\n.long 3b-8b+4\n2: .byte 3\n.asciz \"t\"\n.long 2b-8b+4\n.byte 0\n"
    );
    assert_eq!(crafted(&(abbreviations + &unit("0", &entries))), [""; 0]);
}

#[test]
fn a_section_cannot_claim_any_size() {
    let workshop = Workshop::new();
    workshop.write("a.c", "int main(void) { return 0; }\n");
    workshop.run("gcc -g -gz -Wl,--build-id=none a.c -o a");
    let mut bytes = fs::read(workshop.file("a")).expect("the program");
    let object = object::File::parse(&*bytes).expect("ELF");
    let info = object
        .section_by_name(".debug_info")
        .and_then(|of| of.compressed_file_range().ok())
        .expect("section");
    // The compression header before the data: type, reserved, size, alignment (gABI, "Section Compression").
    let size = info.offset as usize - 16;
    bytes[size..size + 8].copy_from_slice(&(1u64 << 60).to_le_bytes());
    fs::write(workshop.file("a"), &bytes).expect("write");
    let mut recording = Recording::of(&workshop.file("a"));
    let frame = recording.frame(workshop.symbol("a", "main") + 1);
    recording.name();
    assert_eq!(recording.function_names(frame), ["main"]);
}
