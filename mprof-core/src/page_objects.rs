//! The objects of ours that begin on a page.
//!
//! A header lies before its object. Before any other pointer, the 16 bytes are on the pointer's own page and so
//! readable; before a pointer to the start of a page there may be nothing mapped (jemalloc hands out such
//! pointers). So the headers of page-aligned pointers are read only if the page is in this set: one bit for
//! each page, in a three-level table whose parts come into being with the first object near them. Setting and
//! clearing are single atomic operations, safe in signal handlers.
//!
//! Without memory for a part of the table an object cannot be noted; then it must not be given a header.

use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use crate::arena::{Zeroable, new_zeroed};
use crate::header::HEADER;
use crate::sys::PAGE;

/// Bits of an address that user space uses.
const ADDRESS_BITS: u32 = 47;
const PAGE_BITS: u32 = 12;
/// A leaf covers 128 MiB: one page of bits.
const LEAF_BITS: u32 = 15;
const MIDDLE_BITS: u32 = 9;
const TOP_BITS: u32 = ADDRESS_BITS - PAGE_BITS - LEAF_BITS - MIDDLE_BITS;

struct Leaf([AtomicU64; 1 << (LEAF_BITS - 6)]);
struct Middle([AtomicPtr<Leaf>; 1 << MIDDLE_BITS]);

// SAFETY: integers.
unsafe impl Zeroable for Leaf {}
// SAFETY: raw pointers, of which zero is null.
unsafe impl Zeroable for Middle {}

static TOP: [AtomicPtr<Middle>; 1 << TOP_BITS] = [const { AtomicPtr::new(null_mut()) }; 1 << TOP_BITS];

/// Whether the header of an object at this address lies on the page before (as it does for one at the start of a
/// page; there are allocators that align to 8 bytes only, where the next word counts as well).
#[inline(always)]
pub fn on_page_start(address: usize) -> bool {
    address & (PAGE - 1) < HEADER
}

/// What `slot` points to, made now if need be and if `make`.
fn part<T: Zeroable>(slot: &AtomicPtr<T>, make: bool) -> Option<&'static T> {
    let mut part = slot.load(Ordering::Acquire);
    if part.is_null() {
        if !make {
            return None;
        }
        let fresh: *mut T = new_zeroed()?;
        part = match slot.compare_exchange(null_mut(), fresh, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => fresh,
            Err(other) => other, // a page lost to a race that happens once per 128 MiB
        };
    }
    // SAFETY: parts are made by `new_zeroed`, published whole, and never freed.
    Some(unsafe { &*part })
}

/// The word and the bit for a page; `None` where there is no such leaf (or no memory to make it).
fn locate(address: usize, make: bool) -> Option<(&'static AtomicU64, u64)> {
    let page = address >> PAGE_BITS;
    let top = TOP.get(page >> (LEAF_BITS + MIDDLE_BITS))?;
    let middle = part(top, make)?;
    let leaf = part(&middle.0[page >> LEAF_BITS & ((1 << MIDDLE_BITS) - 1)], make)?;
    let bit = page & ((1 << LEAF_BITS) - 1);
    Some((&leaf.0[bit / 64], 1 << (bit % 64)))
}

/// Notes that an object of ours begins on this page; false without memory.
#[cold]
#[must_use]
pub fn insert(address: usize) -> bool {
    locate(address, true).is_some_and(|(word, bit)| {
        word.fetch_or(bit, Ordering::Relaxed);
        true
    })
}

/// Forgets the object at this page.
#[cold]
pub fn remove(address: usize) {
    if let Some((word, bit)) = locate(address, false) {
        word.fetch_and(!bit, Ordering::Relaxed);
    }
}

/// Whether an object of ours begins on this page.
#[cold]
pub fn contains(address: usize) -> bool {
    locate(address, false).is_some_and(|(word, bit)| word.load(Ordering::Relaxed) & bit != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_come_and_go_one_by_one() {
        let pages = [0x1000, 0x2000, 0x7fff_ffff_f000, 0x5555_5555_0000, 0x5555_5555_1000];
        for &page in &pages {
            assert!(!contains(page));
            assert!(insert(page));
        }
        remove(0x2000);
        for &page in &pages {
            assert_eq!(contains(page), page != 0x2000);
        }
        assert!(!contains(0x5555_5555_2000));
    }

    #[test]
    fn addresses_outside_user_space_are_not_in_the_set() {
        assert!(!contains(1 << 47));
        assert!(!contains(usize::MAX & !0xfff));
    }
}
