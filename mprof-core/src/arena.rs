//! Memory of the monitor's own, straight from the kernel.
//!
//! Small pieces are cut from blocks that are never given back; large ones are mappings of their own. There is no
//! lock: an allocation is one atomic addition, so it works in signal handlers, in a child forked while another
//! thread was allocating, and before anything else in the process works.

use core::alloc::{GlobalAlloc, Layout};
use core::ptr::{NonNull, null_mut};
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicUsize, Ordering, compiler_fence};

use allocator_api2::alloc::{AllocError, Allocator};

use crate::{note, sys};

/// From this size on an allocation is a mapping of its own, bytes.
const LARGE: usize = 32 * 1024;
/// Length of a block of small pieces, bytes.
const BLOCK: usize = 128 * 1024;

/// Head of a block; the pieces follow it.
struct Block {
    /// Offset of the first free byte; over `BLOCK` when it is full.
    used: AtomicUsize,
}

/// The block that small pieces are cut from; null before the first.
static CURRENT: AtomicPtr<Block> = AtomicPtr::new(null_mut());

/// Requests that found no memory, or were not passed on, since the kernel last gave some.
static REFUSED: AtomicU32 = AtomicU32::new(0);
/// After a refusal the kernel is asked for every so many requests only: each would cost a system call.
const RETRY: u32 = 1024;

/// Maps fresh zeroed memory. Where there is none, says so, once.
pub(crate) fn map(length: usize) -> Option<*mut u8> {
    let refused = REFUSED.load(Ordering::Relaxed);
    if !refused.is_multiple_of(RETRY) {
        REFUSED.fetch_add(1, Ordering::Relaxed);
        return None;
    }
    let memory = sys::map(length);
    if memory.is_some() {
        if refused != 0 {
            REFUSED.store(0, Ordering::Relaxed);
        }
    } else if REFUSED.fetch_add(1, Ordering::Relaxed) == 0 {
        static SAID: AtomicU32 = AtomicU32::new(0);
        if SAID.swap(1, Ordering::Relaxed) == 0 {
            note::say(format_args!(
                "there is no memory for the profiler: call chains not seen so far are filed under [unknown]"
            ));
        }
    }
    memory
}

/// The monitor's allocator, for `hashbrown` and as the global allocator of the preloaded library.
#[derive(Debug, Clone, Copy, Default)]
pub struct Arena;

/// Memory for `layout`, zeroed if fresh from the kernel but not otherwise promised to be; null when there is none.
fn allocate(layout: Layout) -> *mut u8 {
    if layout.size() >= LARGE {
        let length = layout.size().next_multiple_of(sys::PAGE);
        // A stricter alignment than a page's is never asked for.
        return if layout.align() <= sys::PAGE { map(length).unwrap_or(null_mut()) } else { null_mut() };
    }
    loop {
        let block = CURRENT.load(Ordering::Acquire);
        if !block.is_null() {
            // SAFETY: blocks are never unmapped.
            let used = unsafe { &(*block).used };
            let wanted = layout.size() + layout.align() - 1;
            let at = used.fetch_add(wanted, Ordering::Relaxed);
            if at <= BLOCK && wanted <= BLOCK - at {
                let start = block as usize + at;
                return (start.next_multiple_of(layout.align())) as *mut u8;
            }
        }
        let Some(fresh) = map(BLOCK) else { return null_mut() };
        let head = fresh.cast::<Block>();
        // SAFETY: fresh memory of BLOCK bytes, page-aligned, that no one else knows.
        unsafe { head.write(Block { used: AtomicUsize::new(size_of::<Block>()) }) };
        if CURRENT.compare_exchange(block, head, Ordering::AcqRel, Ordering::Acquire).is_err() {
            // SAFETY: the block lost the race before anyone saw it.
            unsafe { sys::unmap(fresh, BLOCK) };
        }
    }
}

/// # Safety
/// `start` came from [`allocate`] with this layout and is not used any more.
unsafe fn release(start: *mut u8, layout: Layout) {
    if layout.size() >= LARGE {
        // SAFETY: it was a mapping of its own, of just this length.
        unsafe { sys::unmap(start, layout.size().next_multiple_of(sys::PAGE)) };
    }
}

// SAFETY: `allocate` gives disjoint memory that stays valid until `release`; nothing unwinds.
unsafe impl GlobalAlloc for Arena {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        allocate(layout)
    }

    unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
        // SAFETY: the caller passes on what `alloc` gave.
        unsafe { release(start, layout) };
    }
}

// SAFETY: as above; copies of `Arena` are all the same allocator.
unsafe impl Allocator for Arena {
    fn allocate(&self, layout: Layout) -> Result<NonNull<[u8]>, AllocError> {
        let start = NonNull::new(allocate(layout)).ok_or(AllocError)?;
        Ok(NonNull::slice_from_raw_parts(start, layout.size()))
    }

    unsafe fn deallocate(&self, start: NonNull<u8>, layout: Layout) {
        // SAFETY: the caller passes on what `allocate` gave.
        unsafe { release(start.as_ptr(), layout) };
    }
}

/// Whether all-zero bytes are a valid value of the type.
///
/// # Safety
/// Implementers are plain data for which zeros are a valid value: integers, raw pointers, and arrays and structs
/// of such.
pub unsafe trait Zeroable {}

// SAFETY: integers.
unsafe impl Zeroable for u8 {}
// SAFETY: integers.
unsafe impl Zeroable for u32 {}
// SAFETY: integers.
unsafe impl Zeroable for u64 {}

/// The value of all zeros.
pub fn zeroed<T: Zeroable>() -> T {
    // SAFETY: it is a valid value of the type.
    unsafe { core::mem::zeroed() }
}

/// Zeroed memory for one value, never given back; `None` when there is none.
pub fn new_zeroed<T: Zeroable>() -> Option<&'static mut T> {
    let length = size_of::<T>().next_multiple_of(sys::PAGE);
    let start = map(length)?.cast::<T>();
    // SAFETY: a fresh mapping, zeroed, page-aligned, large enough and known to no one else; T may be all zeros.
    Some(unsafe { &mut *start })
}

/// Gives back what [`new_zeroed`] gave.
///
/// # Safety
/// Nothing refers to the value any more.
pub unsafe fn give_back<T: Zeroable>(value: *mut T) {
    // SAFETY: the value's own mapping, which the caller gives up.
    unsafe { sys::unmap(value.cast(), size_of::<T>().next_multiple_of(sys::PAGE)) };
}

/// Copies bytes into memory that is never given back; `None` when there is none.
pub fn keep_bytes(bytes: &[u8]) -> Option<&'static [u8]> {
    let layout = Layout::from_size_align(bytes.len().max(1), 1).ok()?;
    let start = NonNull::new(allocate(layout))?;
    // SAFETY: the memory is ours alone and as long as the slice.
    unsafe {
        start.as_ptr().copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
        Some(core::slice::from_raw_parts(start.as_ptr(), bytes.len()))
    }
}

/// A growable array in the arena. Pushing fails, leaving it as it was, when there is no memory.
#[derive(Debug)]
pub struct Array<T: Copy> {
    start: *mut T,
    length: usize,
    capacity: usize,
}

// SAFETY: owns its memory; it is only ever used by the thread that owns the heap it is in.
unsafe impl<T: Copy + Zeroable> Zeroable for Array<T> {}

impl<T: Copy> Array<T> {
    /// The empty array; owns no memory.
    pub const fn new() -> Self {
        Array { start: null_mut(), length: 0, capacity: 0 }
    }

    /// Appends a value.
    #[inline]
    #[must_use]
    pub fn push(&mut self, value: T) -> bool {
        if self.length == self.capacity && !self.reserve(self.length + 1) {
            return false;
        }
        // SAFETY: length < capacity, so the slot is inside the memory that this array owns.
        unsafe { self.start.add(self.length).write(value) };
        self.length += 1;
        true
    }

    /// Appends a value where there is room for it.
    ///
    /// # Safety
    /// There is room: [`Array::reserve`] has made it.
    #[inline(always)]
    pub unsafe fn push_reserved(&mut self, value: T) {
        debug_assert!(self.length < self.capacity);
        // SAFETY: as the caller vouches.
        unsafe { self.start.add(self.length).write(value) };
        self.length += 1;
    }

    /// A value.
    ///
    /// # Safety
    /// The index is below the length.
    #[inline(always)]
    pub unsafe fn at(&self, index: usize) -> &T {
        debug_assert!(index < self.length);
        // SAFETY: as the caller vouches.
        unsafe { &*self.start.add(index) }
    }

    /// Number of values.
    #[inline(always)]
    #[allow(clippy::len_without_is_empty)] // that of the slice
    pub fn len(&self) -> usize {
        self.length
    }

    /// The first value, if there is any.
    #[inline(always)]
    pub fn start(&self) -> *const T {
        self.start
    }

    /// Makes room for `wanted` values in all. False, with no room made, without memory.
    #[inline]
    #[must_use]
    pub fn reserve(&mut self, wanted: usize) -> bool {
        wanted <= self.capacity || self.grow(wanted)
    }

    #[cold]
    fn grow(&mut self, wanted: usize) -> bool {
        let capacity = wanted.next_power_of_two().max(64);
        let Ok(layout) = Layout::array::<T>(capacity) else { return false };
        let fresh = allocate(layout).cast::<T>();
        if fresh.is_null() {
            return false;
        }
        let (old, old_capacity) = (self.start, self.capacity);
        if old_capacity != 0 {
            // SAFETY: both are at least `length` values long and disjoint.
            unsafe { fresh.copy_from_nonoverlapping(old, self.length) };
        }
        self.start = fresh;
        // A signal handler may jump out of here: no memory is given back that is still in use.
        compiler_fence(Ordering::SeqCst);
        self.capacity = capacity;
        if let (true, Ok(layout)) = (old_capacity != 0, Layout::array::<T>(old_capacity)) {
            // SAFETY: the old memory came from `allocate` with the layout of its capacity and is not used any more.
            unsafe { release(old.cast(), layout) };
        }
        true
    }

    /// Forgets all values from index `length` on.
    #[inline]
    pub fn truncate(&mut self, length: usize) {
        self.length = self.length.min(length);
    }

    /// The values.
    #[inline]
    pub fn as_slice(&self) -> &[T] {
        if self.capacity == 0 {
            return &[];
        }
        // SAFETY: the first `length` values are initialised.
        unsafe { core::slice::from_raw_parts(self.start, self.length) }
    }

    /// The values, to be changed.
    #[inline]
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        if self.capacity == 0 {
            return &mut [];
        }
        // SAFETY: the first `length` values are initialised, and `self` is borrowed mutably.
        unsafe { core::slice::from_raw_parts_mut(self.start, self.length) }
    }
}

impl<T: Copy> Default for Array<T> {
    fn default() -> Self {
        Array::new()
    }
}

impl<T: Copy> core::ops::Deref for Array<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        self.as_slice()
    }
}

impl<T: Copy> core::ops::DerefMut for Array<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        self.as_mut_slice()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_aligned_and_disjoint() {
        let mut ends = 0;
        for align in [1usize, 8, 16, 64] {
            for size in [1usize, 7, 100, 5000] {
                let layout = Layout::from_size_align(size, align).unwrap();
                let start = allocate(layout);
                assert!(!start.is_null());
                assert_eq!(start as usize % align, 0);
                // SAFETY: it is ours, `size` bytes long.
                unsafe { start.write_bytes(0xa5, size) };
                ends += size;
            }
        }
        assert_eq!(ends, 4 * (1 + 7 + 100 + 5000));
    }

    #[test]
    fn large_pieces_are_zeroed_and_can_be_released() {
        let layout = Layout::from_size_align(1 << 20, 8).unwrap();
        let start = allocate(layout);
        // SAFETY: the mapping is 1 MiB long, and ours.
        unsafe {
            assert!(core::slice::from_raw_parts(start, 1 << 20).iter().all(|&byte| byte == 0));
            release(start, layout);
        }
    }

    #[test]
    fn array_grows_and_keeps_its_values() {
        let mut array = Array::new();
        assert!(array.is_empty());
        for value in 0..100_000u64 {
            assert!(array.push(value));
        }
        assert!(array.iter().copied().eq(0..100_000));
        array.truncate(3);
        assert_eq!(&*array, &[0, 1, 2]);
    }
}
