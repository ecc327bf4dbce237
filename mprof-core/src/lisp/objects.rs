//! What the hooks of a Lisp system's allocator do, and those of any garbage collector's.
//!
//! An object is counted after the real call, as everywhere. The body of an object (a vector's elements, an instance's
//! slots) is allocated by itself, right after the object: it adds bytes to the object, and is none. The collector frees,
//! so nothing here is ever freed, and none of it is in the balance of the heap.

use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, Ordering};

use mprof_format::kinds::{Bin, Category};

use super::kinds::{self, KindCounts};
use crate::arena::{Zeroable, new_zeroed};
use crate::bins::{self, Bins};
use crate::events::{self, Situation};
use crate::heap::{self, Heap, HeapView};
use crate::mark::Doing;
use crate::records::{self, Counted, Record};
use crate::thread::Thread;
use crate::unwind::Entry;

/// What a heap keeps for this.
#[derive(Debug)]
#[repr(C)]
pub struct Part {
    /// By type; null before the first object.
    counts: AtomicPtr<KindCounts>,
    /// By size, of a collector that knows no types; null before the first object.
    sizes: AtomicPtr<Bins>,
    /// Counter record of the object with a body that was made last, if there is one.
    owner: Option<&'static Record>,
    /// Its type.
    owner_kind: u8,
}

// SAFETY: integers, raw pointers, and an option of a reference, which is null where it is `None`.
unsafe impl Zeroable for Part {}

/// Counts what no heap counts.
static COMMON: KindCounts = KindCounts::new();
static COMMON_SIZES: Bins = Bins::new();

/// Does something in the calling thread's heap; `otherwise` where it has none, or is in it already.
#[inline(always)]
fn in_heap(entry: Entry, count: impl Fn(&mut Heap), otherwise: impl Fn()) {
    if let Some((mark, heap)) = Thread::current().ready() {
        mark.set(Doing::Heap(entry.sp));
        // SAFETY: the mark says that the thread is in its heap.
        count(unsafe { &mut *heap });
        mark.set(Doing::Program);
        return;
    }
    in_heap_unready(entry, &count, &otherwise);
}

#[cold]
#[inline(never)]
fn in_heap_unready(entry: Entry, count: &dyn Fn(&mut Heap), otherwise: &dyn Fn()) {
    if let Situation::Ready(mark, heap) = events::situation(entry) {
        let before = mark.get();
        mark.set(Doing::Heap(entry.sp));
        // SAFETY: as above.
        count(unsafe { &mut *heap });
        mark.set(before);
    } else {
        otherwise();
    }
}

/// Counts an object of a type: `bytes` without its body.
///
/// # Safety
/// `entry` is that of a hook of the calling thread that has not returned.
#[inline(always)]
pub unsafe fn object(entry: Entry, kind: u8, bytes: usize) {
    let of = &kinds::all()[usize::from(kind) % kinds::KINDS];
    let category = of.category.index();
    let count = |heap: &mut Heap| {
        // SAFETY: as the caller vouches.
        let Ok(counted) = (unsafe { heap.count_collected(entry, category, 1, bytes as u64) }) else {
            heap.lisp.owner = None;
            return;
        };
        let part = &mut heap.lisp;
        if of.has_body {
            (part.owner, part.owner_kind) = (counted.map(Counted::record), kind);
        }
        part.counts().add_owned(kind, 1, bytes as u64);
    };
    in_heap(entry, count, || {
        records::allocate_unknown_collected(u32::from(category), 1, bytes as u64);
        COMMON.add_shared(kind, 1, bytes as u64);
    });
}

/// Counts the body of an object: it belongs to the object with a body that the thread made last. Where there is none, it
/// counts as an object of type `alone`.
///
/// # Safety
/// As for [`object`].
#[inline(always)]
pub unsafe fn body(entry: Entry, bytes: usize, alone: u8) {
    let orphan = core::cell::Cell::new(false);
    let count = |heap: &mut Heap| {
        let part = &heap.lisp;
        match part.owner {
            Some(record) => {
                record.add(0, bytes as u64);
                part.counts().add_owned(part.owner_kind, 0, bytes as u64);
            }
            None => orphan.set(true),
        }
    };
    in_heap(entry, count, || orphan.set(true));
    if orphan.get() {
        // SAFETY: as the caller vouches.
        unsafe { object(entry, alone, bytes) };
    }
}

/// Counts objects of a collector that knows no types, each of so many bytes.
///
/// # Safety
/// As for [`object`].
pub unsafe fn collected(entry: Entry, objects: u64, bytes: usize) {
    let category = Category::of_collected_size(bytes as u64).index();
    let all_bytes = objects * bytes as u64;
    let count = |heap: &mut Heap| {
        // SAFETY: as the caller vouches.
        if unsafe { heap.count_collected(entry, category, objects, all_bytes) }.is_err() {
            return;
        }
        let sizes = heap.lisp.sizes();
        (0..objects).for_each(|_| sizes.allocate(bytes));
    };
    in_heap(entry, count, || {
        records::allocate_unknown_collected(u32::from(category), objects, all_bytes);
        (0..objects).for_each(|_| COMMON_SIZES.allocate_shared(bytes));
    });
}

impl Part {
    /// Another thread has the heap now.
    pub fn begin_thread(&mut self) {
        self.owner = None;
    }

    /// Forgets all that was recorded, as the owner.
    pub fn begin_anew(&mut self) {
        self.owner = None;
        if let Some(counts) = made(&self.counts) {
            counts.clear();
        }
        if let Some(sizes) = made(&self.sizes) {
            sizes.clear();
        }
    }

    /// The owner's counts; without memory the common ones.
    #[inline(always)]
    fn counts(&self) -> &'static KindCounts {
        made(&self.counts).unwrap_or_else(|| make(&self.counts).unwrap_or(&COMMON))
    }

    fn sizes(&self) -> &'static Bins {
        made(&self.sizes).unwrap_or_else(|| make(&self.sizes).unwrap_or(&COMMON_SIZES))
    }
}

/// What is there, if it was made.
#[inline(always)]
fn made<T>(place: &AtomicPtr<T>) -> Option<&'static T> {
    // SAFETY: only `make` stores here, a reference that stays.
    unsafe { place.load(Ordering::Acquire).as_ref() }
}

/// Makes it; only the owner of the heap does. `None` without memory.
#[cold]
#[inline(never)]
fn make<T: Zeroable>(place: &AtomicPtr<T>) -> Option<&'static T> {
    let fresh: *mut T = new_zeroed::<T>().map_or(null_mut(), |fresh| fresh);
    place.store(fresh, Ordering::Release);
    made(place)
}

/// Objects and bytes of a type, of all threads.
pub fn sum_of_kind(kind: usize) -> (u64, u64) {
    let counts = heap::current().filter_map(|view| made(&view.lisp().counts));
    counts.chain(core::iter::once(&COMMON)).fold((0, 0), |(objects, bytes), counts| {
        let (more, more_bytes) = counts.get(kind);
        (objects + more, bytes + more_bytes)
    })
}

/// Objects of one size (an index as for [`bins::sum`]) of a collector that knows no types, of all threads.
pub fn sum_of_size(index: usize) -> Bin {
    let all = heap::current().map(HeapView::lisp).filter_map(|part| made(&part.sizes));
    bins::sum(index, all.chain(core::iter::once(&COMMON_SIZES)))
}

/// Forgets what no heap counts: in a child after a fork, or when the recording begins anew.
pub fn forget_all() {
    COMMON.clear();
    COMMON_SIZES.clear();
}
