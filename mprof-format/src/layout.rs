//! The header file of the format: magic, file header, record header, and the payload of each kind of record.
//! `docs/FORMAT.md` tells the same story for outsiders.
//!
//! The drawings use these signs:
//!
//! ```text
//! n      unsigned number, LEB128 (see `varint`)
//! z      signed number, zigzagged, then LEB128
//! s      string: n bytes, then these bytes
//! id?    n: 0 for none, else one more than the id
//! frame  how a frame is told after the frames before it in the record (below)
//! first  n: the id of the record's first entry; the ids of the others count up from it
//! { }    an entry, repeated to the end of the payload
//! ```
//!
//! All that is told as a difference starts anew with each record, so each record can be read by itself.
//!
//! A **frame** is a *space* and a *value* in it: space 0 special frames, by number (0 `[unknown]`, 1 `...`);
//! 1 threads, by id; 2 code outside all modules, by address; 4 Lisp functions, by id; 16 + 2 m code in module m, by address in its file; one
//! more (3, 17 + 2 m) the same where the frame was interrupted. It stands behind a number that carries something
//! else as well:
//!
//! ```text
//!  bits  … 3 2   1 0
//!  n   | other | mode |   mode 0:  n space, then the value
//!                         mode 1:  the value; the space is that of the frame before
//!                         mode 2:  nothing: what followed the frame before the last time
//!                         mode 3:  nothing: what followed the frame before the time before that
//!  value: n in the spaces 0, 1 and 4, else z: the difference to the last address in the same slot
//! ```
//!
//! The `hex` blocks are the payloads of `tests/files/v1/every-kind.mprof`; a test compares them.

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
/// ```
///
/// ```hex
/// 8d 6d 70 72 6f 66 0d 0a                 # magic
/// 01 00  01  08  00 00 00 00              # version 1, lowest byte first, 8-byte pointers, no flags
/// 4b 9f 0a 82                             # CRC
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u16)]
pub enum Tag {
    /// The process: once, as the first record.
    ///
    /// ```text
    /// n pid | n parent | n start, ns | n elapsed, ns | n reason | n signal | n depth limit
    /// | n re-entrant events | n unrecorded | s program
    /// ```
    ///
    /// ```hex
    /// 92 21  91 21                            # process 4242, parent 4241
    /// 80 80 a8 b1 e3 9f e7 cb 17              # started 1 700 000 000 s after 1970
    /// ce c2 f1 05                             # 12 345 678 ns long
    /// 01  00  00                              # reason 1 (exit), no signal, no depth limit
    /// 01  00                                  # one re-entrant event, nothing unrecorded
    /// 11 2f 68 6f 6d 65 2f 61 64 61 2f 77 69 64 67 65 74 73  # "/home/ada/widgets"
    /// ```
    Process = 1,
    /// Command line.
    ///
    /// ```text
    /// { s argument }
    /// ```
    ///
    /// ```hex
    /// 09 2e 2f 77 69 64 67 65 74 73           # "./widgets"
    /// 05 31 30 30 30 30                       # "10000"
    /// ```
    Arguments = 2,
    /// Loaded objects.
    ///
    /// ```text
    /// first { n kind | s path | s build-id | n bias | n start | n length }
    /// ```
    ///
    /// ```hex
    /// 00                                      # the first module's id is 0
    /// 00                                      # kind 0 (file)
    /// 11 2f 68 6f 6d 65 2f 61 64 61 2f 77 69 64 67 65 74 73  # "/home/ada/widgets"
    /// 04 ab cd ef 01                          # build-id
    /// 80 80 d5 aa d5 aa 15                    # bias 0x555555554000
    /// 80 80 d5 aa d5 aa 15                    # start 0x555555554000
    /// 80 a0 01                                # length 0x5000
    /// 01                                      # kind 1 (vdso)
    /// 0f 6c 69 6e 75 78 2d 76 64 73 6f 2e 73 6f 2e 31  # "linux-vdso.so.1"
    /// 00                                      # no build-id
    /// 80 a0 f0 bf ff ff 1f                    # bias 0x7ffff7fc1000
    /// 80 a0 f0 bf ff ff 1f                    # start 0x7ffff7fc1000
    /// 80 20                                   # length 0x1000
    /// ```
    Modules = 3,
    /// Thread records.
    ///
    /// ```text
    /// first { s name | n tid | n count | n 0: start not known, 1: frame follows | frame, of code; other = 0 }
    /// ```
    ///
    /// ```hex
    /// 00                                      # the first thread's id is 0
    /// 07 77 69 64 67 65 74 73  92 21  01  00  # "widgets", tid 4242, one thread, no start
    /// 07 70 61 69 6e 74 65 72  9a 21  03  01  # "painter", tid 4250, three threads, a start:
    /// 00 10 a0 49                             # mode 0, space 16 (module 0), value +0x1250
    /// ```
    Threads = 4,
    /// The calling-context tree.
    ///
    /// ```text
    /// first { frame; other = own id - parent's id, 0 for no parent }
    /// ```
    ///
    /// ```hex
    /// 00                                      # the first context's id is 0
    /// 00 01 00                                # 0: no parent, mode 0, space 1, thread 0
    /// 04 10 a6 47                             # 1: parent 1 up, mode 0, space 16 (module 0), value +0x11d3
    /// 05 c5 01                                # 2: parent 1 up, mode 1, value -0x63 = 0x1170
    /// 05 5f                                   # 3: parent 1 up, mode 1, value -0x30 = 0x1140
    /// 0d b8 01                                # 4: parent 3 up, mode 1, value +0x5c = 0x119c
    /// 05 b7 01                                # 5: parent 1 up, mode 1, value -0x5c = 0x1140
    /// 00 01 01                                # 6: no parent, mode 0, space 1, thread 1
    /// 04 10 60                                # 7: parent 1 up, mode 0, space 16, value +0x30 = 0x1170
    /// 06                                      # 8: parent 1 up, mode 2: 0x1140 as after 0x1170 before
    /// 00 00 00                                # 9: no parent, mode 0, space 0, special 0 ([unknown])
    /// 04 02 80 81 80 80 fc ff 3f              # 10: parent 1 up, mode 0, space 2, value +0x7fffe0000040
    /// 04 13 c0 26                             # 11: parent 1 up, mode 0, space 19 (module 1, interrupted), +0x9a0
    /// ```
    Contexts = 5,
    /// What was allocated where.
    ///
    /// ```text
    /// { z context - last entry's context (0 at first)
    /// | n  bits … 3 2     1 0
    ///       | category | life |   life 0: all freed, 1: none freed, 2: the last two fields follow
    /// | n allocations | n bytes | n kept objects | n kept bytes }
    /// ```
    ///
    /// Kept = allocated - freed, modulo 2^64.
    ///
    /// ```hex
    /// 06  05  9b 27  84 bf 3e                 # context 3, category 1 (m), none freed: 5019, 1 023 876 bytes
    /// 04  04  a0 1f  80 e7 31                 # context 5, m, all freed: 4000, 816 000 bytes
    /// 06  00  03  30                          # context 8, category 0 (s), all freed: 3, 48 bytes
    /// 00  04  d5 07  bc 9b 0c                 # context 8, m, all freed: 981, 200 124 bytes
    /// 06  0e  02  a8 46  01  88 27            # context 11, category 3 (x): 2, 9000 bytes; kept 1, 5000 bytes
    /// ```
    Counters = 6,
    /// Allocations by size, by rising size over all records. The bin of all sizes over 1024 has the number 1025.
    ///
    /// ```text
    /// { n  bits … 2 1                              0
    ///       | bin - last entry's bin (0 at first) | bytes |   bytes 1: the last two fields follow
    /// | n allocations | n kept objects | n bytes | n kept bytes }
    /// ```
    ///
    /// Without the last two fields the bytes are the size times allocations and frees, none over 2^64 - 1.
    ///
    /// ```hex
    /// 20  03  00                              # size 16: 3, none kept
    /// f8 02  90 4e  9b 27                     # size 204: 10 000, 5019 kept
    /// eb 0c  02  01  a8 46  88 27             # over 1024: 2, one kept, 9000 bytes, 5000 kept
    /// ```
    Bins = 7,
    /// The heap at its peak. All records of this kind begin with the same six numbers.
    ///
    /// ```text
    /// n bytes | n objects | n allocations made before | n ns of the first free after | n uncertainty, bytes
    /// | n 0: complete, 1: not
    /// { key | n objects | n bytes }
    /// ```
    ///
    /// A *key* is a context and a category, here and in what follows:
    ///
    /// ```text
    /// n  bits … 2                                           1 0
    ///     | z context - last entry's context (0 at first) | category |   category 3: n category follows
    /// ```
    ///
    /// ```hex history
    /// c4 88 3f  9f 27                         # 1 033 284 bytes, 5023 objects
    /// 95 4e  80 b6 dc 05                      # after 10 005 allocations; the next free at 12 ms
    /// 80 80 08  00                            # within 131 072 bytes, complete
    /// 19  9b 27  84 bf 3e                     # context 3, category 1 (m): 5019, 1 023 876 bytes
    /// 11  02  98 03                           # context 5, m: 2, 408 bytes
    /// 33 03  02  a8 46                        # context 11, category 3 (x): 2, 9000 bytes
    /// ```
    Peak = 8,
    /// The heap's curve, by rising time. Differences to the point before; to zeros in a record's first.
    ///
    /// ```text
    /// { n ns | z live bytes | z live objects | n most bytes - live bytes | n bytes allocated | n objects allocated }
    /// ```
    ///
    /// ```hex history
    /// 00  00  00  00  00  00                  # at the start nothing
    /// c0 96 b1 02  e0 a0 3e  88 27            # after 5 ms 510 000 bytes more, 2500 objects more
    /// f8 0f  e0 a0 3e  88 27                  # 512 040 bytes at most; 1 020 000 bytes and 5000 objects allocated
    /// 8e ac c0 03  b8 ab 3f  b0 27            # after 7.345678 ms 518 876 bytes and 2520 objects more
    /// b8 22  b8 e7 3e  8d 27                  # 1 033 284 bytes at most; 1 029 048 bytes and 5005 objects more allocated
    /// ```
    Curve = 9,
    /// Moments at which it was looked what is alive.
    ///
    /// ```text
    /// first { n ns | n live bytes | n live objects | n bytes allocated | n objects allocated }
    /// ```
    ///
    /// ```hex history
    /// 00                                      # the first snapshot's id is 0
    /// c0 96 b1 02  c8 93 1f  c6 13            # after 5 ms: 510 408 bytes, 2502 objects
    /// e0 a0 3e  88 27                         # 1 020 000 bytes and 5000 objects allocated
    /// 80 b6 dc 05  8c e6 3e  9c 27            # after 12 ms: 1 028 876 bytes, 5020 objects
    /// 98 88 7d  95 4e                         # 2 049 048 bytes and 10 005 objects allocated
    /// ```
    Snapshots = 10,
    /// How long freed objects lived, in KiB of allocation.
    ///
    /// ```text
    /// { key
    /// | n  bits … 2     1           0
    ///       | age, KiB | temporary | 1 |        one object
    ///      bits … 3               2 1         0
    ///       | classes not empty | temporary | 0 |   temporary 0: none, 1: the first class, 2: a number follows
    /// | of more than one object: n objects of each class that is not empty | n temporary, if it follows | n sum of ages
    /// | n bytes in the objects of the first class, if it is not empty }
    /// ```
    ///
    /// ```hex history
    /// 29  0a  a0 1f  80 e7 31                 # context 5, m: class 0: 4000, all temporary, 816 000 bytes
    /// 18  98 40  01  01  01  d9 04  10        # context 8, s: classes 0, 1 and 10: one each, 601 KiB in all; 16 bytes
    /// 01  1c  84 07  51  07  51               # context 8, m: class 0: 900, class 1: 81; 7 temporary; 81 KiB in all
    /// b0 9a 0b                                # 183 600 bytes in class 0
    /// 1b 03  b9 3e                            # context 11, category 3: one object, 1998 KiB, not temporary
    /// ```
    Lifetimes = 11,
    /// Lisp functions that are on chains: interpreted ones, which frames refer to by id, and compiled ones, which are
    /// found by the addresses of their code. Before the contexts that refer to them; only where there are some.
    ///
    /// ```text
    /// first { s name | s package | n 0: interpreted, 1: code follows
    /// | frame of the first instruction, of code, interrupted; other = 0 | n length of the code, bytes }
    /// ```
    ///
    /// ```hex lisp
    /// 00                                      # the first Lisp function's id is 0
    /// 06 4d 41 50 43 41 52                    # "MAPCAR"
    /// 0b 43 4f 4d 4d 4f 4e 2d 4c 49 53 50     # in "COMMON-LISP"
    /// 01  00 11 e0 fd 86 01  80 02            # code: mode 0, space 17 (module 0, interrupted), +0x10df70; 256 bytes
    /// 0a 28 53 45 54 46 20 41 47 45 29        # "(SETF AGE)"
    /// 07 43 4c 2d 55 53 45 52  00             # in "CL-USER", interpreted
    /// 00  00  00                              # without a name, in no package, interpreted
    /// ```
    LispFunctions = 12,
    /// Allocations by type, of a heap with a garbage collector; each category and name once.
    ///
    /// ```text
    /// { n category | s name | n allocations | n bytes }
    /// ```
    ///
    /// ```hex lisp
    /// 04  04 63 6f 6e 73  e8 07  80 7d        # category 4 (c), "cons": 1000, 16 000 bytes
    /// 06  06 73 74 72 69 6e 67  01  58        # category 6 (s), "string": 1, 88 bytes
    /// ```
    TypeBins = 13,
    /// How long freed objects lived, in allocations.
    ///
    /// ```text
    /// { key | n classes not empty | n objects of each | n sum of ages }
    /// ```
    ///
    /// ```hex history
    /// 29  03  96 1f  0a  0a                   # context 5, m: 3990 in class 0, 10 in class 1; 10 allocations in all
    /// ```
    Ages = 14,
    /// Reallocations.
    ///
    /// ```text
    /// { key | n reallocations | n of objects that were not reallocated before | n moved | n bytes copied at most
    /// | n smallest size before | n largest size after }
    /// ```
    ///
    /// ```hex history
    /// 5b 03  0c  01  05  b0 ea 01             # context 11, category 3: 12, 1 first, 5 moved, 30 000 bytes at most
    /// 10  88 27                               # from 16 to 5000 bytes
    /// ```
    Growth = 15,
    /// What the allocator adds to objects, by rising bins.
    ///
    /// ```text
    /// { n bin - last entry's bin (0 at first) | n bytes added }
    /// ```
    ///
    /// ```hex history
    /// cc 01  c0 a9 07                         # size 204: 120 000 bytes
    /// b5 06  80 20                            # over 1024: 4096 bytes
    /// ```
    Rounding = 16,
    /// What has changed in what is alive, from the snapshot before (from nothing, for the first) to this one.
    ///
    /// ```text
    /// n snapshot { key | z objects | z bytes }
    /// ```
    ///
    /// ```hex history
    /// 00                                      # snapshot 0:
    /// 19  88 27  e0 a0 3e                     # context 3, m: 2500, 510 000 bytes
    /// 11  04  b0 06                           # context 5, m: 2, 408 bytes
    /// 01                                      # snapshot 1:
    /// 19  ae 27  a8 dd 3e                     # context 3, m: 2519 more, 513 876 bytes
    /// 11  03  af 06                           # context 5, m: 2 less, 408 bytes
    /// 33 03  02  90 4e                        # context 11, category 3: one more, 5000 bytes
    /// ```
    Changes = 17,
    /// Which kept objects could still be reached at the end. Each record begins with the same number of threads.
    ///
    /// ```text
    /// n threads not looked at
    /// { key | n  bits 3           2          1          0
    ///           | reachable | possible | indirect | lost |   1: the class is not empty
    /// | n objects | n bytes, for each class that is not empty, from bit 0 on }
    /// ```
    ///
    /// ```hex reachability
    /// 02                                      # two threads were not looked at
    /// 19  0b  01  cc 01  02  98 03            # context 3, m: one lost, 204 bytes; two indirect, 408 bytes;
    /// 98 27  a0 ba 3e                         # 5016 reachable, 1 023 264 bytes
    /// 43 03  04  01  88 27                    # context 11, category 3 (x): one possible, 5000 bytes
    /// ```
    Reachability = 18,
    /// What was allocated where, with what was alive at the peak and how long freed objects lived: one entry for each
    /// context and category, in the place of [`Tag::Counters`], the entries of [`Tag::Peak`], and [`Tag::Lifetimes`].
    /// How it is coded is told in `docs/FORMAT.md` (section 6) and in `packed`.
    ///
    /// ```text
    /// bits, coded by their odds; zeros up to one byte an entry
    /// ```
    ///
    /// ```hex packed
    /// 8a 36 9c dd 13 3e                       # context 3, m: 5019, 1 023 876 bytes, none freed, all there at the peak
    /// 32 c1 15 15 3f e5 c0 fa 1b 64 44 d0 9a 5f 61 5e  # four entries more, and that there is none behind them
    /// 2c 83 e6 0d ac 20 7d 13 12 e6 47 f4 58 69 ba 11 0d
    /// ```
    Packed = 19,
    /// Says that `mpfilt` has added names; empty.
    ///
    /// ```hex
    /// ```
    Names = 32,
    /// Source files.
    ///
    /// ```text
    /// first { s path }
    /// ```
    ///
    /// ```hex
    /// 00                                      # the first file's id is 0
    /// 13 2f 68 6f 6d 65 2f 61 64 61 2f 77 69 64 67 65 74 73 2e 63  # "/home/ada/widgets.c"
    /// 13 2f 68 6f 6d 65 2f 61 64 61 2f 77 69 64 67 65 74 73 2e 68  # "/home/ada/widgets.h"
    /// ```
    Files = 33,
    /// Functions.
    ///
    /// ```text
    /// first { s name | s linkage name | id? module | id? file | n line }
    /// ```
    ///
    /// ```hex
    /// 00                                      # the first function's id is 0
    /// 0b 6d 61 6b 65 5f 77 69 64 67 65 74  00  # "make_widget", no other linkage name
    /// 01  01  0f                              # module 0, file 0, line 15
    /// 04 6d 61 69 6e  00  01  01  28          # "main", no other linkage name, module 0, file 0, line 40
    /// 05 63 6c 6f 63 6b                       # "clock"
    /// 0c 5f 5f 76 64 73 6f 5f 63 6c 6f 63 6b  # "__vdso_clock"
    /// 00  00  00                              # no module, no file, no line
    /// ```
    Functions = 34,
    /// What each code frame means; each frame once in the file.
    ///
    /// ```text
    /// { frame, of code; other = number of source frames, at least 1
    /// | then for each, innermost first: n function | id? file | n line | n offset }
    /// ```
    ///
    /// ```hex
    /// 04 10 80 45                             # 1 source frame, mode 0, space 16 (module 0), value +0x1140:
    /// 00  01  11  1a                          # function 0, file 0, line 17, offset 26
    /// 09 a6 02                                # 2 source frames, mode 1, value +0x93 = 0x11d3:
    /// 00  02  09  83 01                       # function 0, inlined at file 1, line 9, offset 131
    /// 01  01  2f  83 01                       # into function 1, file 0, line 47, offset 131
    /// 04 02 80 81 80 80 fc ff 3f              # 1 source frame, mode 0, space 2, value +0x7fffe0000040:
    /// 02  00  00  40                          # function 2, no file, no line, offset 64
    /// ```
    Sites = 35,
    /// User types.
    ///
    /// ```text
    /// { n size | n 1 if from a system header, else 0 | s name | n module }
    /// ```
    ///
    /// ```hex
    /// 10  01  08 74 69 6d 65 73 70 65 63  00  # 16 bytes, system, "timespec", module 0
    /// cc 01  00  06 77 69 64 67 65 74  00     # 204 bytes, the program's, "widget", module 0
    /// ```
    Types = 36,
    /// Last record. Without it the file was cut off.
    ///
    /// ```text
    /// n number of records before it
    /// ```
    ///
    /// ```hex
    /// 0d                                      # 13 records
    /// ```
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
            8 => Tag::Peak,
            9 => Tag::Curve,
            10 => Tag::Snapshots,
            11 => Tag::Lifetimes,
            12 => Tag::LispFunctions,
            13 => Tag::TypeBins,
            14 => Tag::Ages,
            15 => Tag::Growth,
            16 => Tag::Rounding,
            17 => Tag::Changes,
            18 => Tag::Reachability,
            19 => Tag::Packed,
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
            Tag::Peak | Tag::Curve | Tag::Snapshots | Tag::Changes => 0,
            Tag::Lifetimes | Tag::Ages | Tag::Growth | Tag::Rounding | Tag::Reachability => 0,
            _ => RECORD_ESSENTIAL,
        }
    }
}
