//! A whole profile in memory, as the readers see it: checked, owned, and free of pointers into the file.
//!
//! Every index that is stored here (a context's parent, a counter's context, a site's function …) has been
//! checked by the reader and lies inside the table that it points into.

use std::collections::BTreeMap;
use std::vec::Vec;

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
    /// What was allocated where: at most one for each (context, category).
    pub counters: Vec<Counter>,
    /// Allocations by size, by rising size.
    pub bins: Vec<Bin>,
    /// What `mpfilt` found out about the addresses; `None` in a file that comes straight from a program.
    pub names: Option<Names>,
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

/// Why a profile was written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// Not said, or a reason that this reader does not know.
    #[default]
    Unknown,
    /// `exit` or return from `main`, after all destructors.
    Exit,
    /// `_exit` or `_Exit`.
    ImmediateExit,
    /// `quick_exit`.
    QuickExit,
    /// Just before `exec`.
    Exec,
    /// `abort`.
    Abort,
    /// A fatal signal.
    Signal,
    /// A snapshot asked for by a signal; the program went on.
    Snapshot,
    /// A periodic write asked for by `set_mprof_autosave`; the program went on.
    Autosave,
    /// `mprof_stop`.
    Stop,
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

/// Kinds of modules.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ModuleKind {
    /// An ELF file: the program or a shared library.
    #[default]
    File,
    /// The kernel's vdso.
    Vdso,
    /// A kind that this reader does not know.
    Other(u8),
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

/// One frame of a call chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Frame {
    /// The top of the tree for this thread record.
    Thread(u32),
    /// Something that is no address.
    Special(Special),
    /// Code in a module.
    Code {
        /// Module id.
        module: u32,
        /// Address as in the module's file (run-time address − bias). It is the return address, or the next
        /// instruction where the frame was interrupted by a signal.
        address: u64,
        /// The frame was interrupted, not calling: its code is at `address`, else at `address − 1`.
        interrupted: bool,
    },
    /// Code outside all modules (generated at run time), by run-time address; `interrupted` as above.
    Anonymous {
        /// Run-time address.
        address: u64,
        /// As in `Code`.
        interrupted: bool,
    },
}

impl Frame {
    /// The address whose function, line and inlined frames describe this frame (the call, not the instruction
    /// after it); `None` for frames that are no code.
    pub fn lookup_address(&self) -> Option<u64> {
        match *self {
            Frame::Code { address, interrupted, .. } | Frame::Anonymous { address, interrupted } => {
                Some(if interrupted { address } else { address.wrapping_sub(1) })
            }
            _ => None,
        }
    }
}

/// Frames that stand for something else than an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Special {
    /// The chain could not be followed further out: `[unknown]`.
    Unknown,
    /// Outer callers were left out on purpose (`MPROF_DEPTH`, or too many contexts): `...`.
    Truncated,
    /// A kind that this reader does not know.
    Other(u32),
}

/// What was allocated at the end of one chain, in one category.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counter {
    /// Context id.
    pub context: u32,
    /// Category of the objects.
    pub category: Category,
    /// Objects allocated.
    pub allocs: u64,
    /// Bytes allocated, as asked for.
    pub bytes: u64,
    /// Objects of these that were freed.
    pub frees: u64,
    /// Bytes of these that were freed.
    pub freed_bytes: u64,
}

impl Counter {
    /// Objects never freed.
    pub fn kept(&self) -> u64 {
        self.allocs.saturating_sub(self.frees)
    }

    /// Bytes never freed.
    pub fn kept_bytes(&self) -> u64 {
        self.bytes.saturating_sub(self.freed_bytes)
    }
}

/// Category of an object: by size for C, by type for Lisp.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Category {
    /// s: up to 32 bytes.
    Small,
    /// m: 33 to 256 bytes.
    Medium,
    /// l: 257 to 2048 bytes.
    Large,
    /// x: over 2048 bytes.
    ExtraLarge,
    /// A category that this reader does not know.
    Other(u8),
}

impl Category {
    /// The category of an object of `size` bytes (paper, section 2.4, note 2).
    pub const fn of_size(size: u64) -> Category {
        match size {
            0..=32 => Category::Small,
            33..=256 => Category::Medium,
            257..=2048 => Category::Large,
            _ => Category::ExtraLarge,
        }
    }
}

/// The largest size with a bin of its own, bytes; larger objects share one bin.
pub const LAST_BIN: u64 = 1024;

/// Allocations of one size, or of all sizes over [`LAST_BIN`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Bin {
    /// Size in bytes; `None` for the bin of all larger sizes, which is the last where it is there.
    pub size: Option<u64>,
    /// Objects allocated.
    pub allocs: u64,
    /// Objects freed.
    pub frees: u64,
    /// Bytes allocated.
    pub bytes: u64,
    /// Bytes freed.
    pub freed_bytes: u64,
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

/// One function at one code address.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SourceFrame {
    /// Function id.
    pub function: u32,
    /// Call site: file id, if known.
    pub file: Option<u32>,
    /// Call site: line; 0 where unknown.
    pub line: u32,
    /// Offset of the frame's address from the start of the machine function, bytes (inlined frames carry that of
    /// the function they are inlined into).
    pub offset: u64,
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
