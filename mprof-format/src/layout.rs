//! The header file of the format: magic, file header, record header, tags. `docs/FORMAT.md` tells the same story
//! for outsiders; the worked examples here are read by this file's tests.

/// First bytes of every file. As PNG's: a byte over 127, so that it is no text; the name; CR LF, so that a
/// copy in text mode is noticed.
pub const MAGIC: [u8; 8] = *b"\x8dmprof\r\n";

/// Format version that is written. Readers read this one and the one before.
pub const VERSION: u16 = 1;

/// Oldest format version that is read.
pub const OLDEST_VERSION: u16 = 1;

/// Byte order mark of the file header: all fixed integers have their lowest byte first.
pub const LITTLE_ENDIAN: u8 = 1;

/// Bytes of a pointer of the program.
pub const POINTER_WIDTH: u8 = 8;

/// Bytes of the file header, which has this layout in every version:
///
/// ```text
///  0        8         10        11        12      16      20
///  +--------+---------+---------+---------+-------+-------+
///  | magic  | version | order   | pointer | flags | CRC   |
///  | 8      | u16     | u8 (1)  | u8 (8)  | u32   | u32   |   CRC32 of bytes 0 to 15
///  +--------+---------+---------+---------+-------+-------+
///
///  8D 6D 70 72 6F 66 0D 0A  01 00  01  08  00 00 00 00  xx xx xx xx
/// ```
pub const FILE_HEADER: usize = 20;

/// File header flag: this file was made from one that was cut off or damaged.
pub const FILE_INCOMPLETE: u32 = 1;

/// File header flags that a reader may overlook when it does not know them; the others it must refuse.
pub const FILE_FLAGS_TO_OVERLOOK: u32 = 0xffff;

/// Bytes before a record's payload:
///
/// ```text
///  0     2       4        8             8 + length
///  +-----+-------+--------+-------------+-------+
///  | tag | flags | length | payload     | CRC   |
///  | u16 | u16   | u32    | length bytes| u32   |   CRC32 of everything before it, from the tag
///  +-----+-------+--------+-------------+-------+
/// ```
pub const RECORD_HEADER: usize = 8;

/// Bytes of a checksum, after the file header and after each payload: CRC-32 as in PNG and zlib
/// (polynomial 0x04C11DB7, reflected).
pub const CRC: usize = 4;

/// Record flag: a reader that does not know the tag must refuse the file rather than skip the record.
pub const RECORD_ESSENTIAL: u16 = 1;

/// Kinds of records. A kind's layout never changes: what is new gets a new tag.
/// Numbers kept for later: 8 peak, 9 curve, 10 snapshots, 11 lifetimes, 12 Lisp names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u16)]
pub enum Tag {
    /// The process: once, as the first record.
    Process = 1,
    /// Command line.
    Arguments = 2,
    /// Loaded objects.
    Modules = 3,
    /// Thread records.
    Threads = 4,
    /// The calling-context tree.
    Contexts = 5,
    /// What was allocated where.
    Counters = 6,
    /// Allocations by size.
    Bins = 7,
    /// Says that `mpfilt` has added names; empty.
    Names = 32,
    /// Source files.
    Files = 33,
    /// Functions.
    Functions = 34,
    /// What each code frame means.
    Sites = 35,
    /// User types.
    Types = 36,
    /// Last record: number of records before it. Without it the file was cut off.
    End = 0xffff,
}

impl Tag {
    /// The tag with this number, if it is a known one.
    pub const fn from_number(number: u16) -> Option<Tag> {
        Some(match number {
            1 => Tag::Process,
            2 => Tag::Arguments,
            3 => Tag::Modules,
            4 => Tag::Threads,
            5 => Tag::Contexts,
            6 => Tag::Counters,
            7 => Tag::Bins,
            32 => Tag::Names,
            33 => Tag::Files,
            34 => Tag::Functions,
            35 => Tag::Sites,
            36 => Tag::Types,
            0xffff => Tag::End,
            _ => return None,
        })
    }

    /// Its number in the file.
    pub const fn number(self) -> u16 {
        self as u16
    }

    /// Flags that records of this kind are written with: those without which the numbers would be wrong are
    /// essential.
    pub const fn flags(self) -> u16 {
        match self {
            Tag::Arguments | Tag::Names | Tag::Files | Tag::Functions | Tag::Sites | Tag::Types => 0,
            _ => RECORD_ESSENTIAL,
        }
    }

    /// Its entries have ids: each record begins with the id of its first entry, and the ids count up from there.
    pub const fn has_ids(self) -> bool {
        matches!(self, Tag::Modules | Tag::Threads | Tag::Contexts | Tag::Files | Tag::Functions)
    }
}
