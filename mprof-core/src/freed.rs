//! Objects that were freed a short while ago: the second free of one is told from the free of a foreign pointer.
//!
//! A freed object's header belongs to the allocator again, so that the object looks foreign. The real allocator must
//! be given the real block all the same: then it ends the program as it would without us.

use crate::events::Pointer;
use crate::heap;
use crate::page_objects;
use crate::sys;
use crate::unwind::read_word;

/// What is known of an object that was freed a short while ago.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FreedObject {
    /// Address of the object.
    pub object: usize,
    /// Its counter record.
    pub record: u32,
    /// log2 of its distance from the real block.
    pub offset_log2: u32,
    /// Return address of the call that freed it.
    pub freed_at: usize,
}

const FREED: usize = 64;

/// The objects that a thread freed last. Looked at only when a pointer is freed that has no header.
#[derive(Debug)]
pub struct FreedRing {
    next: usize,
    entries: [Entry; FREED],
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    object: usize,
    freed_at: usize,
    record: u32,
    offset_log2: u32,
}

impl FreedRing {
    /// Notes a free.
    #[inline(always)]
    pub fn push(&mut self, freed: FreedObject) {
        let at = self.next % FREED;
        self.next = at + 1;
        let FreedObject { object, record, offset_log2, freed_at } = freed;
        self.entries[at] = Entry { object, freed_at, record, offset_log2 };
    }

    /// What is known of this object.
    pub fn find(&self, object: usize) -> Option<FreedObject> {
        let &Entry { object, freed_at, record, offset_log2 } =
            self.entries.iter().find(|entry| entry.object == object)?;
        Some(FreedObject { object, record, offset_log2, freed_at })
    }
}

/// Whose pointer this is, given that it has no header.
#[cold]
#[inline(never)]
pub fn judge(object: *const u8) -> Pointer {
    let address = object as usize;
    let Some(freed) = heap::all().find_map(|heap| heap.find_freed(address)) else { return Pointer::Foreign };
    if page_objects::on_page_start(address) && !sys::is_readable(address - 8) {
        return Pointer::Freed(freed); // no block begins after a page that is not mapped
    }
    // A block that the C library has since handed out past us may begin where the object was. Then the word
    // before it is its size; a freed object has a list pointer, a key or what is left of our header there.
    const LARGEST_BLOCK: usize = 1 << 40;
    // SAFETY: on the object's own page, or tried just now.
    let before = unsafe { read_word(address - 8) };
    if (32..LARGEST_BLOCK).contains(&before) { Pointer::Foreign } else { Pointer::Freed(freed) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arena::{Zeroable, new_zeroed};

    // SAFETY: integers.
    unsafe impl Zeroable for FreedRing {}

    #[test]
    fn the_last_64_are_known() {
        let ring = new_zeroed::<FreedRing>().unwrap();
        for object in 1..=100 {
            ring.push(FreedObject { object, record: 7, offset_log2: 31, freed_at: object * 2 });
        }
        assert_eq!(ring.find(36), None);
        assert_eq!(ring.find(37), Some(FreedObject { object: 37, record: 7, offset_log2: 31, freed_at: 74 }));
        assert_eq!(ring.find(100).unwrap().freed_at, 200);
    }
}
