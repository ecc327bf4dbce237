//! The allocation functions. What each does in odd cases is what glibc does: the real function is asked.

use core::ffi::{c_int, c_void};

use mprof_core::events::{self, Pointer, Request};
use mprof_core::freed;
use mprof_core::header::{HEADER, OFFSET_LIMIT};
use mprof_core::misuse;
use mprof_core::modules;
use mprof_core::sys::PAGE;
use mprof_core::unwind::Entry;

use crate::shim::shims;
use crate::{bootstrap, identity, originals};

const ENOMEM: c_int = libc::ENOMEM;

shims! {
    /// malloc(3).
    malloc, __libc_malloc => hook_malloc, "rsi", "rdx";
    /// calloc(3).
    calloc, __libc_calloc => hook_calloc, "rdx", "rcx";
    /// realloc(3).
    realloc, __libc_realloc => hook_realloc, "rdx", "rcx";
    /// reallocarray(3).
    reallocarray, __libc_reallocarray => hook_reallocarray, "rcx", "r8";
    /// free(3), and what is the same in glibc: the size and the alignment that C23's functions are given are not
    /// needed.
    free, __libc_free, cfree => hook_free, "rsi", "rdx";
    /// free_sized (C23).
    free_sized => hook_free_sized, "rdx", "rcx";
    /// free_aligned_sized (C23).
    free_aligned_sized => hook_free_aligned_sized, "rcx", "r8";
    /// posix_memalign(3).
    posix_memalign, __posix_memalign => hook_posix_memalign, "rcx", "r8";
    /// aligned_alloc(3).
    aligned_alloc => hook_aligned_alloc, "rdx", "rcx";
    /// memalign(3).
    memalign, __libc_memalign => hook_memalign, "rdx", "rcx";
    /// valloc(3).
    valloc, __libc_valloc => hook_valloc, "rsi", "rdx";
    /// pvalloc(3).
    pvalloc, __libc_pvalloc => hook_pvalloc, "rsi", "rdx";
}

fn set_errno(error: c_int) {
    // SAFETY: the location is the calling thread's own.
    unsafe { *libc::__errno_location() = error };
}

#[cold]
fn out_of_memory() -> *mut c_void {
    set_errno(ENOMEM);
    core::ptr::null_mut()
}

/// An original, looked for if need be. `None`: not known yet; serve the call from the bootstrap memory.
macro_rules! original {
    ($name:ident) => {
        match originals::$name() {
            Some(original) => Some(original),
            None if originals::find() => originals::$name(),
            None => None,
        }
    };
}

unsafe extern "C" fn hook_malloc(size: usize, sp: usize, bp: usize) -> *mut c_void {
    let Some(real) = original!(malloc) else { return bootstrap::allocate(size, HEADER) };
    // SAFETY: the shim gives the entry registers; the real function is as malloc(3).
    unsafe { events::allocate(Entry { sp, bp }, Request::plain(size), |size| real(size).cast()).cast() }
}

unsafe extern "C" fn hook_calloc(count: usize, size: usize, sp: usize, bp: usize) -> *mut c_void {
    let Some(total) = count.checked_mul(size) else { return out_of_memory() };
    let Some(real) = original!(calloc) else { return bootstrap::allocate(total, HEADER) };
    // SAFETY: as above; the header is part of what is zeroed.
    unsafe { events::allocate(Entry { sp, bp }, Request::plain(total), |size| real(1, size).cast()).cast() }
}

unsafe extern "C" fn hook_free(pointer: *mut c_void, sp: usize, bp: usize) {
    if pointer.is_null() {
        return;
    }
    let Some(real) = original!(free) else { return };
    // SAFETY: the program gives back what an allocator gave; see `events::identify_ours` for what else it may give.
    unsafe {
        match events::identify_ours(pointer.cast()) {
            Some(object) => {
                events::free(Entry { sp, bp }, object);
                real(object.block().cast());
            }
            None => free_headless(Entry { sp, bp }, pointer, real),
        }
    }
}

/// free(3) of a pointer without a header.
///
/// # Safety
/// As free(3), whose pointer is not null.
#[cold]
#[inline(never)]
unsafe fn free_headless(entry: Entry, pointer: *mut c_void, real: unsafe extern "C" fn(*mut c_void)) {
    // SAFETY: the real allocator is to judge what is its own.
    unsafe {
        match freed::judge(pointer.cast()) {
            Pointer::Freed(freed) => {
                misuse::double_free(entry, freed, identity::program());
                real(pointer.byte_sub(1 << freed.offset_log2));
            }
            _ if bootstrap::owns(pointer) => {}
            _ => {
                // (Another allocator may have memory of its own anywhere.)
                if is_c_librarys(real as usize) {
                    misuse::foreign_free(entry, pointer.addr(), identity::program());
                }
                real(pointer);
            }
        }
    }
}

/// Whether a function is the C library's own.
fn is_c_librarys(function: usize) -> bool {
    modules::range(function).contains(&(libc::__errno_location as *const () as usize))
}

unsafe extern "C" fn hook_free_sized(pointer: *mut c_void, _size: usize, sp: usize, bp: usize) {
    // SAFETY: as for free.
    unsafe { hook_free(pointer, sp, bp) };
}

unsafe extern "C" fn hook_free_aligned_sized(
    pointer: *mut c_void,
    _alignment: usize,
    _size: usize,
    sp: usize,
    bp: usize,
) {
    // SAFETY: as for free.
    unsafe { hook_free(pointer, sp, bp) };
}

unsafe extern "C" fn hook_realloc(pointer: *mut c_void, size: usize, sp: usize, bp: usize) -> *mut c_void {
    let entry = Entry { sp, bp };
    let Some(real) = original!(realloc) else {
        // SAFETY: while the originals are not known, pointers are pieces of the bootstrap memory.
        return unsafe { move_from_bootstrap(pointer, size, || bootstrap::allocate(size, HEADER)) };
    };
    if pointer.is_null() {
        // SAFETY: as for malloc: realloc(3) of null is malloc.
        return unsafe {
            events::allocate(entry, Request::plain(size), |size| real(core::ptr::null_mut(), size).cast())
                .cast()
        };
    }
    // SAFETY: as for free; the real function is as realloc(3).
    unsafe {
        match events::identify_ours(pointer.cast()) {
            Some(object) if size != 0 => {
                events::reallocate(entry, object, size, |block, size| real(block.cast(), size).cast()).cast()
            }
            Some(_) => reallocate_to_nothing(entry, pointer, real),
            None => reallocate_headless(entry, pointer, size, real),
        }
    }
}

type Reallocate = unsafe extern "C" fn(*mut c_void, usize) -> *mut c_void;

/// realloc(3) of an object to size 0.
///
/// # Safety
/// The object was identified just now.
#[cold]
#[inline(never)]
unsafe fn reallocate_to_nothing(entry: Entry, pointer: *mut c_void, real: Reallocate) -> *mut c_void {
    // SAFETY: the object is alive and ours.
    unsafe {
        let Some(object) = events::identify_ours(pointer.cast()) else { return real(pointer, 0) };
        // glibc frees; other allocators may give a block, which is theirs alone.
        events::free(entry, object);
        real(object.block().cast(), 0)
    }
}

/// realloc(3) of a pointer without a header.
///
/// # Safety
/// As realloc(3), whose pointer is not null.
#[cold]
#[inline(never)]
unsafe fn reallocate_headless(
    entry: Entry,
    pointer: *mut c_void,
    size: usize,
    real: Reallocate,
) -> *mut c_void {
    // SAFETY: the real allocator is to judge what is its own.
    unsafe {
        match freed::judge(pointer.cast()) {
            Pointer::Freed(freed) => {
                misuse::double_free(entry, freed, identity::program());
                real(pointer.byte_sub(1 << freed.offset_log2), size)
            }
            _ if bootstrap::owns(pointer) => {
                move_from_bootstrap(pointer, size, || hook_malloc(size, entry.sp, entry.bp))
            }
            _ => real(pointer, size),
        }
    }
}

/// realloc(3) of a piece of the bootstrap memory.
unsafe fn move_from_bootstrap(
    pointer: *mut c_void,
    size: usize,
    allocate: impl FnOnce() -> *mut c_void,
) -> *mut c_void {
    if !pointer.is_null() && size == 0 {
        return core::ptr::null_mut();
    }
    let fresh = allocate();
    if !fresh.is_null() && !pointer.is_null() {
        // SAFETY: both are at least this long.
        unsafe {
            let length = bootstrap::size(pointer).min(size);
            fresh.cast::<u8>().copy_from_nonoverlapping(pointer.cast(), length);
        }
    }
    fresh
}

unsafe extern "C" fn hook_reallocarray(
    pointer: *mut c_void,
    count: usize,
    size: usize,
    sp: usize,
    bp: usize,
) -> *mut c_void {
    match count.checked_mul(size) {
        // SAFETY: as for realloc.
        Some(total) => unsafe { hook_realloc(pointer, total, sp, bp) },
        None => out_of_memory(),
    }
}

/// The request for an aligned object; `None` where the alignment is beyond what a header can say.
fn aligned(alignment: usize, size: usize) -> Option<Request> {
    // glibc raises an alignment that is no power of two to the next one.
    let offset = alignment.checked_next_power_of_two()?.max(HEADER);
    (offset <= OFFSET_LIMIT).then_some(Request { size, offset })
}

unsafe extern "C" fn hook_posix_memalign(
    out: *mut *mut c_void,
    alignment: usize,
    size: usize,
    sp: usize,
    bp: usize,
) -> c_int {
    let Some(real) = original!(posix_memalign) else {
        let piece = bootstrap::allocate(size, alignment);
        if piece.is_null() {
            return ENOMEM;
        }
        // SAFETY: the caller's pointer.
        unsafe { *out = piece };
        return 0;
    };
    let valid = alignment.is_power_of_two() && alignment.is_multiple_of(size_of::<*mut c_void>());
    let Some(request) = aligned(alignment, size).filter(|_| valid) else {
        // SAFETY: the caller's arguments; the real function says what is wrong with them.
        return unsafe { real(out, alignment, size) };
    };
    let status = core::cell::Cell::new(0);
    // SAFETY: as for malloc; the block is aligned to the offset because that is the alignment or 16.
    let object = unsafe {
        events::allocate(Entry { sp, bp }, request, |size| {
            let mut block = core::ptr::null_mut();
            status.set(real(&raw mut block, alignment, size));
            if status.get() == 0 { block.cast() } else { core::ptr::null_mut() }
        })
    };
    if status.get() == 0 {
        // SAFETY: the caller's pointer.
        unsafe { *out = object.cast() };
    }
    status.get()
}

/// memalign(3) and aligned_alloc(3), which differ in name only.
unsafe fn allocate_aligned(
    real: unsafe extern "C" fn(usize, usize) -> *mut c_void,
    alignment: usize,
    size: usize,
    entry: Entry,
) -> *mut c_void {
    match aligned(alignment, size) {
        // SAFETY: as for malloc; the block is aligned to the offset.
        Some(request) => unsafe {
            events::allocate(entry, request, |size| real(alignment, size).cast()).cast()
        },
        // SAFETY: the caller's arguments.
        None => unsafe { real(alignment, size) },
    }
}

unsafe extern "C" fn hook_aligned_alloc(alignment: usize, size: usize, sp: usize, bp: usize) -> *mut c_void {
    match original!(aligned_alloc) {
        // SAFETY: the shim gives the entry registers.
        Some(real) => unsafe { allocate_aligned(real, alignment, size, Entry { sp, bp }) },
        None => bootstrap::allocate(size, alignment),
    }
}

unsafe extern "C" fn hook_memalign(alignment: usize, size: usize, sp: usize, bp: usize) -> *mut c_void {
    match original!(memalign) {
        // SAFETY: the shim gives the entry registers.
        Some(real) => unsafe { allocate_aligned(real, alignment, size, Entry { sp, bp }) },
        None => bootstrap::allocate(size, alignment),
    }
}

unsafe extern "C" fn hook_valloc(size: usize, sp: usize, bp: usize) -> *mut c_void {
    let Some(real) = original!(valloc) else { return bootstrap::allocate(size, PAGE) };
    let request = Request { size, offset: PAGE };
    // SAFETY: as for malloc; the block is aligned to a page.
    unsafe { events::allocate(Entry { sp, bp }, request, |size| real(size).cast()).cast() }
}

unsafe extern "C" fn hook_pvalloc(size: usize, sp: usize, bp: usize) -> *mut c_void {
    let Some(real) = original!(pvalloc) else { return bootstrap::allocate(size, PAGE) };
    let request = Request { size, offset: PAGE };
    // SAFETY: as above. One page more, rounded up to pages, leaves the size rounded up to pages.
    unsafe { events::allocate(Entry { sp, bp }, request, |size| real(size).cast()).cast() }
}

/// malloc_usable_size(3): what lies before the object is not the program's.
///
/// # Safety
/// As the real function's: null, or a pointer that an allocation function gave.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn malloc_usable_size(pointer: *mut c_void) -> usize {
    if pointer.is_null() {
        return 0;
    }
    let Some(real) = original!(malloc_usable_size) else { return 0 };
    // SAFETY: as for free.
    unsafe {
        match events::identify(pointer.cast()) {
            Pointer::Ours(object) => real(object.block().cast()).saturating_sub(object.offset()),
            Pointer::Foreign if bootstrap::owns(pointer) => bootstrap::size(pointer),
            _ => real(pointer),
        }
    }
}
