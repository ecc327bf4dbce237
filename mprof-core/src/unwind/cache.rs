//! The rules that were derived, by location: a table with one slot a location, in which the last comer wins.

use super::eh_frame::{Workspace, derive};
use super::program::Ways;
use super::rule::PackedRule;
use crate::arena::{Arena, Zeroable};
use crate::lisp;
use crate::location::{FrameKey, Location};
use allocator_api2::alloc::Allocator;
use core::alloc::Layout;
use core::sync::atomic::{Ordering, compiler_fence};

/// What is known of a location.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(16))]
pub struct Slot {
    /// Key of the location's frame in the tree.
    pub key: FrameKey,
    /// Its unwind rule; empty in a free slot.
    pub rule: PackedRule,
}

const FREE: Slot = Slot { key: FrameKey::NONE, rule: PackedRule::EMPTY };

/// No location has this key: the lower bits are those of no code.
static NO_SLOT: Slot = FREE;

const FIRST_SLOTS: usize = 512;
const MOST_SLOTS: usize = 16 * 1024;

/// The cache.
#[derive(Debug)]
pub struct RuleCache {
    slots: *mut Slot,
    /// Number of slots less one; the number is a power of two. 0 while there is but [`NO_SLOT`].
    mask: usize,
    /// Rules put over others since the table last grew.
    evictions: usize,
    ways: Ways,
}

// SAFETY: integers and a raw pointer; ways can be zeroed too.
unsafe impl Zeroable for RuleCache {}

impl RuleCache {
    /// Makes an all-zero cache ready for use.
    pub fn start(&mut self) {
        self.slots = (&raw const NO_SLOT).cast_mut();
        self.ways.clear();
    }

    /// The slot for a location, filled if it is not there. `None` without memory.
    #[inline(always)]
    pub fn lookup(&mut self, workspace: &mut Workspace, location: Location) -> Option<Slot> {
        // SAFETY: the index is masked into the table.
        let slot = unsafe { *self.slots.add(location.hash() & self.mask) };
        if slot.key.is_at(location) {
            return Some(slot);
        }
        self.fill(workspace, location)
    }

    /// How far above the stack pointer, in bytes, the return address lies in the frame of a location's function, if its
    /// rule is known and says so at once.
    pub fn return_address(&self, location: Location) -> Option<usize> {
        // SAFETY: the index is masked into the table.
        let slot = unsafe { &*self.slots.add(location.hash() & self.mask) };
        let says = slot.key.is_at(location) && slot.rule.kind() == PackedRule::STACK_POINTER;
        says.then(|| slot.rule.first().checked_sub(8)).flatten()?.try_into().ok()
    }

    #[cold]
    #[inline(never)]
    fn fill(&mut self, workspace: &mut Workspace, location: Location) -> Option<Slot> {
        if self.mask == 0 || (self.evictions > self.mask / 4 && self.mask + 1 < MOST_SLOTS) {
            self.grow();
        }
        if self.mask == 0 {
            return None;
        }
        let (key, rule) = derive(workspace, &mut self.ways, location);
        let rule = lisp::look_at(location, key, PackedRule::from(rule));
        let index = location.hash() & self.mask;
        // SAFETY: the index is masked into the table.
        let slot = unsafe { &mut *self.slots.add(index) };
        self.evictions += usize::from(slot.rule != PackedRule::EMPTY);
        *slot = Slot { key, rule };
        Some(*slot)
    }

    /// Doubles the table, or makes it; leaves it as it is when there is no memory.
    fn grow(&mut self) {
        let (old, old_count) = (self.slots, if self.mask == 0 { 0 } else { self.mask + 1 });
        let count = (old_count * 2).max(FIRST_SLOTS);
        self.evictions = 0;
        let Ok(layout) = Layout::array::<Slot>(count) else { return };
        let Ok(memory) = Arena.allocate(layout) else { return };
        let slots = memory.cast::<Slot>().as_ptr();
        // SAFETY: the new table has `count` slots; the old one, if any, has `old_count`, came from the arena and
        // is not used after.
        unsafe {
            for index in 0..count {
                slots.add(index).write(FREE);
            }
            for index in 0..old_count {
                let slot = *old.add(index);
                if slot.rule != PackedRule::EMPTY {
                    *slots.add(slot.key.location().hash() & (count - 1)) = slot;
                }
            }
            self.slots = slots;
            // A signal handler may jump out of here: no memory is given back that is still in use.
            compiler_fence(Ordering::SeqCst);
            self.mask = count - 1;
            if let (true, Ok(layout)) = (old_count != 0, Layout::array::<Slot>(old_count)) {
                Arena.deallocate(core::ptr::NonNull::new_unchecked(old).cast(), layout);
            }
        }
    }

    /// Forgets all rules.
    pub fn clear(&mut self) {
        self.ways.clear();
        if self.mask != 0 {
            for index in 0..=self.mask {
                // SAFETY: below the number of slots.
                unsafe { self.slots.add(index).write(FREE) };
            }
        }
    }
}
