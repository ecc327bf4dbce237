//! What is said of a program that frees what it must not: before the real allocator ends it, where it does.
//!
//! Only what is certain is said. A pointer that we know nothing of is most often another allocator's.

use core::fmt;

use crate::events;
use crate::freed::FreedObject;
use crate::heap;
use crate::location::{FrameKey, Location, SPACE_ANONYMOUS, SPACE_MODULES};
use crate::modules;
use crate::note::{self, Printable};
use crate::records;
use crate::sys::PAGE;
use crate::unwind::Entry;

/// Callers named of each chain.
const CALLERS: usize = 24;

/// Says that an object is freed again, and what is known of its life. `program`: the path of the program.
///
/// # Safety
/// `entry` is that of a hook of the calling thread that has not returned.
#[cold]
pub unsafe fn double_free(entry: Entry, freed: FreedObject, program: &[u8]) {
    note::say(format_args!(
        "double free of {:#x}; the C library is told of the block that it was in",
        freed.object
    ));
    // SAFETY: as the caller vouches.
    unsafe { freed_now(entry, program) };
    note::say(format_args!(
        "  it was freed first by {}",
        Place(Location::returning_to(freed.freed_at), program)
    ));
    let allocated = records::context(freed.record).zip(records::counter(freed.record));
    if let Some((node, counter)) = allocated
        && let Some(chunk) = counter.chunk
        && let Some(view) = heap::all().find(|view| view.address() == chunk.owner().cast_const())
    {
        note::say(format_args!("  it was allocated by"));
        let mut callers = Callers { program, count: 0 };
        view.frames(node).for_each(|key| callers.say(key));
    }
}

/// Says that what is freed is certainly no allocator's, if it is so: it lies in a loaded file, on the calling
/// thread's stack, or at an address that no allocator gives.
///
/// # Safety
/// As for [`double_free`].
#[cold]
pub unsafe fn foreign_free(entry: Entry, address: usize, program: &[u8]) {
    if modules::contains(address) {
        let place = Place(Location::interrupted_at(address), program);
        note::say(format_args!("free of {address:#x}, which no allocator gave: it lies in {place}"));
    } else if events::is_on_own_stack(entry, address) {
        note::say(format_args!("free of {address:#x}, which no allocator gave: it lies on the stack"));
    } else if !address.is_multiple_of(size_of::<usize>()) || address < PAGE {
        note::say(format_args!("free of {address:#x}, which no allocator gave"));
    } else {
        return;
    }
    // SAFETY: as the caller vouches.
    unsafe { freed_now(entry, program) };
}

unsafe fn freed_now(entry: Entry, program: &[u8]) {
    note::say(format_args!("  it is freed by"));
    let mut callers = Callers { program, count: 0 };
    // SAFETY: as the caller vouches.
    unsafe { events::with_chain(entry, &mut |key| callers.say(key)) };
}

/// Says the callers of a chain, innermost first.
struct Callers<'a> {
    program: &'a [u8],
    count: usize,
}

impl Callers<'_> {
    fn say(&mut self, key: FrameKey) {
        if key.space() < SPACE_ANONYMOUS && key != FrameKey::UNKNOWN {
            return; // a thread's top
        }
        if self.count < CALLERS {
            note::say(format_args!("    {}", Caller(key, self.program)));
        } else if self.count == CALLERS {
            note::say(format_args!("    ..."));
        }
        self.count += 1;
    }
}

struct Caller<'a>(FrameKey, &'a [u8]);

impl fmt::Display for Caller<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == FrameKey::UNKNOWN {
            f.write_str("[unknown]")
        } else {
            Place(self.0.location(), self.1).fmt(f)
        }
    }
}

/// A place in code or data as `file+0xoffset`, as addr2line(1) takes it.
struct Place<'a>(Location, &'a [u8]);

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let address = self.0.lookup_address();
        let module = modules::find(address)
            .and_then(|found| found.space.checked_sub(SPACE_MODULES))
            .and_then(|number| modules::get(usize::from(number)));
        match module {
            Some(module) => {
                let path = if module.path.is_empty() { self.1 } else { module.path };
                write!(f, "{}+{:#x}", Printable(path), address.wrapping_sub(module.bias))
            }
            None => write!(f, "{address:#x}"),
        }
    }
}
