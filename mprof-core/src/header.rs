//! The 16 bytes before every object: what was asked for, where it is counted, and a proof that they are ours.
//!
//! ```text
//! word 0   bits  0–43  size as asked for, bytes
//!          bits 44–63  check, high 20 bits
//! word 1   bits  0–27  counter record (never 0)
//!          bits 28–32  log2 of the distance from the real block to the object, bytes (4 = the header alone)
//!          bits 33–35  flags: see [`GROWN`] and [`WATCHED`]
//!          bits 36–59  birth
//!          bits 60–63  check, low 4 bits
//! ```
//!
//! *Birth* is the bytes-allocated clock in ticks of 1 KiB, modulo 2²⁴. The check is a hash of the object's address,
//! the rest of both words and a secret of the process. It makes the header safe to look for before any pointer: a
//! pointer whose check fails is not ours.

use core::sync::atomic::{AtomicU64, Ordering};

/// Length of a header, bytes; also the smallest distance from the real block to the object.
pub const HEADER: usize = 16;

/// Objects of this size or more are not recorded: the size would not fit.
pub const SIZE_LIMIT: usize = 1 << 44;

/// The largest distance from real block to object that a header can say, bytes.
pub const OFFSET_LIMIT: usize = 1 << 31;

const SIZE_BITS: u32 = 44;
const SIZE: u64 = (1 << SIZE_BITS) - 1;
const RECORD: u64 = (1 << 28) - 1;
const OFFSET_SHIFT: u32 = 28;
const FLAGS_SHIFT: u32 = 33;
const BIRTH_SHIFT: u32 = 36;
/// What is not the check in word 1.
const REST_BITS: u32 = 60;
const REST: u64 = (1 << REST_BITS) - 1;

/// Flag of an object that a reallocation made, where these are watched.
pub const GROWN: u32 = 1;
/// Flag of an object before whose header its exact birth stands (see [`crate::watch`]).
pub const WATCHED: u32 = 2;

/// Per-process secret of the check. Set once, before the first header is written.
static SECRET: AtomicU64 = AtomicU64::new(0x9e37_79b9_7f4a_7c15);

/// Sets the secret. Headers written before are ours no longer.
pub fn set_secret(secret: u64) {
    SECRET.store(secret, Ordering::Relaxed);
}

/// What a header says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// Size as asked for, bytes; under [`SIZE_LIMIT`].
    pub size: usize,
    /// Counter record that the object is counted in.
    pub record: u32,
    /// log2 of the distance from the real block to the object.
    pub offset_log2: u32,
    /// Birth: bytes allocated before, of which the ticks of 1 KiB are kept, modulo 2²⁴.
    pub birth: u64,
    /// [`GROWN`] and [`WATCHED`].
    pub flags: u32,
}

impl Header {
    /// Distance from the real block to the object, bytes.
    #[inline]
    pub fn offset(&self) -> usize {
        1 << self.offset_log2
    }
}

/// The check for an object at `address` whose header holds this size and this rest of word 1: the highest 24 bits, of which
/// word 0 has the first 20.
#[inline(always)]
fn check(address: usize, size: u64, rest: u64) -> u64 {
    // Sizes and addresses meet in bits apart. The factor is odd: each bit of the sum moves bits of the check.
    let sum =
        (address as u64 ^ SECRET.load(Ordering::Relaxed)).wrapping_add(size.rotate_left(32)) ^ rest << 4;
    sum.wrapping_mul(0xa076_1d64_78bd_642f)
}

/// The part of a check that word 1 has, in its place.
#[inline(always)]
fn low_check(check: u64) -> u64 {
    check << 20 & !REST
}

/// Writes the header of `object`.
///
/// # Safety
/// The 16 bytes before `object` belong to the block that the object lies in and are not in use; `object` is
/// 16-byte aligned.
#[inline(always)]
pub unsafe fn write(object: *mut u8, header: Header) {
    let size = header.size as u64;
    let rest = u64::from(header.record)
        | u64::from(header.offset_log2) << OFFSET_SHIFT
        | u64::from(header.flags) << FLAGS_SHIFT
        | header.birth << (BIRTH_SHIFT - 10) & REST & !((1 << BIRTH_SHIFT) - 1);
    let check = check(object as usize, size, rest);
    // SAFETY: the caller owns these 16 bytes.
    unsafe {
        let words = object.cast::<u64>().sub(2);
        words.write(size | check & !SIZE);
        words.add(1).write(rest | low_check(check));
    }
}

/// Reads the header of `object`; `None` where its check fails: then the pointer is not ours, or freed already.
///
/// # Safety
/// The 16 bytes before `object` are readable.
#[inline(always)]
pub unsafe fn read(object: *const u8) -> Option<Header> {
    // SAFETY: the caller vouches for these 16 bytes; their alignment is not relied upon.
    let (word0, word1) = unsafe {
        let words = object.cast::<u64>().sub(2);
        (words.read_unaligned(), words.add(1).read_unaligned())
    };
    parse(object as usize, word0, word1)
}

/// What two words say, as the header of an object at `address`; `None` where the check fails.
#[inline(always)]
pub fn parse(address: usize, word0: u64, word1: u64) -> Option<Header> {
    let check = check(address, word0 & SIZE, word1 & REST);
    if (word0 ^ check) >> SIZE_BITS | (word1 ^ check << 20) >> REST_BITS != 0 {
        return None;
    }
    let header = Header {
        size: (word0 & SIZE) as usize,
        record: (word1 & RECORD) as u32,
        offset_log2: (word1 >> OFFSET_SHIFT & 0x1f) as u32,
        birth: word1 << 4 >> (BIRTH_SHIFT + 4) << 10,
        flags: (word1 >> FLAGS_SHIFT & 7) as u32,
    };
    (header.offset_log2 >= 4).then_some(header)
}

/// Makes the header of `object` fail its check from now on. Where the allocator leaves it as it is, its last word looks
/// like no size of a block (see [`crate::freed::judge`]).
///
/// # Safety
/// As for [`write`].
#[inline(always)]
pub unsafe fn clear(object: *mut u8) {
    // SAFETY: the caller owns these bytes.
    unsafe {
        let word0 = object.cast::<u64>().sub(2);
        word0.write(word0.read() ^ !SIZE);
        object.sub(1).write(0xff);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[repr(align(16))]
    struct Block([u8; 48]);

    #[test]
    fn what_is_written_is_read() {
        for size in [0, 1, 204, 1 << 31, SIZE_LIMIT - 1] {
            for offset_log2 in [4, 5, 12, 31] {
                for birth in [0, 0x12_3456 << 10, 0xff_ffff << 10] {
                    let header =
                        Header { size, record: 0xfff_ffff, offset_log2, birth, flags: size as u32 & 7 };
                    let mut block = Block([0; 48]);
                    // SAFETY: the object lies 16 bytes into the block.
                    unsafe {
                        let object = block.0.as_mut_ptr().add(16);
                        write(object, header);
                        assert_eq!(read(object), Some(header));
                        clear(object);
                        assert_eq!(read(object), None);
                        assert!(object.cast::<u64>().sub(1).read() > 1 << 62, "not the size of a block");
                    }
                }
            }
        }
    }

    #[test]
    fn a_header_is_good_at_its_own_address_only() {
        let mut block = Block([0; 48]);
        // SAFETY: all within the block.
        unsafe {
            let object = block.0.as_mut_ptr().add(16);
            write(object, Header { size: 100, record: 7, offset_log2: 4, birth: 1024, flags: 0 });
            object.add(16).sub(16).copy_from(object.sub(16), 16);
            assert_eq!(read(object.add(16)), None);
        }
    }

    #[test]
    fn every_flipped_bit_is_noticed() {
        let mut block = Block([0; 48]);
        // SAFETY: all within the block.
        unsafe {
            let object = block.0.as_mut_ptr().add(16);
            write(object, Header { size: 100, record: 7, offset_log2: 4, birth: 1024, flags: 0 });
            for bit in 0..128 {
                let byte = object.sub(16).add(bit / 8);
                *byte ^= 1 << (bit % 8);
                assert_eq!(read(object), None, "bit {bit}");
                *byte ^= 1 << (bit % 8);
            }
        }
    }
}
