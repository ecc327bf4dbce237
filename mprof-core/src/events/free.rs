//! Whose a pointer is, and frees.

use super::{COMMON_BINS, Situation, situation};
use crate::freed::{self, FreedObject};
use crate::header::{self, Header, WATCHED};
use crate::heap::Heap;
use crate::ledger;
use crate::mark::Doing;
use crate::page_objects;
use crate::records::{self, Chunk};
use crate::thread::Thread;
use crate::unwind::{Entry, read_word};
use crate::watch;

/// An object of ours that is alive.
#[derive(Debug, Clone, Copy)]
pub struct Object {
    pub(super) start: *mut u8,
    pub(super) header: Header,
    pub(super) counter: records::Counter,
}

impl Object {
    /// Distance from its real block to the object, bytes.
    #[inline(always)]
    pub fn offset(&self) -> usize {
        self.header.offset()
    }

    /// Its real block.
    #[inline(always)]
    pub fn block(&self) -> *mut u8 {
        self.start.wrapping_sub(self.offset())
    }
}

/// A pointer that the program gave us.
#[derive(Debug, Clone, Copy)]
pub enum Pointer {
    /// An object of ours that is alive.
    Ours(Object),
    /// Not ours; it is the real allocator's to judge.
    Foreign,
    /// An object of ours that was freed a short while ago: the real allocator is to judge the real block.
    Freed(FreedObject),
}

/// The object of ours at this address, if there is one. Not for null.
///
/// # Safety
/// The pointer came from an allocator, or the program is in error and the real allocator would read the words
/// before it as well.
#[inline(always)]
pub unsafe fn identify_ours(object: *mut u8) -> Option<Object> {
    let address = object as usize;
    if !address.is_multiple_of(size_of::<u64>())
        || (page_objects::on_page_start(address) && !page_objects::contains(address))
    {
        return None;
    }
    // SAFETY: the header is on the object's own page, or the object is known to be ours.
    let header = unsafe { header::read(object) }?;
    let counter = records::counter(header.record)?;
    Some(Object { start: object, header, counter })
}

/// Whose pointer this is. Not for null.
///
/// # Safety
/// As for [`identify_ours`].
#[inline(always)]
pub unsafe fn identify(object: *mut u8) -> Pointer {
    // SAFETY: as the caller vouches.
    match unsafe { identify_ours(object) } {
        Some(object) => Pointer::Ours(object),
        None => freed::judge(object),
    }
}

/// Counts the free of an object and takes its header away. Its real block is then to be freed.
///
/// # Safety
/// `object` was identified just now, and `entry` is that of a hook of the calling thread.
#[inline(always)]
pub unsafe fn free(entry: Entry, object: Object) {
    if let Some((mark, heap)) = Thread::current().ready()
        && let Some(chunk) = object.counter.chunk
    {
        mark.set(Doing::Heap(entry.sp));
        // SAFETY: the mark says that the thread is in its heap.
        count_free(entry, unsafe { &mut *heap }, object, chunk);
        mark.set(Doing::Program);
    } else {
        free_unready(entry, object.start);
    }
    // SAFETY: the object is ours, and dead from here on.
    unsafe { header::clear(object.start) };
    if page_objects::on_page_start(object.start as usize) {
        page_objects::remove(object.start as usize);
    }
}

/// Counts a free in the heap of the calling thread.
#[inline(always)]
fn count_free(entry: Entry, heap: &mut Heap, object: Object, chunk: &Chunk) {
    heap.free(object.start, object.header, chunk);
    note_freed(entry, heap, object);
}

/// The same in a process that may be watched.
///
/// # Safety
/// The object is alive.
unsafe fn count_free_watched(entry: Entry, heap: &mut Heap, object: Object, chunk: &Chunk) {
    let Object { start, header, .. } = object;
    if header.flags & WATCHED == 0 {
        heap.free(start, header, chunk);
    } else {
        // SAFETY: as the caller vouches.
        heap.free_watched(start, header, chunk, unsafe { watch::read_birth(start) });
    }
    note_freed(entry, heap, object);
}

#[inline(always)]
fn note_freed(entry: Entry, heap: &mut Heap, Object { start, header, .. }: Object) {
    heap.freed.push(FreedObject {
        object: start as usize,
        record: header.record,
        offset_log2: header.offset_log2,
        // SAFETY: the hook that was entered so has not returned.
        freed_at: unsafe { read_word(entry.sp) },
    });
}

/// Counts a free of a thread that is not in the program or has no heap, or of an object that no heap counts.
#[cold]
#[inline(never)]
fn free_unready(entry: Entry, start: *mut u8) {
    let situation = situation(entry);
    // If this process has just been found to be a child, the object is its parent's.
    // SAFETY: the object was identified just now: it is passed by its address because that is cheap.
    let Some(object) = (unsafe { identify_ours(start) }) else { return };
    match (situation, object.counter.chunk) {
        (Situation::Ready(mark, heap), Some(chunk)) => {
            let before = mark.get();
            mark.set(Doing::Heap(entry.sp));
            // SAFETY: the mark says that the thread is in its heap; the object is about to be freed.
            unsafe { count_free_watched(entry, &mut *heap, object, chunk) };
            mark.set(before);
        }
        _ => count_free_without_heap(object.counter, object.header.size),
    }
}

/// Counts a free of an object of `size` bytes at once and from any thread.
pub(super) fn count_free_without_heap(counter: records::Counter, size: usize) {
    let bytes = size as u64;
    let counted = match counter.chunk {
        Some(chunk) => {
            chunk.free_ageless(counter.number, bytes, ledger::book_free(bytes));
            true
        }
        None => records::free_common(counter.number, bytes),
    };
    if counted {
        COMMON_BINS.free_shared(size);
    }
}
