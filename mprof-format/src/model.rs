//! A whole profile in memory, as the readers see it: checked, owned, and free of pointers into the file.
//!
//! Every index that is stored here (a context's parent, a counter's context, a site's function …) has been
//! checked by the reader and lies inside the table that it points into.

use std::collections::BTreeMap;
use std::vec::Vec;

pub use crate::history::{
    AGE_CLASSES, Ages, Change, Growth, LIFETIME_CLASSES, Lifetime, Live, PeakTotals, Point, Rounding,
    SnapshotTotals,
};
pub use crate::kinds::{Bin, Category, Counter, Frame, LAST_BIN, ModuleKind, Reason, SourceFrame, Special};
pub use crate::reachability::{Amount, CLASSES, Class, Kept};

/// One process image's profile.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Profile {
    /// The process that was watched.
    pub process: Process,
    /// Loaded objects, in the order of their first appearance on a call chain. Index = module id.
    pub modules: Vec<Module>,
    /// Thread records, the first being the initial thread's. Index = thread id.
    pub threads: Vec<Thread>,
    /// The calling-context tree. Index = context id; a parent's id is always smaller than its children's.
    pub contexts: Vec<Context>,
    /// What was allocated where: at most one for each (context, category), in the order of these.
    pub counters: Vec<Counter>,
    /// Allocations by size, by rising size.
    pub bins: Vec<Bin>,
    /// What a garbage collector's heap adds: Lisp functions, allocations by type.
    pub collected: Collected,
    /// The heap in the course of time.
    pub history: History,
    /// Which kept objects could still be reached at the end; `None` where that was not looked for.
    pub reachability: Option<Reachability>,
    /// What `mpfilt` found out about the addresses; `None` in a file that comes straight from a program.
    pub names: Option<Names>,
    /// Records of kinds that this version does not know, in file order, as they stood in the file: a newer
    /// writer's data survives a reading and writing by an older `mpfilt`.
    pub extra: Vec<RawRecord>,
    /// Part of the file, or of the file that this one was made from, was lost: the numbers are too small.
    pub incomplete: bool,
}

/// Which kept objects could still be reached at the end of the process (`MPROF_LEAK_CHECK`).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reachability {
    /// Threads whose registers could not be looked at: all that their stacks had ever held counted as pointers.
    pub unseen_threads: u32,
    /// Kept objects by class: at most one entry for each (context, category), in the order of these.
    pub kept: Vec<Kept>,
}

/// The heap in the course of time. Lists that name contexts have at most one entry for each (context, category), in
/// the order of these.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct History {
    /// The heap at its peak; `None` where it was not recorded.
    pub peak: Option<Peak>,
    /// The curve, by rising time.
    pub curve: Vec<Point>,
    /// What was alive at other moments, by rising time.
    pub snapshots: Vec<Snapshot>,
    /// How long freed objects lived, in KiB of allocation.
    pub lifetimes: Vec<Lifetime>,
    /// The same in allocations.
    pub ages: Vec<Ages>,
    /// Reallocations.
    pub growth: Vec<Growth>,
    /// What the allocator adds, by rising size.
    pub rounding: Vec<Rounding>,
}

/// The heap at its peak.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Peak {
    /// When, and how much.
    pub totals: PeakTotals,
    /// What was alive.
    pub live: Vec<Live>,
}

/// What was alive at a moment, told by the changes since the snapshot before.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// When, and how much.
    pub totals: SnapshotTotals,
    /// What has changed, in the order of contexts and categories.
    pub changes: Vec<Change>,
}

/// A record as it stands in the file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RawRecord {
    /// Its kind.
    pub tag: u16,
    /// Its flags.
    pub flags: u16,
    /// Its contents.
    pub payload: Vec<u8>,
}

/// The process that a profile describes and how the profile came to be written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Process {
    /// Process id.
    pub pid: u32,
    /// Parent's process id at the start.
    pub parent_pid: u32,
    /// Absolute path of the program's file, raw bytes.
    pub program: Vec<u8>,
    /// Command line, raw bytes, argument 0 first.
    pub arguments: Vec<Vec<u8>>,
    /// Start of the recording, nanoseconds since 1970-01-01 UTC.
    pub start_unix_ns: u64,
    /// From the start of the recording to this writing, nanoseconds.
    pub elapsed_ns: u64,
    /// Why the profile was written.
    pub reason: Reason,
    /// Signal number where `reason` is `Signal`, else 0.
    pub signal: u32,
    /// `MPROF_DEPTH`: callers kept of each chain; 0 = all.
    pub depth_limit: u32,
    /// Events under `[unknown]` because the monitor was busy when they came (signal handlers inside a hook).
    pub reentrant_events: u64,
    /// Allocations that could not be recorded (the monitor had no memory, or recording was off).
    pub unrecorded: u64,
}

/// A loaded object, or what stands in for one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Module {
    /// What it is.
    pub kind: ModuleKind,
    /// Absolute path of its file, raw bytes (`linux-vdso.so.1` for the vdso).
    pub path: Vec<u8>,
    /// GNU build-id; empty where it has none.
    pub build_id: Vec<u8>,
    /// Difference between run-time addresses and the file's own: run-time = file + bias (wrapping).
    pub bias: u64,
    /// Run-time address of its first byte.
    pub start: u64,
    /// Length of its mapping, bytes.
    pub length: u64,
}

/// A thread record: one thread, or all that began in the same function.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Thread {
    /// Name, as the program or the kernel gave it (raw bytes); empty where unknown.
    pub name: Vec<u8>,
    /// Kernel thread id of the first such thread; 0 where unknown.
    pub tid: u32,
    /// Threads that were counted into this record.
    pub count: u64,
    /// Where it began; `None` for the initial thread and where unknown.
    pub start: Option<Frame>,
}

/// A node of the calling-context tree: one call chain, or the outer part of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Context {
    /// The context that called this one; `None` at the top of the tree (then `frame` is a `Thread` or a `Special`).
    pub parent: Option<u32>,
    /// The frame that this node adds to its parent's chain.
    pub frame: Frame,
}

/// What a profile says of a heap whose objects a garbage collector frees.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Collected {
    /// Lisp functions. Index = Lisp function id.
    pub functions: Vec<LispFunction>,
    /// Allocations by type.
    pub bins: Vec<TypeBin>,
}

/// A Lisp function.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LispFunction {
    /// Name as it is printed, without a package: `MAPCAR`, `(SETF FOO)`; empty where it has none (a lambda).
    pub name: Vec<u8>,
    /// Package of the name; empty where it has none.
    pub package: Vec<u8>,
    /// First instruction (an interrupted code frame) and length of its machine code, bytes; `None` where it is
    /// interpreted.
    pub code: Option<(Frame, u64)>,
}

/// Allocations of one type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypeBin {
    /// Category of the objects.
    pub category: Category,
    /// Name of the type; of a collector that knows no types, the size in bytes, or `> 1024`.
    pub name: Vec<u8>,
    /// Objects allocated.
    pub allocs: u64,
    /// Bytes allocated.
    pub bytes: u64,
}

/// What `mpfilt` adds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Names {
    /// Functions. Index = function id.
    pub functions: Vec<Function>,
    /// Source files, absolute where the debug information allows it, raw bytes. Index = file id.
    pub files: Vec<Vec<u8>>,
    /// What each code frame (`Code` or `Anonymous`) means. A frame that is missing here has no name.
    pub sites: BTreeMap<Frame, Site>,
    /// User types by size, for the sizes that have a bin with allocations; by size, then name.
    pub types: Vec<Type>,
}

/// A function of the program.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Function {
    /// Name for people: demangled, whole.
    pub name: Vec<u8>,
    /// Name as the linker knows it; empty where it is the same as `name` or unknown.
    pub linkage_name: Vec<u8>,
    /// Module id; `None` for code outside all modules.
    pub module: Option<u32>,
    /// File id where it is defined, if known.
    pub file: Option<u32>,
    /// Line where it is defined; 0 where unknown.
    pub line: u32,
}

/// The source frames at one code address, innermost first: inlined functions, then the function whose machine
/// code it is. Never empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Site {
    /// Innermost first.
    pub frames: Vec<SourceFrame>,
}

/// A user type.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Type {
    /// Size in bytes.
    pub size: u64,
    /// Declared in a system header (such names are shown last).
    pub system: bool,
    /// Name for people, without `struct`, `class` or `union`.
    pub name: Vec<u8>,
    /// Module id of the first module that declares it.
    pub module: u32,
}
