//! Allocations: the real block, its header, and the count.

use mprof_format::kinds::Category;

use super::{COMMON_BINS, Situation, situation};
use crate::header::{self, GROWN, HEADER, Header, OFFSET_LIMIT, SIZE_LIMIT, WATCHED};
use crate::heap::Heap;
use crate::mark::Doing;
use crate::page_objects;
use crate::process;
use crate::recording;
use crate::records;
use crate::thread::Thread;
use crate::unwind::Entry;
use crate::watch::{self, Grown};

/// An allocation that is asked for.
#[derive(Debug, Clone, Copy)]
pub struct Request {
    /// Bytes asked for.
    pub size: usize,
    /// Distance from the real block to the object: a power of two, at least [`HEADER`]; the alignment where that
    /// is more.
    pub offset: usize,
}

impl Request {
    /// A request without more than the usual alignment.
    #[inline(always)]
    pub fn plain(size: usize) -> Request {
        Request { size, offset: HEADER }
    }

    /// Bytes to ask the real allocator for; `None` where they cannot be had, or the object could not be recorded.
    #[inline(always)]
    pub fn real_size(&self) -> Option<usize> {
        (self.size < SIZE_LIMIT && self.offset <= OFFSET_LIMIT).then(|| self.size + self.offset)
    }
}

/// Allocates through `real`, which is given the bytes to ask the real allocator for, and counts it.
///
/// # Safety
/// `entry` is that of a hook of the calling thread that has not returned. `real` returns null or a block of the
/// size that it was given, aligned to 16 bytes and to `request.offset`.
#[inline(always)]
pub unsafe fn allocate(entry: Entry, request: Request, real: impl Fn(usize) -> *mut u8 + Copy) -> *mut u8 {
    let Some(real_size) = request.real_size() else { return real(request.size) };
    let Some((mark, heap)) = Thread::current().ready() else {
        // SAFETY: as the caller vouches.
        return unsafe { allocate_unready(entry, request, real) };
    };
    mark.set(Doing::Real(entry.sp));
    let block = real(real_size);
    if block.is_null() {
        mark.set(Doing::Program);
        return block;
    }
    mark.set(Doing::Heap(entry.sp));
    // SAFETY: the mark says that the thread is in its heap; the block is ours.
    let object = unsafe { record(&mut *heap, entry, block, request) };
    mark.set(Doing::Program);
    object
}

/// Counts a fresh block in the heap and writes its header.
///
/// # Safety
/// As for [`Heap::allocate`]; `block` is as `real` gives it in [`allocate`].
#[inline(always)]
pub(super) unsafe fn record(heap: &mut Heap, entry: Entry, block: *mut u8, request: Request) -> *mut u8 {
    // SAFETY: as the caller vouches.
    unsafe { record_flagged(heap, entry, block, request, 0).0 }
}

/// The same with flags in the header; returns the record's number too.
#[inline(always)]
unsafe fn record_flagged(
    heap: &mut Heap,
    entry: Entry,
    block: *mut u8,
    request: Request,
    flags: u32,
) -> (*mut u8, u32) {
    // SAFETY: as the caller vouches.
    unsafe {
        let object = block.add(request.offset);
        if page_objects::on_page_start(object as usize) && !page_objects::insert(object as usize) {
            return (give_unrecorded(block), records::UNRECORDED);
        }
        let record = heap.allocate(entry, request.size);
        write_header(object, request, record, heap.birth(), flags);
        heap.set_last(object);
        (object, record)
    }
}

/// The same in a process that is watched; `grown`: a reallocation has made the object.
pub(super) unsafe fn record_watched(
    heap: &mut Heap,
    entry: Entry,
    block: *mut u8,
    request: Request,
    grown: Option<Grown>,
) -> *mut u8 {
    let flags = watch::flags(request.offset, grown.is_some());
    // SAFETY: as the caller vouches; where the flags say so there is room for the birth.
    let (object, record) = unsafe {
        let (object, record) = record_flagged(heap, entry, block, request, flags);
        if record == records::UNRECORDED {
            return object;
        }
        if flags & WATCHED != 0 {
            watch::write_birth(object, heap.clocks());
        }
        (object, record)
    };
    if let (Some(grown), true) = (grown, flags & GROWN != 0) {
        records::grow(record, grown, request.size);
    }
    watch::note_added(block, request);
    object
}

/// Gives the program the real block itself, without a header: it will come back as a foreign pointer. It is
/// aligned as asked for, for the block is aligned to the offset.
#[cold]
fn give_unrecorded(block: *mut u8) -> *mut u8 {
    process::count_unrecorded();
    block
}

/// Writes the header of an object.
///
/// # Safety
/// The object lies `request.offset` bytes into a block of ours.
#[inline(always)]
unsafe fn write_header(object: *mut u8, request: Request, record: u32, birth: u64, flags: u32) {
    let offset_log2 = request.offset.trailing_zeros();
    // SAFETY: the object lies in the block, at least a header's length from its start.
    unsafe { header::write(object, Header { size: request.size, record, offset_log2, birth, flags }) };
}

/// [`allocate`] for a thread that is not in the program, is watched, or has no heap.
#[cold]
#[inline(never)]
unsafe fn allocate_unready(entry: Entry, request: Request, real: impl Fn(usize) -> *mut u8) -> *mut u8 {
    let request = watch::with_room(request);
    let real_size = request.size + request.offset;
    match situation(entry) {
        Situation::Ready(mark, heap) => {
            let before = mark.get();
            mark.set(Doing::Real(entry.sp));
            let block = real(real_size);
            let object = if block.is_null() {
                block
            } else {
                mark.set(Doing::Heap(entry.sp));
                // SAFETY: as in `allocate`.
                unsafe { record_watched(&mut *heap, entry, block, request, None) }
            };
            mark.set(before);
            object
        }
        Situation::InAllocator => real(request.size),
        Situation::NoHeap => {
            let block = real(real_size);
            if block.is_null() {
                return block;
            }
            // SAFETY: the block is ours.
            unsafe { record_without_chain(block, request) }
        }
    }
}

/// Counts a block under `[unknown]`.
pub(super) unsafe fn record_without_chain(block: *mut u8, request: Request) -> *mut u8 {
    // SAFETY: the caller's block.
    let object = unsafe { block.add(request.offset) };
    if page_objects::on_page_start(object as usize) && !page_objects::insert(object as usize) {
        return give_unrecorded(block);
    }
    let record = if recording::is_stopped() {
        records::UNRECORDED
    } else {
        let category = Category::of_size(request.size as u64).index();
        COMMON_BINS.allocate_shared(request.size);
        records::allocate_unknown(u32::from(category), request.size as u64)
    };
    // SAFETY: as above.
    unsafe { write_header(object, request, record, 0, 0) };
    object
}
