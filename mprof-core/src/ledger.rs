//! The balance of the heap: bytes and objects alive, now, at the peak, and over time.
//!
//! *The composition of the heap at its peak* is kept without snapshots. The balance climbs, or it does not. While it
//! climbs, each allocation makes a new maximum, and the counters themselves are what the heap is made of at the
//! peak. With the first free after a maximum an *epoch* begins: from then on a counter that is to change for the
//! first time in the epoch puts what it held aside. So at the end the heap at its peak is, for each counter, what was
//! put aside in the present epoch, or what it holds now if it did not change since (or if the balance still climbs).
//!
//! Each thread has a [`Balance`] with some *headroom*: bytes that it may allocate before there can be a new maximum.
//! With one thread it has all there is, and the peak is exact. With several, each takes headroom from a common store
//! and gives back, in batches; what the others have in hand when one finds the store empty is what the peak can be
//! off by.

use core::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use crate::arena::Zeroable;
use crate::curve;
use crate::heap::{self, Heap};
use crate::records::Count;

/// An epoch: the time since the first free after a maximum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Epoch(u64);

/// Marks of epochs: 1 to this; then they are used anew.
const MARKS: u64 = 0xffff;

impl Epoch {
    /// Its number.
    pub fn number(self) -> u64 {
        self.0
    }

    /// A mark that no other epoch of the same round has; never 0.
    pub fn mark(self) -> u16 {
        (self.0 % MARKS) as u16 + 1
    }

    /// Counts how often marks have been used anew.
    pub fn round(self) -> u64 {
        self.0 / MARKS
    }
}

/// Bytes that a thread passes on at once, where there are several.
const BATCH: i64 = 64 * 1024;

/// The epoch, times two, plus one while the balance climbs.
static STATE: AtomicU64 = AtomicU64::new(1);
/// The most bytes that were alive, as far as has been passed on.
static PEAK_BYTES: AtomicI64 = AtomicI64::new(0);
/// Objects alive then, allocations made before, and the time stamp of the first free after.
static PEAK_OBJECTS: AtomicU64 = AtomicU64::new(0);
static PEAK_NUMBER: AtomicU64 = AtomicU64::new(0);
static PEAK_TIME: AtomicU64 = AtomicU64::new(0);
/// The store of headroom, bytes.
static HEADROOM: AtomicI64 = AtomicI64::new(0);
/// Bytes allocated by the process, as far as has been passed on.
static ALLOCATED: AtomicU64 = AtomicU64::new(0);

/// The processor's time stamp.
pub fn time_stamp() -> u64 {
    // SAFETY: every x86-64 processor has the instruction.
    unsafe { core::arch::x86_64::_rdtsc() }
}

/// One thread's part of the balance.
#[derive(Debug)]
#[repr(C)]
pub struct Balance {
    /// Bytes that may be allocated before there can be a new maximum. Below 0 while the balance climbs: so much of
    /// the climb was not passed on yet.
    headroom: i64,
    /// Headroom below which something is to be done.
    floor: i64,
    /// Bytes to be allocated or freed before the next upkeep.
    until_upkeep: i64,
    /// Bytes and objects that this thread allocated and freed.
    totals: Totals,
    /// Bytes allocated by others, as far as this thread knows.
    elsewhere: u64,
    /// Not 0 while the balance climbs, and where others say that it began or ended to.
    changed: AtomicU64,
    /// Mark of the epoch, and which bits of it counters are to be compared in: none while the balance climbs.
    mark: u16,
    mask: u16,
    /// The epoch that `mark` is of.
    epoch: u64,
    /// Bytes from one upkeep to the next, and `totals` at the last one.
    interval: i64,
    passed_on: u64,
    /// The heap that this is the balance of.
    heap: *const Heap,
}

// SAFETY: integers and a raw pointer.
unsafe impl Zeroable for Balance {}

/// What a thread allocated and freed.
#[derive(Debug)]
#[repr(C)]
struct Totals {
    bytes: Count,
    objects: Count,
    freed_bytes: Count,
    freed_objects: Count,
}

impl Balance {
    /// Makes an all-zero balance ready for use. The first has no headroom, and climbs.
    pub fn start(&mut self, heap: *const Heap) {
        self.heap = heap;
        self.interval = curve::step() as i64;
        self.until_upkeep = self.interval;
        self.catch_up();
    }

    /// Books an allocation.
    #[inline(always)]
    pub fn allocate(&mut self, size: u64) {
        self.totals.bytes.add_owned(size);
        self.totals.objects.add_owned(1);
        self.headroom -= size as i64;
        self.until_upkeep -= size as i64;
        if (self.headroom - self.floor) | self.until_upkeep < 0 {
            self.attend();
        }
    }

    /// Books a free.
    #[inline(always)]
    pub fn free(&mut self, size: u64) {
        if self.changed.load(Ordering::Relaxed) != 0 {
            self.begin_epoch();
        }
        self.totals.freed_bytes.add_owned(size);
        self.totals.freed_objects.add_owned(1);
        self.headroom += size as i64;
        self.until_upkeep -= size as i64;
        if self.until_upkeep < 0 {
            self.attend();
        }
    }

    /// Bytes allocated by the process, as far as this thread knows.
    #[inline(always)]
    pub fn clock(&self) -> u64 {
        self.totals.bytes.get().wrapping_add(self.elsewhere)
    }

    /// Mark of the present epoch, and the bits of it in which a counter's mark must be the same, or else put aside
    /// what it holds.
    #[inline(always)]
    pub fn mark(&self) -> (u16, u16) {
        (self.mark, self.mask)
    }

    /// The present epoch.
    pub fn epoch(&self) -> Epoch {
        Epoch(self.epoch)
    }

    /// Bytes and objects alive, and allocated, of those of this thread.
    pub fn sums(&self) -> Sums {
        let totals = &self.totals;
        let freed = (totals.freed_bytes.get(), totals.freed_objects.get());
        let (bytes, objects) = (totals.bytes.get(), totals.objects.get());
        Sums {
            live_bytes: bytes.wrapping_sub(freed.0) as i64,
            live_objects: objects.wrapping_sub(freed.1) as i64,
            bytes,
            objects,
        }
    }

    /// Tells the thread that the balance began to climb, or that an epoch has begun.
    pub fn tell(&self) {
        self.changed.store(1, Ordering::Relaxed);
    }

    /// There is another thread now: shares what this one had for itself.
    pub fn share(&mut self) {
        if self.headroom < 0 {
            PEAK_BYTES.fetch_sub(self.headroom, Ordering::Relaxed);
            self.headroom = 0;
        }
        self.floor = self.floor.max(-BATCH);
        self.upkeep();
    }

    /// The headroom is used up, or upkeep is due.
    #[cold]
    #[inline(never)]
    fn attend(&mut self) {
        if self.headroom < self.floor {
            self.climb();
        }
        if self.until_upkeep < 0 {
            self.upkeep();
        }
    }

    /// More is allocated than there was headroom for: takes some from the store, or climbs.
    fn climb(&mut self) {
        let alone = heap::is_only();
        if !alone {
            let wanted = BATCH - self.headroom;
            let before = HEADROOM.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |store| {
                Some(store - wanted.min(store.max(0)))
            });
            self.headroom += wanted.min(before.unwrap_or(0).max(0));
            if self.headroom >= 0 {
                self.floor = 0;
                return;
            }
            // What is missing is a new maximum.
            PEAK_BYTES.fetch_sub(self.headroom, Ordering::Relaxed);
            self.headroom = 0;
        }
        self.floor = if alone { i64::MIN } else { -BATCH };
        if STATE.fetch_or(1, Ordering::Relaxed) & 1 == 0 {
            heap::all().for_each(|heap| heap.balance().tell());
        }
        self.catch_up();
    }

    /// The first free after a maximum.
    #[cold]
    #[inline(never)]
    fn begin_epoch(&mut self) {
        let state = STATE.load(Ordering::Relaxed);
        if state & 1 != 0 {
            if self.headroom < 0 {
                PEAK_BYTES.fetch_sub(self.headroom, Ordering::Relaxed);
                self.headroom = 0;
            }
            let sums = sums();
            PEAK_OBJECTS.store(sums.live_objects.max(0) as u64, Ordering::Relaxed);
            PEAK_NUMBER.store(sums.objects, Ordering::Relaxed);
            PEAK_TIME.store(time_stamp(), Ordering::Relaxed);
            if STATE.compare_exchange(state, state + 1, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
                heap::all().for_each(|heap| heap.balance().tell());
            }
        }
        self.floor = 0;
        self.catch_up();
    }

    /// Takes over the process's state.
    fn catch_up(&mut self) {
        let state = STATE.load(Ordering::Relaxed);
        let epoch = Epoch(state >> 1);
        self.changed.store(state & 1, Ordering::Relaxed);
        if epoch.round() != Epoch(self.epoch).round() {
            heap::clear_marks(self.heap);
        }
        self.epoch = epoch.0;
        self.mark = epoch.mark();
        self.mask = if state & 1 != 0 { 0 } else { u16::MAX };
    }

    /// Passes on what was allocated, gives headroom back, and draws the curve.
    fn upkeep(&mut self) {
        let passed = self.totals.bytes.get();
        let before = ALLOCATED.fetch_add(passed.wrapping_sub(self.passed_on), Ordering::Relaxed);
        let allocated = before.wrapping_add(passed.wrapping_sub(self.passed_on));
        self.passed_on = passed;
        self.elsewhere = allocated.wrapping_sub(passed);
        let alone = heap::is_only();
        if !alone {
            if self.headroom > 2 * BATCH {
                HEADROOM.fetch_add(self.headroom - BATCH, Ordering::Relaxed);
                self.headroom = BATCH;
            }
            self.catch_up();
        }
        curve::pass((self.interval - self.until_upkeep) as u64);
        let step = curve::step() as i64;
        self.interval = if alone { step } else { step.min(BATCH) };
        self.until_upkeep = self.interval;
    }
}

/// Bytes and objects.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sums {
    /// Bytes alive.
    pub live_bytes: i64,
    /// Objects alive.
    pub live_objects: i64,
    /// Bytes allocated.
    pub bytes: u64,
    /// Objects allocated.
    pub objects: u64,
}

/// What was allocated and freed under `[unknown]`.
static UNKNOWN: Totals = Totals {
    bytes: Count::new(),
    objects: Count::new(),
    freed_bytes: Count::new(),
    freed_objects: Count::new(),
};

/// Books an allocation of no thread's balance.
pub fn book_allocation(size: u64) {
    UNKNOWN.bytes.add_shared(size);
    UNKNOWN.objects.add_shared(1);
}

/// Books a free of no thread's balance; returns the epoch.
pub fn book_free(size: u64) -> Epoch {
    UNKNOWN.freed_bytes.add_shared(size);
    UNKNOWN.freed_objects.add_shared(1);
    Epoch(STATE.load(Ordering::Relaxed) >> 1)
}

/// The sums over all threads.
pub fn sums() -> Sums {
    let add = |sum: Sums, part: Sums| Sums {
        live_bytes: sum.live_bytes + part.live_bytes,
        live_objects: sum.live_objects + part.live_objects,
        bytes: sum.bytes + part.bytes,
        objects: sum.objects + part.objects,
    };
    let unknown = Sums {
        live_bytes: UNKNOWN.bytes.get().wrapping_sub(UNKNOWN.freed_bytes.get()) as i64,
        live_objects: UNKNOWN.objects.get().wrapping_sub(UNKNOWN.freed_objects.get()) as i64,
        bytes: UNKNOWN.bytes.get(),
        objects: UNKNOWN.objects.get(),
    };
    heap::all().map(|heap| heap.balance().sums()).fold(unknown, add)
}

/// The peak, for a dump.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Peak {
    /// Bytes alive.
    pub bytes: u64,
    /// Objects alive.
    pub objects: u64,
    /// How many allocations had been made.
    pub number: u64,
    /// Time stamp of the first free after it.
    pub time: u64,
    /// Bytes by which it can be off; 0 with one thread.
    pub uncertainty: u64,
    /// The epoch that began with that free; `None`: the heap now is the heap at its peak.
    pub epoch: Option<Epoch>,
}

/// The peak so far, while all threads rest.
pub fn peak() -> Peak {
    let state = STATE.load(Ordering::Relaxed);
    let heaps = heap::all().count() as u64;
    let uncertainty = heaps.saturating_sub(1) * 2 * BATCH as u64;
    if state & 1 != 0 {
        let sums = sums();
        return Peak {
            bytes: sums.live_bytes.max(0) as u64,
            objects: sums.live_objects.max(0) as u64,
            number: sums.objects,
            time: time_stamp(),
            uncertainty,
            epoch: None,
        };
    }
    Peak {
        bytes: PEAK_BYTES.load(Ordering::Relaxed).max(0) as u64,
        objects: PEAK_OBJECTS.load(Ordering::Relaxed),
        number: PEAK_NUMBER.load(Ordering::Relaxed),
        time: PEAK_TIME.load(Ordering::Relaxed),
        uncertainty,
        epoch: Some(Epoch(state >> 1)),
    }
}

/// In a child after a fork: nothing has been allocated yet.
pub fn forget_all() {
    STATE.store(1, Ordering::Relaxed);
    for count in [&PEAK_BYTES, &HEADROOM] {
        count.store(0, Ordering::Relaxed);
    }
    for count in [&PEAK_OBJECTS, &PEAK_NUMBER, &PEAK_TIME, &ALLOCATED] {
        count.store(0, Ordering::Relaxed);
    }
    for count in [&UNKNOWN.bytes, &UNKNOWN.objects, &UNKNOWN.freed_bytes, &UNKNOWN.freed_objects] {
        count.set(0);
    }
    curve::forget_all();
}
