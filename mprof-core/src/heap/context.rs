//! The calling context of a hook's caller: the chain, found, and kept in the heap's tree.

use core::sync::atomic::Ordering;

use super::Heap;
use crate::chain::{End, Found, Walk};
use crate::location::{FrameKey, Location};
use crate::process::{self, OPTIONS};
use crate::reference;
use crate::stack_bounds::StackBounds;
use crate::sys;
use crate::thread::control_block;
use crate::threads::{self, Start};
use crate::tree::NO_NODE;
use crate::unwind::State;
use crate::unwind::eh_frame;

/// Callers kept of a chain when there are too many contexts (the paper's partial call chain).
const PARTIAL: usize = 5;

/// Whether the calling thread is the one that the process began with.
fn is_first_thread() -> bool {
    sys::thread_id() == process::id()
}

impl Heap {
    /// The calling context of `entry`, by walking what cannot be proved unchanged ([`NO_NODE`] without memory), and
    /// whether it may be put into the memo.
    pub(super) unsafe fn context(&mut self, entry: State) -> (u32, bool) {
        let depth = OPTIONS.depth.load(Ordering::Relaxed) as usize;
        let begins = self.top == NO_NODE;
        if begins {
            // Before the first walk: it is not to end where later ones would not.
            self.find_bounds();
        }
        let mut walk = Walk {
            rules: &mut self.rules,
            workspace: &mut self.workspace,
            tree: &mut self.tree,
            bounds: &mut self.bounds,
        };
        let found = match reference::get() {
            Some(trace) if OPTIONS.reference.load(Ordering::Relaxed) => {
                self.chain.find_by_reference(&mut walk, entry, trace)
            }
            // SAFETY: as the caller vouches.
            _ => unsafe { self.chain.find(&mut walk, entry) },
        };
        let Some(found) = found else { return (NO_NODE, false) };
        if begins {
            self.find_top(found);
        }
        let mut walk = Walk {
            rules: &mut self.rules,
            workspace: &mut self.workspace,
            tree: &mut self.tree,
            bounds: &mut self.bounds,
        };
        let mut node = self.chain.keep(&mut walk, found, self.top, depth == 0);
        if depth != 0 {
            node = self.chain.truncated(&mut walk, found, self.top, depth);
        } else if node == NO_NODE {
            node = self.chain.truncated(&mut walk, found, self.top, PARTIAL);
        }
        (node, node != NO_NODE && found.comparable)
    }

    /// Finds out where the thread's stack ends.
    #[cold]
    fn find_bounds(&mut self) {
        let end = if is_first_thread() { process::first_stack_end() } else { control_block() };
        self.bounds = StackBounds::below(end);
    }

    /// Finds out where the thread began, by its first chain, and makes the top of its tree.
    #[cold]
    #[inline(never)]
    fn find_top(&mut self, found: Found) {
        let start = if is_first_thread() {
            Start::First
        } else if found.end == End::Complete {
            // Outermost first: clone, start_thread, the function given to pthread_create.
            match self.chain.walked().rev().nth(2).and_then(eh_frame::function_start) {
                Some(address) => {
                    let location = Location::interrupted_at(address);
                    match self.rules.lookup(&mut self.workspace, location) {
                        Some(slot) => Start::In(slot.key),
                        None => Start::Anywhere,
                    }
                }
                None => Start::Anywhere,
            }
        } else {
            Start::Anywhere
        };
        let record = threads::enter(start, OPTIONS.each_thread.load(Ordering::Relaxed));
        if record != self.record {
            // What the memo knows ends in another thread's top.
            self.memo.clear();
            self.record = record;
        }
        self.top = self.tree.child_beyond_limit(NO_NODE, FrameKey::thread(record));
    }

    /// The calling context of `entry`, without an event.
    ///
    /// # Safety
    /// As for [`Heap::allocate`].
    #[cold]
    pub unsafe fn present_context(&mut self, entry: State) -> u32 {
        self.attend();
        // SAFETY: as the caller vouches.
        unsafe { self.context(entry).0 }
    }

    /// Whether an address lies above `sp` on the owner's stack for sure.
    #[cold]
    pub fn is_on_stack(&mut self, sp: usize, address: usize) -> bool {
        self.find_bounds();
        self.bounds.is_above(sp, address)
    }
}
