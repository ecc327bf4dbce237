//! The small plain values of a profile, which the writer in the program and the readers share.

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

impl Reason {
    /// Its number in the file.
    pub const fn index(self) -> u8 {
        match self {
            Reason::Unknown => 0,
            Reason::Exit => 1,
            Reason::ImmediateExit => 2,
            Reason::QuickExit => 3,
            Reason::Exec => 4,
            Reason::Abort => 5,
            Reason::Signal => 6,
            Reason::Snapshot => 7,
            Reason::Autosave => 8,
            Reason::Stop => 9,
        }
    }

    /// The reason with this number; a number that is not known means [`Reason::Unknown`].
    pub const fn from_index(index: u64) -> Reason {
        match index {
            1 => Reason::Exit,
            2 => Reason::ImmediateExit,
            3 => Reason::QuickExit,
            4 => Reason::Exec,
            5 => Reason::Abort,
            6 => Reason::Signal,
            7 => Reason::Snapshot,
            8 => Reason::Autosave,
            9 => Reason::Stop,
            _ => Reason::Unknown,
        }
    }
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
    /// The monitor's own library: its frames are no part of the program's call chains.
    Monitor,
    /// A kind that this reader does not know.
    Other(u8),
}

impl ModuleKind {
    /// Its number in the file.
    pub const fn index(self) -> u8 {
        match self {
            ModuleKind::File => 0,
            ModuleKind::Vdso => 1,
            ModuleKind::Monitor => 2,
            ModuleKind::Other(index) => index,
        }
    }

    /// The kind with this number.
    pub const fn from_index(index: u8) -> ModuleKind {
        match index {
            0 => ModuleKind::File,
            1 => ModuleKind::Vdso,
            2 => ModuleKind::Monitor,
            _ => ModuleKind::Other(index),
        }
    }
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
    /// A Lisp function without machine code of its own (interpreted), by Lisp function id.
    Lisp(u32),
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

impl Special {
    /// Its number in the file.
    pub const fn index(self) -> u32 {
        match self {
            Special::Unknown => 0,
            Special::Truncated => 1,
            Special::Other(index) => index,
        }
    }

    /// The special frame with this number.
    pub const fn from_index(index: u32) -> Special {
        match index {
            0 => Special::Unknown,
            1 => Special::Truncated,
            _ => Special::Other(index),
        }
    }
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

/// Category of an object: by size for C, by type for Lisp (paper, sections 2.4 and 3.4).
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
    /// c: a Lisp cons.
    Cons,
    /// f: a Lisp floating point number.
    Float,
    /// s: a Lisp structure, instance, array, vector or string.
    Structure,
    /// o: any other Lisp object.
    OtherObject,
    /// s: up to 32 bytes, of a garbage collector that serves another program than a Lisp.
    CollectedSmall,
    /// m: 33 to 256 bytes of such a collector.
    CollectedMedium,
    /// l: 257 to 2048 bytes of such a collector.
    CollectedLarge,
    /// x: over 2048 bytes of such a collector.
    CollectedExtraLarge,
    /// A category that this reader does not know.
    Other(u8),
}

impl Category {
    /// The category of an object of `size` bytes (paper, section 2.4, note 2).
    pub const fn of_size(size: u64) -> Category {
        Category::from_index(Category::index_of_size(size))
    }

    /// The number of that category.
    #[inline(always)]
    pub const fn index_of_size(size: u64) -> u8 {
        // Without branches: the sizes that a program asks for in turn may be any.
        (size > 32) as u8 + (size > 256) as u8 + (size > 2048) as u8
    }

    /// The category of a collector's object of `size` bytes.
    pub const fn of_collected_size(size: u64) -> Category {
        match Category::of_size(size) {
            Category::Small => Category::CollectedSmall,
            Category::Medium => Category::CollectedMedium,
            Category::Large => Category::CollectedLarge,
            _ => Category::CollectedExtraLarge,
        }
    }

    /// Its number in the file: 0 to 3 for s, m, l, x; 4 to 7 for Lisp's c, f, s, o; 8 to 11 for a collector's s, m,
    /// l, x.
    pub const fn index(self) -> u8 {
        match self {
            Category::Small => 0,
            Category::Medium => 1,
            Category::Large => 2,
            Category::ExtraLarge => 3,
            Category::Cons => 4,
            Category::Float => 5,
            Category::Structure => 6,
            Category::OtherObject => 7,
            Category::CollectedSmall => 8,
            Category::CollectedMedium => 9,
            Category::CollectedLarge => 10,
            Category::CollectedExtraLarge => 11,
            Category::Other(index) => index,
        }
    }

    /// The category with this number.
    pub const fn from_index(index: u8) -> Category {
        match index {
            0 => Category::Small,
            1 => Category::Medium,
            2 => Category::Large,
            3 => Category::ExtraLarge,
            4 => Category::Cons,
            5 => Category::Float,
            6 => Category::Structure,
            7 => Category::OtherObject,
            8 => Category::CollectedSmall,
            9 => Category::CollectedMedium,
            10 => Category::CollectedLarge,
            11 => Category::CollectedExtraLarge,
            _ => Category::Other(index),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn categories_begin_and_end_where_the_paper_says() {
        let sizes = [0, 32, 33, 256, 257, 2048, 2049, u64::MAX];
        let letters = sizes.map(|size| Category::of_size(size).index());
        assert_eq!(letters, [0, 0, 1, 1, 2, 2, 3, 3]);
        let collected = sizes.map(|size| Category::of_collected_size(size).index());
        assert_eq!(collected, letters.map(|letter| letter + 8));
    }

    #[test]
    fn numbers_and_kinds_go_with_each_other() {
        for index in 0..=u8::MAX {
            assert_eq!(Category::from_index(index).index(), index);
            assert_eq!(ModuleKind::from_index(index).index(), index);
            assert_eq!(Special::from_index(index.into()).index(), u32::from(index));
        }
        for index in 0..10 {
            assert_eq!(u64::from(Reason::from_index(index).index()), index);
        }
        assert_eq!(Reason::from_index(10), Reason::Unknown);
    }

    #[test]
    fn a_call_lies_before_its_return_address() {
        let code = |interrupted| Frame::Code { module: 0, address: 0x10, interrupted };
        assert_eq!(code(false).lookup_address(), Some(0x0f));
        assert_eq!(code(true).lookup_address(), Some(0x10));
        assert_eq!(Frame::Anonymous { address: 0, interrupted: false }.lookup_address(), Some(u64::MAX));
        assert_eq!(Frame::Thread(1).lookup_address(), None);
    }
}
