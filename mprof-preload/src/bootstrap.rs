//! Memory for the calls that come while the real allocator is being looked for: `dlsym` itself may allocate.

use core::cell::UnsafeCell;
use core::ffi::c_void;
use core::sync::atomic::{AtomicUsize, Ordering};

use mprof_core::reach::ranges::Range;

const LENGTH: usize = 64 * 1024;
const ALIGNMENT: usize = 16;

#[repr(align(4096))]
struct Memory(UnsafeCell<[u8; LENGTH]>);

// SAFETY: pieces are given out once each, by an atomic cursor.
unsafe impl Sync for Memory {}

static MEMORY: Memory = Memory(UnsafeCell::new([0; LENGTH]));
static USED: AtomicUsize = AtomicUsize::new(0);

/// A zeroed piece; null when it is all used up. Pieces are never reused.
pub fn allocate(size: usize, alignment: usize) -> *mut c_void {
    let alignment = alignment.max(ALIGNMENT);
    let base = MEMORY.0.get() as usize;
    let taken = USED.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |used| {
        let start = (base + used + ALIGNMENT).checked_next_multiple_of(alignment)? - base;
        let end = start.checked_add(size)?;
        (end <= LENGTH).then_some(end)
    });
    let Ok(used) = taken else { return core::ptr::null_mut() };
    let start = (base + used + ALIGNMENT).next_multiple_of(alignment);
    // SAFETY: the piece and the 16 bytes before it lie in the memory and are given out to this call alone.
    unsafe {
        let start = MEMORY.0.get().cast::<u8>().add(start - base);
        start.sub(8).cast::<usize>().write(size);
        start.cast()
    }
}

/// Whether a pointer is to such a piece.
#[inline]
pub fn owns(pointer: *const c_void) -> bool {
    let base = MEMORY.0.get() as usize;
    (base..base + LENGTH).contains(&(pointer as usize))
}

/// Where the memory lies.
pub fn range() -> Range {
    let start = MEMORY.0.get() as usize;
    Range { start, end: start + LENGTH }
}

/// Size of a piece, bytes.
///
/// # Safety
/// The pointer came from [`allocate`].
pub unsafe fn size(pointer: *const c_void) -> usize {
    // SAFETY: the size stands before the piece.
    unsafe { pointer.cast::<usize>().sub(1).read() }
}
