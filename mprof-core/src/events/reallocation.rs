//! Reallocations: a free of the old object and an allocation of the new one, also where it did not move.

use super::allocation::{Request, record, record_watched, record_without_chain};
use super::free::{Object, count_free_without_heap, identify_ours};
use super::{Situation, situation};
use crate::header::{self, GROWN, HEADER, Header, WATCHED};
use crate::heap::Heap;
use crate::mark::Doing;
use crate::page_objects;
use crate::records::{self, Counter};
use crate::thread::Thread;
use crate::unwind::Entry;
use crate::watch::{self, Birth, Grown};

/// Reallocates an object of ours through `real`, which is given the real block and the bytes to ask for, and
/// counts it as a free of the old object and an allocation of the new one. Null where `real` gives null: then
/// the old object is as it was.
///
/// # Safety
/// As for [`allocate`] and [`free`]; `real` is as realloc(3) with a size that is not 0.
pub unsafe fn reallocate(
    entry: Entry,
    object: Object,
    size: usize,
    real: impl Fn(*mut u8, usize) -> *mut u8,
) -> *mut u8 {
    if let Some((mark, heap)) = Thread::current().ready() {
        // SAFETY: as the caller vouches.
        unsafe { reallocate_in::<false>(entry, object, size, real, Situation::Ready(mark, heap)) }
    } else {
        // SAFETY: as the caller vouches.
        unsafe { reallocate_unready(entry, object.start, size, real) }
    }
}

/// [`reallocate`] for a thread that is not in the program, is watched, or has no heap. The object was identified just
/// now: it is passed by its address because that is cheap.
#[cold]
#[inline(never)]
unsafe fn reallocate_unready(
    entry: Entry,
    start: *mut u8,
    size: usize,
    real: impl Fn(*mut u8, usize) -> *mut u8,
) -> *mut u8 {
    // SAFETY: as the caller vouches.
    unsafe {
        match identify_ours(start) {
            Some(object) => reallocate_in::<true>(entry, object, size, real, situation(entry)),
            // Another thread has just freed it: the real allocator is to judge.
            None => real(start, size),
        }
    }
}

#[inline(always)]
unsafe fn reallocate_in<const WATCH: bool>(
    entry: Entry,
    object: Object,
    size: usize,
    real: impl Fn(*mut u8, usize) -> *mut u8,
    situation: Situation,
) -> *mut u8 {
    let Object { start, header, .. } = object;
    let request = Request { size, offset: object.offset() };
    let Some(real_size) = request.real_size() else {
        // No allocator has that much: the call fails and sets errno.
        return real(object.block(), usize::MAX / 2 - HEADER);
    };
    // SAFETY: the object is ours, and alive.
    let birth = (WATCH && header.flags & WATCHED != 0).then(|| unsafe { watch::read_birth(start) });
    // SAFETY: the object is ours.
    unsafe { header::clear(start) };
    if page_objects::on_page_start(start as usize) {
        page_objects::remove(start as usize);
    }
    let restore = if let Situation::Ready(mark, _) = situation {
        let before = if WATCH { mark.get() } else { Doing::Program };
        mark.set(Doing::Real(entry.sp));
        Some((mark, before))
    } else {
        None
    };
    let moved = real(object.block(), real_size);
    let result = if moved.is_null() {
        // SAFETY: the object was left where it was.
        unsafe { put_back(start, header) };
        moved
    } else if let Situation::Ready(mark, heap) = situation {
        mark.set(Doing::Heap(entry.sp));
        // SAFETY: the mark says that the thread is in its heap; the old object is gone.
        unsafe { count_moved::<WATCH>(&mut *heap, entry, object, birth, moved, request) }
    } else {
        count_free_without_heap(object.counter, header.size);
        // SAFETY: the moved block is ours.
        unsafe { record_without_chain(moved, request) }
    };
    if result == moved && !moved.is_null() {
        // It could not be recorded: what it holds goes to where the program will look for it.
        // SAFETY: both sizes lie within the block.
        unsafe { moved.copy_from(moved.add(request.offset), header.size.min(size)) };
    }
    if let Some((mark, before)) = restore {
        mark.set(before);
    }
    result
}

/// Gives an object that could not be resized its header back.
///
/// # Safety
/// The object is where it was, and only its header was taken away.
#[inline(always)] // else the header is laid out in memory before each call of the real function
unsafe fn put_back(start: *mut u8, header: Header) {
    if page_objects::on_page_start(start as usize) {
        // The page was in the set: the part of the table that it is in is there.
        let _ = page_objects::insert(start as usize);
    }
    // SAFETY: as the caller vouches.
    unsafe { header::write(start, header) };
}

/// Counts the free of the old object and the allocation of the new one; returns the new one. `birth`: that of the old
/// object, if it is watched.
///
/// # Safety
/// As for [`allocate`](super::allocate), in the midst of which this is; `moved` is the new block.
#[inline(always)]
unsafe fn count_moved<const WATCH: bool>(
    heap: &mut Heap,
    entry: Entry,
    object: Object,
    birth: Option<Birth>,
    moved: *mut u8,
    request: Request,
) -> *mut u8 {
    let Object { start, header, .. } = object;
    // (Looked up anew: this process may have been found to be a child.)
    match records::counter(header.record) {
        Some(Counter { chunk: Some(chunk), .. }) => match birth {
            Some(birth) if WATCH => heap.free_watched(start, header, chunk, birth),
            _ => heap.free(start, header, chunk),
        },
        Some(counter) => count_free_without_heap(counter, header.size),
        None => {}
    }
    // SAFETY: as the caller vouches.
    unsafe {
        if WATCH {
            let is_first = header.flags & GROWN == 0;
            let grown = Grown { from: header.size, is_first, moved: moved != object.block() };
            record_watched(heap, entry, moved, request, Some(grown))
        } else {
            record(heap, entry, moved, request)
        }
    }
}
