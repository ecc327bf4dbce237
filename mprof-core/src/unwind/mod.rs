//! From a frame to its caller.
//!
//! * [`rule`]: what a frame's unwind information says, packed into a word.
//! * [`eh_frame`]: where the word comes from: `.eh_frame`, read with gimli.
//! * [`program`]: the same, faster, for most of them.
//! * [`cache`]: the words that were derived, by location.
//! * [`general`]: frames whose rule does not fit a word, with all registers.

pub mod cache;
pub mod eh_frame;
pub mod general;
mod program;
pub mod rule;

/// Reads a word of the stack.
///
/// # Safety
/// The address is readable: it is where a walk by unwind rules, from a live frame, says that a caller's state
/// lies, or on a page that such a walk has just read.
#[inline(always)]
pub unsafe fn read_word(address: usize) -> usize {
    // SAFETY: the caller vouches for the address. The stack belongs to other frames of this very thread, which
    // do not run meanwhile.
    unsafe { core::ptr::with_exposed_provenance::<usize>(address).read_unaligned() }
}

/// The state of a thread in one of its frames, as far as the rules need it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct State {
    /// Where the frame goes on.
    pub location: crate::location::Location,
    /// Stack pointer there.
    pub sp: usize,
    /// Frame pointer register there.
    pub bp: usize,
}

/// Registers at the entry of a hook.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// Stack pointer: the address of the return address.
    pub sp: usize,
    /// Frame pointer register.
    pub bp: usize,
}

impl Entry {
    /// The state of the frame that called the hook.
    ///
    /// # Safety
    /// The entry is that of a hook of the calling thread that has not returned.
    #[inline(always)]
    pub unsafe fn caller(&self) -> State {
        // SAFETY: the return address is there until the hook returns.
        let address = unsafe { read_word(self.sp) };
        State { location: crate::location::Location::returning_to(address), sp: self.sp + 8, bp: self.bp }
    }
}
