//! What the hooks do: allocations, frees and reallocations, counted once each.
//!
//! An allocation is counted after the real call, when it is known to have succeeded; a free before it, for after
//! it the block may already be another thread's. A reallocation takes the header away before the real call, so
//! that no valid header stays behind where the object was, and counts when it is known whether it succeeded.

use mprof_format::kinds::Category;

use crate::bins::Bins;
use crate::freed::{self, FreedObject};
use crate::header::{self, GROWN, HEADER, Header, OFFSET_LIMIT, SIZE_LIMIT, WATCHED};
use crate::heap::Heap;
use crate::ledger;
use crate::location::FrameKey;
use crate::mark::{Doing, Mark};
use crate::nesting::{self, Nesting};
use crate::page_objects;
use crate::process;
use crate::recording;
use crate::records::{self, Chunk, Counter};
use crate::thread::Thread;
use crate::unwind::{Entry, read_word};
use crate::watch::{self, Grown};

/// Counts what no heap counts: threads about to end, threads without memory for a heap, nested hooks.
pub static COMMON_BINS: Bins = Bins::new();

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
unsafe fn record(heap: &mut Heap, entry: Entry, block: *mut u8, request: Request) -> *mut u8 {
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
unsafe fn record_watched(
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
unsafe fn record_without_chain(block: *mut u8, request: Request) -> *mut u8 {
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

/// What an event may use.
pub(crate) enum Situation {
    /// The thread's heap, which nothing else uses now. Its mark is to be put back as it was.
    Ready(&'static Mark, *mut Heap),
    /// Nothing: the call comes from within the real allocator, which counts as one with the call that it serves.
    InAllocator,
    /// No heap; the event is to be counted without a chain.
    NoHeap,
}

/// Finds out what an event of a thread that is not simply in the program may use.
#[cold]
pub(crate) fn situation(entry: Entry) -> Situation {
    let thread = Thread::current();
    if thread.is_ending() && !process::is_untold_child() {
        return Situation::NoHeap;
    }
    let Some((mark, heap)) = thread.attached() else { return first_event() };
    match mark.get() {
        Doing::Program => Situation::Ready(mark, heap),
        Doing::Nothing => {
            process::become_child();
            first_event()
        }
        doing @ (Doing::Real(sp) | Doing::Heap(sp)) => {
            let in_heap = matches!(doing, Doing::Heap(_));
            match nesting::of(entry.sp, sp) {
                Nesting::Stale => {
                    if in_heap {
                        // SAFETY: the hook that was using it is gone.
                        unsafe { (*heap).recover() };
                    }
                    mark.set(Doing::Program);
                    Situation::Ready(mark, heap)
                }
                Nesting::Signal if !in_heap => Situation::Ready(mark, heap),
                Nesting::Direct if !in_heap => Situation::InAllocator,
                _ => {
                    process::count_reentrant();
                    Situation::NoHeap
                }
            }
        }
    }
}

/// Gives the calling thread's present chain, innermost first, to `each`, where it can be found.
///
/// # Safety
/// `entry` is that of a hook of the calling thread that has not returned.
#[cold]
pub unsafe fn with_chain(entry: Entry, each: &mut dyn FnMut(FrameKey)) {
    if let Situation::Ready(mark, heap) = situation(entry) {
        let before = mark.get();
        mark.set(Doing::Heap(entry.sp));
        // SAFETY: the mark says that the thread is in its heap; the caller vouches for the entry.
        unsafe {
            let node = (*heap).present_context(entry.caller());
            (*heap).frames(node).for_each(each);
        }
        mark.set(before);
    }
}

/// Whether an address lies on the calling thread's stack, above a hook's entry, for sure.
#[cold]
pub fn is_on_own_stack(entry: Entry, address: usize) -> bool {
    match situation(entry) {
        // SAFETY: the heap is the calling thread's own, and in no use.
        Situation::Ready(_, heap) => unsafe { (*heap).is_on_stack(entry.sp, address) },
        _ => false,
    }
}

/// A thread's first event.
fn first_event() -> Situation {
    process::start(0);
    if process::is_untold_child() {
        process::become_child();
    }
    match Thread::attach() {
        Some((mark, heap)) => Situation::Ready(mark, heap),
        None => Situation::NoHeap,
    }
}

/// An object of ours that is alive.
#[derive(Debug, Clone, Copy)]
pub struct Object {
    start: *mut u8,
    header: Header,
    counter: records::Counter,
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
        _ => count_free_without_heap(object),
    }
}

/// Counts a free at once and from any thread.
fn count_free_without_heap(Object { header, counter, .. }: Object) {
    let size = header.size as u64;
    let counted = match counter.chunk {
        Some(chunk) => {
            chunk.free_ageless(counter.number, size, ledger::book_free(size));
            true
        }
        None => records::free_common(counter.number, size),
    };
    if counted {
        COMMON_BINS.free_shared(header.size);
    }
}

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
        unsafe { reallocate_unready(entry, object, size, real) }
    }
}

/// [`reallocate`] for a thread that is not in the program, is watched, or has no heap.
#[cold]
#[inline(never)]
unsafe fn reallocate_unready(
    entry: Entry,
    object: Object,
    size: usize,
    real: impl Fn(*mut u8, usize) -> *mut u8,
) -> *mut u8 {
    // SAFETY: as the caller vouches.
    unsafe { reallocate_in::<true>(entry, object, size, real, situation(entry)) }
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
    let at_page = page_objects::on_page_start(start as usize);
    if at_page {
        page_objects::remove(start as usize);
    }
    let restore = if let Situation::Ready(mark, _) = situation {
        let before = mark.get();
        mark.set(Doing::Real(entry.sp));
        Some((mark, before))
    } else {
        None
    };
    let moved = real(object.block(), real_size);
    let result = if moved.is_null() {
        // SAFETY: the object was left where it was.
        unsafe {
            if at_page {
                // The page was in the set: the part of the table that it is in is there.
                let _ = page_objects::insert(start as usize);
            }
            header::write(start, header);
        }
        moved
    } else if let Situation::Ready(mark, heap) = situation {
        mark.set(Doing::Heap(entry.sp));
        // SAFETY: as in `allocate`; the old object is gone.
        unsafe {
            let heap = &mut *heap;
            // (Looked up anew: this process may have been found to be a child.)
            match records::counter(header.record) {
                Some(Counter { chunk: Some(chunk), .. }) => match birth {
                    Some(birth) if WATCH => heap.free_watched(start, header, chunk, birth),
                    _ => heap.free(start, header, chunk),
                },
                Some(counter) => count_free_without_heap(Object { counter, ..object }),
                None => {}
            }
            if WATCH {
                let is_first = header.flags & GROWN == 0;
                let grown = Grown { from: header.size, is_first, moved: moved != object.block() };
                record_watched(heap, entry, moved, request, Some(grown))
            } else {
                record(heap, entry, moved, request)
            }
        }
    } else {
        count_free_without_heap(object);
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
