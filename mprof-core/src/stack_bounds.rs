//! Where the stack can be read for sure.
//!
//! Unwind tables say where words lie in frames that are live. Code without unwind information is left by its frame
//! pointer, which may be none but any number: what is found by it, and all that is found further out, is read only
//! where the thread's stack is known to be mapped.

use crate::arena::Zeroable;
use crate::sys::{self, PAGE};

/// A part of the calling thread's stack that is mapped.
#[derive(Debug, Clone, Copy, Default)]
pub struct StackBounds {
    /// Lowest address; below it the stack may go on, or another may lie there.
    low: usize,
    /// First address after it.
    high: usize,
}

// SAFETY: integers.
unsafe impl Zeroable for StackBounds {}

/// How far down it is tried at once whether the stack goes on, pages.
const REACH: usize = 1 << 18;

impl StackBounds {
    /// The stack that ends at this address; how far down it goes is found out when it matters.
    pub fn below(high: usize) -> StackBounds {
        StackBounds { low: high & !(PAGE - 1), high }
    }

    /// Whether `length` bytes at `address` can be read, in a frame whose stack pointer is `sp`: they lie above it on
    /// the thread's own stack or, where that is not known, on the same page.
    pub fn allow(&mut self, sp: usize, address: usize, length: usize) -> bool {
        let Some(end) = address.checked_add(length) else { return false };
        if address < sp || !address.is_multiple_of(8) {
            return false;
        }
        end <= (sp | (PAGE - 1)) + 1 || (end <= self.high && self.reaches(sp))
    }

    /// Whether an address is above `sp` on the thread's own stack for sure.
    pub fn is_above(&mut self, sp: usize, address: usize) -> bool {
        (sp..self.high).contains(&address) && self.reaches(sp)
    }

    /// Whether all from `sp` to the upper end is mapped.
    fn reaches(&mut self, sp: usize) -> bool {
        if sp >= self.high {
            return false;
        }
        let page = sp & !(PAGE - 1);
        let mut tries = REACH;
        while page < self.low && tries > 0 && sys::is_readable(self.low - PAGE) {
            self.low -= PAGE;
            tries -= 1;
        }
        page >= self.low
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_doubtful_frame_pointer_is_followed_on_known_ground_only() {
        let mut bounds = StackBounds { low: 0x10000, high: 0x20000 };
        assert!(bounds.allow(0x10100, 0x1fff0, 16));
        assert!(!bounds.allow(0x10100, 0x1fff8, 16), "16 bytes must fit");
        assert!(!bounds.allow(0x10100, 0x100f8, 16), "below the stack pointer");
        assert!(!bounds.allow(0x10100, 0x10104, 16), "not aligned");
        assert!(bounds.allow(0x8008, 0x8ff0, 16), "the stack pointer's own page");
        assert!(!bounds.allow(0x8008, 0x8ff8, 16), "over the page's end, and page 0xf000 is not mapped");
        assert!(!bounds.allow(0x8008, usize::MAX - 7, 16));
        assert!(!StackBounds::default().allow(0x8008, 0x9000, 8), "nothing known");
    }

    #[test]
    fn the_ground_is_found_page_by_page() {
        let memory = sys::map(8 * PAGE).unwrap() as usize;
        // SAFETY: a page of the mapping, to which nothing refers.
        unsafe { sys::unmap((memory + 2 * PAGE) as *mut u8, PAGE) };
        let mut bounds = StackBounds::below(memory + 8 * PAGE);
        assert!(bounds.allow(memory + 6 * PAGE + 8, memory + 8 * PAGE - 8, 8));
        assert!(bounds.allow(memory + 3 * PAGE, memory + 8 * PAGE - 8, 8));
        assert!(!bounds.allow(memory + PAGE, memory + 8 * PAGE - 8, 8), "a page is missing");
        assert!(bounds.allow(memory + PAGE, memory + 2 * PAGE - 8, 8), "the page itself");
    }
}
