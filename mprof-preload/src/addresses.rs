//! The table of leaks with addresses in place of names, for when there is no mpdisplay to print it.

use core::cmp::Reverse;
use core::fmt::{self, Display, Formatter};

use mprof_core::heap::HeapView;
use mprof_core::kept::{self, Kept};
use mprof_core::location::{FrameKey, SPACE_ANONYMOUS, SPACE_MODULES, SPACE_SPECIAL, SPACE_THREAD};
use mprof_core::modules;
use mprof_core::note::{self, Printable};

use crate::identity;

/// Callers in a path.
const DEPTH: usize = 5;
/// Paths at most.
const ROWS: usize = 50;

/// The last callers, innermost first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Path {
    frames: [u64; DEPTH],
    length: usize,
    beginning: Beginning,
}

/// What stands before the callers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Beginning {
    Start,
    More,
    Unknown,
}

#[derive(Debug, Clone, Copy)]
struct Row {
    path: Path,
    kept: Kept,
}

/// Prints the table on standard error, by falling bytes.
pub fn print() {
    let mut rows = Vec::new();
    let mut left_out = Kept::default();
    kept::each(|place, kept| {
        // Where there is no memory for a row, it is at least counted.
        if rows.try_reserve(1).is_ok() {
            rows.push(Row { path: Path::of(place), kept });
        } else {
            left_out.objects += kept.objects;
            left_out.bytes += kept.bytes;
        }
    });
    rows.sort_unstable_by_key(|row| row.path);
    rows.dedup_by(|next, row| {
        let same = next.path == row.path;
        if same {
            row.kept.objects += next.kept.objects;
            row.kept.bytes += next.kept.bytes;
        }
        same
    });
    rows.sort_unstable_by_key(|row| (Reverse(row.kept.bytes), Reverse(row.kept.objects), row.path));
    for row in rows.iter().skip(ROWS) {
        left_out.objects += row.kept.objects;
        left_out.bytes += row.kept.bytes;
    }
    note::print(format_args!("\nMemory leaks\n\n  allocs     bytes    path\n"));
    for Row { path, kept } in rows.iter().take(ROWS) {
        note::print(format_args!("{:8}{:10}    {path}", kept.objects, kept.bytes));
    }
    if left_out.objects != 0 {
        note::print(format_args!("{:8}{:10}    on other paths", left_out.objects, left_out.bytes));
    }
}

impl Path {
    fn of(place: Option<(&'static HeapView, u32)>) -> Path {
        let mut path = Path { frames: [0; DEPTH], length: 0, beginning: Beginning::Unknown };
        let Some((heap, mut node)) = place else { return path };
        while node != 0 {
            let next = heap.tree().node(node);
            match next.key.space() {
                SPACE_THREAD => path.beginning = Beginning::Start,
                SPACE_SPECIAL if next.key == FrameKey::UNKNOWN => path.beginning = Beginning::Unknown,
                SPACE_SPECIAL => path.beginning = Beginning::More,
                _ if path.length == DEPTH => {
                    path.beginning = Beginning::More;
                    break;
                }
                _ => {
                    path.frames[path.length] = next.key.0;
                    path.length += 1;
                    path.beginning = Beginning::Start;
                    node = next.parent;
                    continue;
                }
            }
            break;
        }
        path
    }
}

impl Display for Path {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str(match self.beginning {
            Beginning::Start => "||",
            Beginning::More => "...",
            Beginning::Unknown => "[unknown]",
        })?;
        for &frame in self.frames[..self.length].iter().rev() {
            out.write_str(" > ")?;
            write_frame(FrameKey(frame), out)?;
        }
        Ok(())
    }
}

/// `widgets+0x1189`: file and address in it, as mpdisplay shows code without a name.
fn write_frame(key: FrameKey, out: &mut Formatter<'_>) -> fmt::Result {
    let address = key.location().lookup_address();
    let module = match key.space() {
        SPACE_ANONYMOUS => None,
        space => modules::get(usize::from(space.saturating_sub(SPACE_MODULES))),
    };
    let Some(module) = module else { return write!(out, "{address:#x}") };
    let path = if module.path.is_empty() { identity::program() } else { module.path };
    let name = path.rsplit(|&byte| byte == b'/').next().unwrap_or(path);
    write!(out, "{}+{:#x}", Printable(name), address.wrapping_sub(module.bias))
}
