//! What is recorded only where it is asked for, because it costs more: exact births, so that ages are known in allocations
//! and do not wrap (`MPROF_LIFETIMES`); reallocations (likewise); what the allocator adds to objects (`MPROF_USABLE`).
//!
//! The short way through the hooks knows nothing of it: in a process that is watched no thread is ever *ready* (see
//! [`crate::thread::Thread::ready`]), and all events take the long way. There an object gets 16 bytes more before its
//! header:
//!
//! ```text
//! word 0   bytes that the process had allocated at its birth
//! word 1   objects that it had allocated
//! ```

use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering};

use mprof_format::kinds::LAST_BIN;

use crate::events::Request;
use crate::header::{GROWN, HEADER, WATCHED};
use crate::thread::Thread;

/// Distance from the real block to an object whose exact birth is kept, at least.
const DISTANCE: usize = 2 * HEADER;

/// Whether the process is watched.
static ON: AtomicBool = AtomicBool::new(false);
/// Whether births and reallocations are.
static LIFETIMES: AtomicBool = AtomicBool::new(false);
/// Tells the usable length of a real block; null where what the allocator adds is not watched.
static USABLE: AtomicPtr<()> = AtomicPtr::new(core::ptr::null_mut());
/// What it added, by bin.
static ADDED: [AtomicU64; LAST_BIN as usize + 2] = [const { AtomicU64::new(0) }; LAST_BIN as usize + 2];

/// Whether anything is watched.
#[inline]
pub fn is_on() -> bool {
    ON.load(Ordering::Relaxed)
}

/// From now on births and reallocations are watched. To be called while there is one thread.
pub fn start_lifetimes() {
    LIFETIMES.store(true, Ordering::Relaxed);
    start();
}

/// From now on it is watched what the allocator adds: `usable` is given a real block and tells how many bytes of it can be
/// used. To be called while there is one thread.
pub fn start_usable(usable: fn(*mut u8) -> usize) {
    USABLE.store(usable as *mut (), Ordering::Relaxed);
    start();
}

fn start() {
    ON.store(true, Ordering::Relaxed);
    Thread::hide_mark();
}

/// What an object was born into: bytes and objects that the process had allocated, itself included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Birth {
    /// Bytes.
    pub bytes: u64,
    /// Objects.
    pub allocations: u64,
}

/// The request with room for the birth, if it is watched.
pub fn with_room(request: Request) -> Request {
    if !LIFETIMES.load(Ordering::Relaxed) {
        return request;
    }
    Request { offset: request.offset.max(DISTANCE), ..request }
}

/// The flags of the header of an object so far from its block, which a reallocation has made or not.
pub fn flags(offset: usize, grown: bool) -> u32 {
    if !LIFETIMES.load(Ordering::Relaxed) || offset < DISTANCE {
        return 0;
    }
    WATCHED | if grown { GROWN } else { 0 }
}

/// Writes an object's birth before its header.
///
/// # Safety
/// The object is ours, at least [`DISTANCE`] from its block.
pub unsafe fn write_birth(object: *mut u8, birth: Birth) {
    // SAFETY: as the caller vouches; objects are aligned to 16 bytes.
    unsafe { object.sub(DISTANCE).cast::<[u64; 2]>().write([birth.bytes, birth.allocations]) };
}

/// Reads it.
///
/// # Safety
/// The object is ours, and [`WATCHED`].
pub unsafe fn read_birth(object: *const u8) -> Birth {
    // SAFETY: as the caller vouches.
    let [bytes, allocations] = unsafe { object.sub(DISTANCE).cast::<[u64; 2]>().read() };
    Birth { bytes, allocations }
}

/// Notes what the allocator added to an object in its fresh block, if that is watched.
pub fn note_added(block: *mut u8, request: Request) {
    let usable = USABLE.load(Ordering::Relaxed);
    if usable.is_null() {
        return;
    }
    // SAFETY: only `start_usable` stores here, and it stores such a function.
    let usable = unsafe { core::mem::transmute::<*mut (), fn(*mut u8) -> usize>(usable) };
    let added = usable(block).saturating_sub(request.offset + request.size);
    let bin = request.size.min(ADDED.len() - 1);
    ADDED[bin].fetch_add(added as u64, Ordering::Relaxed);
}

/// What the allocator added, by bin; `None` where it was not watched.
pub fn added() -> Option<impl Iterator<Item = u64>> {
    let watched = !USABLE.load(Ordering::Relaxed).is_null();
    watched.then(|| ADDED.iter().map(|added| added.load(Ordering::Relaxed)))
}

/// A reallocation.
#[derive(Debug, Clone, Copy)]
pub struct Grown {
    /// The size before, bytes.
    pub from: usize,
    /// The object was not made by a reallocation itself.
    pub is_first: bool,
    /// The real block lies elsewhere now.
    pub moved: bool,
}

/// Reallocations that made a record's objects. Its owner counts.
#[derive(Debug)]
pub struct Growth {
    reallocations: AtomicU64,
    first: AtomicU64,
    moved: AtomicU64,
    copied_bytes: AtomicU64,
    /// The smallest size before.
    smallest: AtomicU64,
    /// The largest size after.
    largest: AtomicU64,
}

impl Growth {
    /// Counts a reallocation to a size.
    pub fn count(&self, grown: Grown, size: usize) {
        let (from, to) = (grown.from as u64, size as u64);
        let is_one = self.reallocations.fetch_add(1, Ordering::Relaxed) > 0;
        self.first.fetch_add(grown.is_first.into(), Ordering::Relaxed);
        if grown.moved {
            self.moved.fetch_add(1, Ordering::Relaxed);
            self.copied_bytes.fetch_add(from.min(to), Ordering::Relaxed);
        }
        let smallest = if is_one { self.smallest.load(Ordering::Relaxed).min(from) } else { from };
        self.smallest.store(smallest, Ordering::Relaxed);
        self.largest.fetch_max(to, Ordering::Relaxed);
    }

    /// Reallocations, those of objects that none had made, those that moved, bytes copied by these at most, the smallest
    /// size before and the largest after.
    pub fn get(&self) -> [u64; 6] {
        let all = [
            &self.reallocations,
            &self.first,
            &self.moved,
            &self.copied_bytes,
            &self.smallest,
            &self.largest,
        ];
        all.map(|count| count.load(Ordering::Relaxed))
    }
}

/// In a child after a fork: nothing has been allocated yet.
pub fn forget_all() {
    ADDED.iter().for_each(|added| added.store(0, Ordering::Relaxed));
}
