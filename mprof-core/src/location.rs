//! Where in the code a frame is, and the key that it has in the tree of calling contexts.

/// A code address, and whether the frame called from there or was interrupted there.
///
/// Bits 0–46: the address (user space has 47 bits); bit 47: interrupted by a signal. A frame that called is
/// given by its return address, and the call lies before it: everything about it is looked up at `address - 1`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub struct Location(u64);

const INTERRUPTED: u64 = 1 << 47;
const ADDRESS: u64 = INTERRUPTED - 1;

impl Location {
    /// The frame that will be returned to at `address`.
    #[inline(always)]
    pub fn returning_to(address: usize) -> Location {
        Location(address as u64 & ADDRESS)
    }

    /// The frame that a signal interrupted before the instruction at `address`.
    pub fn interrupted_at(address: usize) -> Location {
        Location(address as u64 & ADDRESS | INTERRUPTED)
    }

    /// The return address, or the address of the interrupted instruction.
    #[inline]
    pub fn address(self) -> usize {
        (self.0 & ADDRESS) as usize
    }

    /// All of it in a word.
    #[inline(always)]
    pub fn word(self) -> u64 {
        self.0
    }

    /// Whether a signal interrupted it.
    pub fn is_interrupted(self) -> bool {
        self.0 & INTERRUPTED != 0
    }

    /// The address that stands for the frame's code.
    pub fn lookup_address(self) -> usize {
        if self.is_interrupted() { self.address() } else { self.address().wrapping_sub(1) }
    }

    /// A well-mixed hash.
    #[inline(always)]
    pub fn hash(self) -> usize {
        (self.0.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20) as usize
    }
}

/// Key of a frame in the tree: 16 bits of frame space, 48 bits of location (or of another value in that space).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub struct FrameKey(pub u64);

/// Frames that are no code: the value is one of `mprof_format`'s special frames.
pub const SPACE_SPECIAL: u16 = 0;
/// Thread records: the value is the record's number.
pub const SPACE_THREAD: u16 = 1;
/// Code outside all modules: the value is the location.
pub const SPACE_ANONYMOUS: u16 = 2;
/// Interpreted Lisp functions: the value is the function's number.
pub const SPACE_LISP: u16 = 4;
/// From here on, modules by number: the value is the location.
pub const SPACE_MODULES: u16 = 16;

impl FrameKey {
    /// The chain could not be followed further out.
    pub const UNKNOWN: FrameKey = FrameKey(0);
    /// Outer callers were left out.
    pub const TRUNCATED: FrameKey = FrameKey(1);
    /// No key at all.
    pub const NONE: FrameKey = FrameKey(u64::MAX);

    /// A frame of code in a space.
    pub fn code(space: u16, location: Location) -> FrameKey {
        FrameKey(u64::from(space) << 48 | location.0)
    }

    /// The top of the tree for a thread record.
    pub fn thread(record: u32) -> FrameKey {
        FrameKey(u64::from(SPACE_THREAD) << 48 | u64::from(record))
    }

    /// The frame's space.
    pub fn space(self) -> u16 {
        (self.0 >> 48) as u16
    }

    /// The location of a frame of code.
    pub fn location(self) -> Location {
        Location(self.0 & (INTERRUPTED | ADDRESS))
    }

    /// The value of a frame that is no code.
    pub fn value(self) -> u64 {
        self.0 & ((1 << 48) - 1)
    }

    /// Whether this is a frame of code, with a location.
    pub fn is_code(self) -> bool {
        !matches!(self.space(), SPACE_SPECIAL | SPACE_THREAD | SPACE_LISP)
    }

    /// Whether this is a frame of code at that location, in whatever space.
    #[inline(always)]
    pub fn is_at(self, location: Location) -> bool {
        self.0 << 16 == location.0 << 16
    }
}
