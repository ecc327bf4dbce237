//! `MPROF_LEAK_CHECK=1`: at the end of the process, which kept objects can it still reach?

use core::sync::atomic::{AtomicBool, Ordering};

use mprof_core::reach::allocator::Allocator;
use mprof_core::reach::ranges::Range;
use mprof_core::reach::{self, Facts, Failure};
use mprof_core::{modules, note};
use mprof_format::kinds::Reason;

use crate::registers::Program;
use crate::{bootstrap, identity, originals};

static WANTED: AtomicBool = AtomicBool::new(false);

/// Asks for the check.
pub fn ask() {
    WANTED.store(true, Ordering::Relaxed);
}

/// Does it, if it was asked for and the process ends. All heaps are at rest, all signals blocked.
pub fn run(reason: Reason, program: Program) {
    reach::forget();
    let ends = matches!(
        reason,
        Reason::Exit | Reason::ImmediateExit | Reason::QuickExit | Reason::Abort | Reason::Signal
    );
    if !ends || !WANTED.load(Ordering::Relaxed) {
        return;
    }
    let Program { sp, registers } = program;
    let roots = [registers, bootstrap::range(), identity::environment_range()];
    match reach::classify(Facts {
        sp,
        allocator: allocator(),
        monitor: library_of(run as *const () as usize),
        roots: &roots,
    }) {
        Ok(summary) if summary.unseen_threads > 0 => note::say(format_args!(
            "leak check: {} could not be stopped (ptrace is not permitted?), so their registers were not seen, and all \
             of their stacks counts as in use",
            Threads(summary.unseen_threads)
        )),
        Ok(_) => {}
        Err(failure) => note::say(format_args!(
            "leak check: {}; kept objects are not classified",
            match failure {
                Failure::NoMaps => "/proc/self/maps cannot be read",
                Failure::NoReading => "neither a helper process nor process_vm_readv is permitted",
                Failure::NoMemory => "there is not enough memory",
                Failure::Killed => "the helper process was killed",
            }
        )),
    }
}

struct Threads(u32);

impl core::fmt::Display for Threads {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        if self.0 == 1 { f.write_str("a thread") } else { write!(f, "{} threads", self.0) }
    }
}

/// The allocator behind us: glibc's, unless another library's malloc comes before it.
fn allocator() -> Allocator {
    match (originals::malloc(), originals::__libc_malloc()) {
        (Some(real), Some(glibc)) if core::ptr::fn_addr_eq(real, glibc) => {
            Allocator::Glibc(library_of(real as usize))
        }
        _ => Allocator::Other,
    }
}

/// Where the library with this code lies.
fn library_of(address: usize) -> Range {
    let library = modules::find(address);
    library.map_or(Range { start: 0, end: 0 }, |library| Range { start: library.start, end: library.end })
}
