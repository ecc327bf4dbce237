//! A hash table of places in the memo's pool.

use core::alloc::Layout;

use allocator_api2::alloc::Allocator;

use crate::arena::{Arena, Zeroable};

/// A slot: a place, and 16 bits of its hash. 0: free.
type Slot = u32;

const PLACE_BITS: u32 = 16;
const PLACE: u32 = (1 << PLACE_BITS) - 1;
/// Places are below this, and not 0.
pub(super) const PLACES: usize = 1 << PLACE_BITS;

const FIRST_SLOTS: usize = 128;

/// The table that has no slots yet: it is read only.
static NO_SLOT: Slot = 0;

/// The table. Nothing is removed singly.
#[derive(Debug)]
pub(super) struct Table {
    slots: *mut Slot,
    /// Number of slots less one; 0 while there is but [`NO_SLOT`].
    mask: usize,
    used: usize,
}

// SAFETY: integers and a raw pointer.
unsafe impl Zeroable for Table {}

impl Table {
    /// An empty table.
    pub(super) const fn none() -> Table {
        Table { slots: (&raw const NO_SLOT).cast_mut(), mask: 0, used: 0 }
    }

    /// Makes an all-zero table ready for use.
    pub(super) fn start(&mut self) {
        *self = Table::none();
    }

    /// The place with this hash that is the one.
    #[inline(always)]
    pub(super) fn find(&self, hash: u64, is_it: impl Fn(u32) -> bool) -> Option<u32> {
        let mut at = hash as usize;
        loop {
            // SAFETY: the index is masked into the table.
            let slot = unsafe { *self.slots.add(at & self.mask) };
            if slot == 0 {
                return None;
            }
            if slot >> PLACE_BITS == tag(hash) && is_it(slot & PLACE) {
                return Some(slot & PLACE);
            }
            at += 1;
        }
    }

    /// Makes room for one more. `hash`: that of a place in the table. False without memory.
    pub(super) fn reserve(&mut self, hash: impl Fn(u32) -> u64) -> bool {
        if self.used * 2 >= self.mask {
            self.grow(hash);
        }
        self.used < self.mask
    }

    /// Puts a place into the table, which has a free slot.
    pub(super) fn insert(&mut self, hash: u64, place: u32) {
        debug_assert!(self.used < self.mask && (1..PLACES).contains(&(place as usize)));
        self.used += 1;
        let mut at = hash as usize;
        loop {
            // SAFETY: the index is masked into the table.
            let slot = unsafe { &mut *self.slots.add(at & self.mask) };
            if *slot == 0 {
                *slot = tag(hash) << PLACE_BITS | place;
                return;
            }
            at += 1;
        }
    }

    /// Doubles the table, or makes it; leaves it as it is when there is no memory.
    #[cold]
    fn grow(&mut self, hash: impl Fn(u32) -> u64) {
        let (old, old_count) = (self.slots, if self.mask == 0 { 0 } else { self.mask + 1 });
        let count = (old_count * 2).max(FIRST_SLOTS);
        let Ok(layout) = Layout::array::<Slot>(count) else { return };
        let Ok(memory) = Arena.allocate(layout) else { return };
        self.slots = memory.cast::<Slot>().as_ptr();
        self.mask = count - 1;
        self.used = 0;
        // SAFETY: the new table has `count` slots; the old one came from the arena, has `old_count`, and is not
        // used after.
        unsafe {
            core::slice::from_raw_parts_mut(self.slots, count).fill(0);
            for index in 0..old_count {
                let slot = *old.add(index);
                if slot != 0 {
                    let place = slot & PLACE;
                    self.insert(hash(place), place);
                }
            }
            if let (true, Ok(layout)) = (old_count != 0, Layout::array::<Slot>(old_count)) {
                Arena.deallocate(core::ptr::NonNull::new_unchecked(old).cast(), layout);
            }
        }
    }

    /// Forgets all places.
    pub(super) fn clear(&mut self) {
        self.used = 0;
        if self.mask != 0 {
            // SAFETY: the table has this many slots.
            unsafe { core::slice::from_raw_parts_mut(self.slots, self.mask + 1) }.fill(0);
        }
    }
}

/// The bits of a hash that a slot has.
#[inline(always)]
fn tag(hash: u64) -> u32 {
    (hash >> 48) as u32
}

/// A hash of two words.
#[inline(always)]
pub(super) fn hash(a: u64, b: u64) -> u64 {
    let product = u128::from(a ^ 0x9e37_79b9_7f4a_7c15) * u128::from(b ^ 0xa076_1d64_78bd_642f);
    (product >> 64) as u64 ^ product as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_put_in_is_found_until_the_table_is_cleared() {
        let mut table = Table::none();
        let hash = |place: u32| hash(place.into(), 7);
        assert_eq!(table.find(hash(3), |_| true), None);
        for place in 1..5000 {
            assert!(table.reserve(hash));
            table.insert(hash(place), place);
        }
        for place in 1..5000 {
            assert_eq!(table.find(hash(place), |found| found == place), Some(place));
        }
        assert_eq!(table.find(hash(5000), |found| found == 5000), None);
        table.clear();
        assert_eq!(table.find(hash(3), |_| true), None);
    }
}
