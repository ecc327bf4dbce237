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

mod balance;

use core::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use crate::curve;
use crate::heap;
use crate::process::OPTIONS;
use crate::records::Count;

pub use balance::Balance;

/// An epoch: the time since the first free after a maximum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Epoch(u64);

/// Marks of epochs have 15 bits, and one that is always set; then they are used anew.
const MARK_BITS: u32 = 15;

impl Epoch {
    /// Its number.
    pub fn number(self) -> u64 {
        self.0
    }

    /// A mark that no other epoch of the same round has; never 0.
    pub fn mark(self) -> u16 {
        self.0 as u16 | 1 << MARK_BITS
    }

    /// Counts how often marks have been used anew.
    pub fn round(self) -> u64 {
        self.0 >> MARK_BITS
    }
}

/// Bytes that a thread passes on at once, where there are several, if nothing else is asked for.
pub const USUAL_BATCH: u32 = 64 * 1024;

/// The epoch, times two, plus one while the balance climbs.
static STATE: AtomicU64 = AtomicU64::new(1);
/// The most bytes that were alive, as far as has been passed on.
static PEAK_BYTES: AtomicI64 = AtomicI64::new(0);
/// Objects alive then, allocations made before, and the time stamp of the first free after.
static PEAK_OBJECTS: AtomicU64 = AtomicU64::new(0);
static PEAK_NUMBER: AtomicU64 = AtomicU64::new(0);
static PEAK_TIME: AtomicU64 = AtomicU64::new(0);
/// The store of headroom, bytes. What threads without a balance allocate and free comes from here and goes here: it may
/// be below 0.
static HEADROOM: AtomicI64 = AtomicI64::new(0);

/// What the process allocated, as far as has been passed on. All threads read it at each event: it has a line of
/// its own.
#[repr(align(64))]
struct Allocated {
    bytes: AtomicU64,
    objects: AtomicU64,
}

static ALLOCATED: Allocated = Allocated { bytes: AtomicU64::new(0), objects: AtomicU64::new(0) };

fn batch() -> i64 {
    OPTIONS.peak_batch.load(Ordering::Relaxed).max(1).into()
}

/// The time stamp at which the clock was stopped; 0 while it goes.
static STOPPED_AT: AtomicU64 = AtomicU64::new(0);

/// Stops the clock: a thread of the program is about to forbid itself to read it (prctl(2), `PR_SET_TSC`; strict
/// seccomp does so as well), and would be killed.
pub fn stop_clock() {
    STOPPED_AT.store(time_stamp(), Ordering::Relaxed);
}

/// The processor's time stamp.
pub fn time_stamp() -> u64 {
    let stopped_at = STOPPED_AT.load(Ordering::Relaxed);
    if stopped_at != 0 {
        return stopped_at;
    }
    // SAFETY: every x86-64 processor has the instruction.
    unsafe { core::arch::x86_64::_rdtsc() }
}

/// What a thread allocated and freed.
#[derive(Debug)]
#[repr(C)]
struct Totals {
    bytes: Count,
    objects: Count,
    freed_bytes: Count,
    freed_objects: Count,
}

impl Totals {
    const fn new() -> Totals {
        Totals {
            bytes: Count::new(),
            objects: Count::new(),
            freed_bytes: Count::new(),
            freed_objects: Count::new(),
        }
    }

    /// Frees are read before allocations, so that no more is freed than was allocated.
    fn sums(&self) -> Sums {
        let freed = (self.freed_bytes.get(), self.freed_objects.get());
        let (bytes, objects) = (self.bytes.get(), self.objects.get());
        Sums {
            live_bytes: bytes.wrapping_sub(freed.0) as i64,
            live_objects: objects.wrapping_sub(freed.1) as i64,
            bytes,
            objects,
        }
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

impl Sums {
    fn plus(self, other: Sums) -> Sums {
        Sums {
            live_bytes: self.live_bytes + other.live_bytes,
            live_objects: self.live_objects + other.live_objects,
            bytes: self.bytes + other.bytes,
            objects: self.objects + other.objects,
        }
    }
}

/// What was allocated and freed by no thread's balance.
static ELSEWHERE: Totals = Totals::new();

/// Books an allocation of no thread's balance; returns the epoch.
pub fn book_allocation(size: u64) -> Epoch {
    ELSEWHERE.bytes.add_shared(size);
    ELSEWHERE.objects.add_shared(1);
    ALLOCATED.bytes.fetch_add(size, Ordering::Relaxed);
    ALLOCATED.objects.fetch_add(1, Ordering::Relaxed);
    HEADROOM.fetch_sub(size as i64, Ordering::Relaxed);
    Epoch(STATE.load(Ordering::Relaxed) >> 1)
}

/// Notes how many objects are alive at the peak, and had been allocated.
#[inline(always)]
fn note_peak(sums: Sums) {
    PEAK_OBJECTS.store(sums.live_objects.max(0) as u64, Ordering::Relaxed);
    PEAK_NUMBER.store(sums.objects, Ordering::Relaxed);
}

/// Notes the peak, if the balance climbs, and begins an epoch.
fn end_climb() {
    let state = STATE.load(Ordering::SeqCst);
    if state & 1 == 0 {
        return;
    }
    note_peak(sums());
    PEAK_TIME.store(time_stamp(), Ordering::Relaxed);
    if STATE.compare_exchange(state, state + 1, Ordering::SeqCst, Ordering::Relaxed).is_ok() {
        heap::all().for_each(|heap| heap.balance().tell());
    }
}

/// Books a free of no thread's balance; returns the epoch.
pub fn book_free(size: u64) -> Epoch {
    end_climb();
    ELSEWHERE.freed_bytes.add_shared(size);
    ELSEWHERE.freed_objects.add_shared(1);
    HEADROOM.fetch_add(size as i64, Ordering::Relaxed);
    Epoch(STATE.load(Ordering::Relaxed) >> 1)
}

/// Bytes by which the clocks of two threads can be apart: what each of the others has not passed on.
static APART: AtomicU64 = AtomicU64::new(0);

/// How far the clocks of two threads can be apart, KiB.
pub fn clocks_apart() -> u32 {
    ((APART.load(Ordering::Relaxed) >> 10) + 1) as u32
}

/// There is another balance.
pub fn add_balance() {
    APART.fetch_add(batch() as u64, Ordering::Relaxed);
}

/// The sums over all threads.
pub fn sums() -> Sums {
    heap::current().map(|heap| heap.balance().sums()).fold(ELSEWHERE.sums(), Sums::plus)
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
    /// Time stamp of the first free after it, or of one shortly before (see `balance::STAMPS`).
    pub time: u64,
    /// Bytes by which it can be off; 0 with one thread.
    pub uncertainty: u64,
    /// The epoch that began with that free; `None`: the heap now is the heap at its peak.
    pub epoch: Option<Epoch>,
}

/// Bytes by which the peak can be off. With several threads each can have two batches of headroom in hand when
/// another finds none, or have climbed by a batch that is not passed on. What no thread's balance has booked may have
/// come and gone unnoticed.
fn uncertainty() -> u64 {
    let others = (heap::all().count() as u64).saturating_sub(1);
    let unnoticed = ELSEWHERE.bytes.get().saturating_add(ELSEWHERE.freed_bytes.get());
    (others * 2 * batch() as u64).saturating_add(unnoticed)
}

/// The peak so far, while all threads rest.
pub fn peak() -> Peak {
    let state = STATE.load(Ordering::Relaxed);
    let uncertainty = uncertainty();
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
    // Threads that have not noticed yet that the climb is over have not passed on their part in it.
    let missing = |heap: &heap::HeapView| heap.balance().missing();
    let bytes = PEAK_BYTES.load(Ordering::Relaxed) - heap::current().map(missing).sum::<i64>();
    Peak {
        bytes: bytes.max(0) as u64,
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
    for count in [&PEAK_OBJECTS, &PEAK_NUMBER, &PEAK_TIME, &APART, &ALLOCATED.bytes, &ALLOCATED.objects] {
        count.store(0, Ordering::Relaxed);
    }
    for count in [&ELSEWHERE.bytes, &ELSEWHERE.objects, &ELSEWHERE.freed_bytes, &ELSEWHERE.freed_objects] {
        count.set(0);
    }
    curve::forget_all();
}
