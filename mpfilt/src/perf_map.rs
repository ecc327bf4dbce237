//! Names of code that a program generated while it ran, from the map file that it wrote for `perf`
//! (`/tmp/perf-PID.map`; linux/tools/perf/Documentation/jit-interface.txt): lines `START SIZE name`, hexadecimal.

use std::path::Path;

use mprof_format::model::{Frame, Function, Process, SourceFrame};

use crate::mapped::MappedFile;
use crate::name_table::NameTable;
use crate::options::Options;
use crate::warning::{Problem, Warning, printable};

/// Most bytes of a map file that are read.
const MAX_FILE: usize = 256 << 20;
/// Longest name, bytes.
const MAX_NAME: usize = 4096;

/// Names the anonymous `frames` of a process; tells where the map file would have to be if there is none.
pub(crate) fn name(
    frames: &[Frame],
    process: &Process,
    options: &Options,
    table: &mut NameTable,
) -> Option<Warning> {
    if frames.is_empty() {
        return None;
    }
    let path = options.perf_map_directory.join(format!("perf-{}.map", process.pid));
    match open(&path, process) {
        Some(file) => {
            name_by(&file[..file.len().min(MAX_FILE)], frames, table);
            None
        }
        None => {
            let path = printable(path.as_os_str().as_encoded_bytes());
            Some(Warning::new("generated code", Problem::NoPerfMap { path, frames: frames.len() }))
        }
    }
}

/// Opens the map, if it was written after the process began: ids are used again, and maps stay lying about.
fn open(path: &Path, process: &Process) -> Option<MappedFile> {
    let file = MappedFile::open(path).ok()?;
    let start = i64::try_from(process.start_unix_ns / 1_000_000_000).unwrap_or(i64::MAX);
    (file.modified >= start).then_some(file)
}

/// Names frames by the text of a map. A later line counts more than an earlier one: code is generated anew where
/// other code was dropped.
fn name_by(map: &[u8], frames: &[Frame], table: &mut NameTable) {
    let mut wanted: Vec<(u64, Frame)> =
        frames.iter().filter_map(|frame| Some((frame.lookup_address()?, *frame))).collect();
    wanted.sort_unstable();
    // `open[i]` leads to the first frame from `i` on that has no name yet, so that each is named once however many
    // lines cover it.
    let mut open: Vec<usize> = (0..=wanted.len()).collect();
    for line in map.rsplit(|&byte| byte == b'\n') {
        let Some(entry) = Entry::parse(line) else {
            continue;
        };
        let mut next = first_open(&mut open, wanted.partition_point(|&(address, _)| address < entry.start));
        while let Some(&(lookup, frame)) = wanted.get(next) {
            if lookup - entry.start >= entry.size {
                break;
            }
            let function = Function { name: entry.name.to_vec(), ..Function::default() };
            let function = table.function(function, entry.start);
            let address = match frame {
                Frame::Anonymous { address, .. } => address,
                _ => lookup,
            };
            let offset = address.wrapping_sub(entry.start);
            table.site(frame, vec![SourceFrame { function, file: None, line: 0, offset }]);
            open[next] = next + 1;
            next = first_open(&mut open, next + 1);
        }
    }
}

/// Follows `open` from `at`, and shortens the way for the next time.
fn first_open(open: &mut [usize], mut at: usize) -> usize {
    while open[at] != at {
        open[at] = open[open[at]];
        at = open[at];
    }
    at
}

struct Entry<'m> {
    start: u64,
    size: u64,
    name: &'m [u8],
}

impl<'m> Entry<'m> {
    fn parse(line: &'m [u8]) -> Option<Self> {
        let mut fields = line.splitn(3, |&byte| byte == b' ');
        let start = hexadecimal(fields.next()?)?;
        let size = hexadecimal(fields.next()?)?;
        let name = fields.next()?.trim_ascii();
        (!name.is_empty() && name.len() <= MAX_NAME).then_some(Entry { start, size, name })
    }
}

fn hexadecimal(digits: &[u8]) -> Option<u64> {
    let digits = std::str::from_utf8(digits).ok()?;
    let digits = digits.strip_prefix("0x").unwrap_or(digits);
    // `from_str_radix` takes a sign.
    digits
        .starts_with(|first: char| first.is_ascii_hexdigit())
        .then(|| u64::from_str_radix(digits, 16).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(address: u64) -> Frame {
        Frame::Anonymous { address, interrupted: false }
    }

    fn names(map: &[u8], addresses: &[u64]) -> Vec<Option<(String, u64)>> {
        let frames: Vec<_> = addresses.iter().map(|&address| frame(address)).collect();
        let mut table = NameTable::default();
        name_by(map, &frames, &mut table);
        let names = table.finish();
        let name = |frame| {
            let at = names.sites.get(frame)?.frames[0];
            let function = &names.functions[at.function as usize];
            Some((String::from_utf8_lossy(&function.name).into_owned(), at.offset))
        };
        frames.iter().map(name).collect()
    }

    #[test]
    fn a_return_address_belongs_to_the_code_before_it() {
        let map = b"1000 20 LazyCompile:*main /srv/app.js:3\n1020 10 next\n";
        let main = |offset| Some(("LazyCompile:*main /srv/app.js:3".to_owned(), offset));
        assert_eq!(
            names(map, &[0x1000, 0x1001, 0x1020, 0x1021, 0x1030, 0x1031]),
            [None, main(1), main(0x20), Some(("next".into(), 1)), Some(("next".into(), 0x10)), None]
        );
    }

    #[test]
    fn later_lines_win() {
        let map = b"1000 100 old\n1040 10 new\n";
        assert_eq!(
            names(map, &[0x1005, 0x1045, 0x1060]),
            [Some(("old".into(), 5)), Some(("new".into(), 5)), Some(("old".into(), 0x60))]
        );
    }

    #[test]
    fn malformed_lines_are_passed_over() {
        let map = b"\n\n \nxyz\n1000\n1000 20\n1000 20 \n+1000 20 plus\n1000 -20 minus\n\
            11111111111111111 20 long\n0x1000 20 good\r\n\xff\xff 1 bad\nffffffffffffffff ffffffffffffffff far";
        assert_eq!(names(map, &[0x1005, 0]), [Some(("good".into(), 5)), Some(("far".into(), 1))]);
    }
}
