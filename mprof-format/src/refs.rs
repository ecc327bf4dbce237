//! What the writer takes: entries with their strings borrowed. Fields are those of the types in `model`.

use crate::kinds::{Frame, ModuleKind, Reason};

/// The process, borrowed; fields as in `model::Process`.
#[derive(Debug, Clone, Copy, Default)]
pub struct ProcessRef<'a> {
    /// Process id.
    pub pid: u32,
    /// Parent's process id at the start.
    pub parent_pid: u32,
    /// Absolute path of the program's file, raw bytes.
    pub program: &'a [u8],
    /// Start of the recording, nanoseconds since 1970-01-01 UTC.
    pub start_unix_ns: u64,
    /// From the start of the recording to this writing, nanoseconds.
    pub elapsed_ns: u64,
    /// Why the profile is written.
    pub reason: Reason,
    /// Signal number where `reason` is `Signal`, else 0.
    pub signal: u32,
    /// `MPROF_DEPTH`: callers kept of each chain; 0 = all.
    pub depth_limit: u32,
    /// Events under `[unknown]` because the monitor was busy when they came.
    pub reentrant_events: u64,
    /// Allocations that could not be recorded.
    pub unrecorded: u64,
}

/// A loaded object, borrowed; fields as in `model::Module`.
#[derive(Debug, Clone, Copy, Default)]
pub struct ModuleRef<'a> {
    /// What it is.
    pub kind: ModuleKind,
    /// Absolute path of its file, raw bytes.
    pub path: &'a [u8],
    /// GNU build-id; empty where it has none.
    pub build_id: &'a [u8],
    /// run-time address = file address + bias (wrapping).
    pub bias: u64,
    /// Run-time address of its first byte.
    pub start: u64,
    /// Length of its mapping, bytes.
    pub length: u64,
}

/// A thread record, borrowed; fields as in `model::Thread`.
#[derive(Debug, Clone, Copy, Default)]
pub struct ThreadRef<'a> {
    /// Name, raw bytes; empty where unknown.
    pub name: &'a [u8],
    /// Kernel thread id of the first such thread; 0 where unknown.
    pub tid: u32,
    /// Threads that were counted into this record.
    pub count: u64,
    /// Where it began: a code frame; `None` for the initial thread and where unknown.
    pub start: Option<Frame>,
}

/// A Lisp function, borrowed; fields as in `model::LispFunction`.
#[derive(Debug, Clone, Copy, Default)]
pub struct LispFunctionRef<'a> {
    /// Name as it is printed, without a package.
    pub name: &'a [u8],
    /// Package of the name.
    pub package: &'a [u8],
    /// First instruction (an interrupted code frame) and length of its machine code, bytes.
    pub code: Option<(Frame, u64)>,
}

/// A function, borrowed; fields as in `model::Function`.
#[derive(Debug, Clone, Copy, Default)]
pub struct FunctionRef<'a> {
    /// Name for people.
    pub name: &'a [u8],
    /// Name as the linker knows it; empty where it is the same or unknown.
    pub linkage_name: &'a [u8],
    /// Module id; `None` for code outside all modules.
    pub module: Option<u32>,
    /// File id where it is defined, if known.
    pub file: Option<u32>,
    /// Line where it is defined; 0 where unknown.
    pub line: u32,
}

/// A user type, borrowed; fields as in `model::Type`.
#[derive(Debug, Clone, Copy, Default)]
pub struct TypeRef<'a> {
    /// Size in bytes.
    pub size: u64,
    /// Declared in a system header.
    pub system: bool,
    /// Name for people.
    pub name: &'a [u8],
    /// Module id of the first module that declares it.
    pub module: u32,
}
