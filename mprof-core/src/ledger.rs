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
use crate::process::OPTIONS;
use crate::records::Count;

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

/// Where a program makes a new maximum with every other call, reading the clock would cost more than all the rest: the time
/// of the peak is looked at once in this part of the bytes from one upkeep to the next, which are those from one point of
/// the curve to the next, and …
const STAMPS: i64 = 32;
/// … always while that part is this many bytes, as it is at first.
const LEAST_APART: i64 = curve::FIRST_STEP as i64 / STAMPS;

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

/// One thread's part of the balance.
///
/// At all times the highest balance passed on is the balance now plus the headroom of all threads and of the store.
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
    /// Bytes of these that were passed on.
    passed_on: u64,
    /// Not 0 while the balance climbs, and where others say that it began or ended to.
    changed: AtomicU64,
    /// Mark of the epoch, and which bits of it counters are to be compared in: none while the balance climbs.
    mark: u16,
    mask: u16,
    /// The epoch that `mark` is of.
    epoch: u64,
    /// Bytes from one upkeep to the next.
    interval: i64,
    /// The time of a peak is looked at when less than this remains before the next upkeep.
    stamp_below: i64,
    /// Objects that were passed on.
    passed_on_objects: u64,
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

impl Balance {
    /// Makes an all-zero balance ready for use. The first has no headroom, and climbs.
    pub fn start(&mut self, heap: *const Heap) {
        self.heap = heap;
        self.interval = (curve::step() as i64).min(batch());
        self.until_upkeep = self.interval;
        self.stamp_below = i64::MAX;
        self.catch_up(heap::is_only());
    }

    /// Books an allocation.
    #[inline(always)]
    pub fn allocate(&mut self, size: u64) {
        self.totals.bytes.add_owned(size);
        self.totals.objects.add_owned(1);
        self.headroom -= size as i64;
        self.until_upkeep -= size as i64;
        if self.headroom.wrapping_sub(self.floor) | self.until_upkeep < 0 {
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

    /// Bytes allocated by the process: by this thread and, as far as they have passed it on, by the others.
    #[inline(always)]
    pub fn clock(&self) -> u64 {
        let own = self.totals.bytes.get().wrapping_sub(self.passed_on);
        own.wrapping_add(ALLOCATED.bytes.load(Ordering::Relaxed))
    }

    /// Objects allocated by the process, likewise.
    pub fn allocations(&self) -> u64 {
        let own = self.totals.objects.get().wrapping_sub(self.passed_on_objects);
        own.wrapping_add(ALLOCATED.objects.load(Ordering::Relaxed))
    }

    /// Mark of the present epoch, and the bits of it in which a counter's mark must be the same, or else put aside
    /// what it holds.
    #[inline(always)]
    pub fn mark(&self) -> (u16, u16) {
        (self.mark, self.mask)
    }

    /// The present epoch, as far as this thread has noticed.
    #[inline(always)]
    pub fn epoch(&self) -> Epoch {
        Epoch(self.epoch)
    }

    /// Bytes and objects alive, and allocated, of those of this thread.
    pub fn sums(&self) -> Sums {
        self.totals.sums()
    }

    /// Tells the thread that the balance began to climb, or that an epoch has begun.
    fn tell(&self) {
        self.changed.store(1, Ordering::SeqCst);
    }

    /// There is another thread now: shares what this one had for itself. By the thread itself, or for it while it
    /// rests.
    pub fn share(&mut self) {
        self.raise_peak(false);
        self.upkeep();
    }

    /// The thread ends: what it has in hand is for others.
    pub fn retire(&mut self) {
        self.upkeep();
        if !heap::is_only() {
            self.raise_peak(false);
            HEADROOM.fetch_add(core::mem::take(&mut self.headroom), Ordering::Relaxed);
        }
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
        self.draw_on_store(alone);
        if self.headroom >= 0 {
            self.floor = 0;
            return;
        }
        if alone {
            STATE.store(STATE.load(Ordering::Relaxed) | 1, Ordering::Relaxed);
            self.follow_climb(i64::MIN);
            return;
        }
        self.raise_peak(false);
        if STATE.fetch_or(1, Ordering::SeqCst) & 1 == 0 {
            heap::all().for_each(|heap| heap.balance().tell());
        }
        self.catch_up(false);
    }

    /// The first free after a maximum.
    #[cold]
    #[inline(never)]
    fn begin_epoch(&mut self) {
        if heap::is_only() {
            self.begin_epoch_alone();
        } else {
            self.raise_peak(false);
            end_climb();
            self.catch_up(false);
        }
    }

    /// The same where there is no other thread: a program may make a new maximum with every other call.
    #[inline(always)]
    fn begin_epoch_alone(&mut self) {
        self.raise_peak(true);
        let state = STATE.load(Ordering::Relaxed);
        if state & 1 != 0 {
            note_peak(ELSEWHERE.sums().plus(self.sums()));
            if self.until_upkeep <= self.stamp_below {
                PEAK_TIME.store(time_stamp(), Ordering::Relaxed);
                self.stamp_below = self.until_upkeep - (self.interval / STAMPS - LEAST_APART).max(0);
            }
            STATE.store(state + 1, Ordering::Relaxed);
        }
        self.catch_up(true);
    }

    /// Takes headroom from the store: all of it when alone, else a batch more than is missing.
    fn draw_on_store(&mut self, alone: bool) {
        if HEADROOM.load(Ordering::Relaxed) == 0 {
            return;
        }
        let wanted = if alone { i64::MAX } else { batch() - self.headroom };
        let taken = |store: i64| wanted.min(store);
        let store = HEADROOM
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |store| Some(store - taken(store)))
            .unwrap_or(0);
        self.headroom += taken(store);
    }

    /// Where more was allocated than there was headroom for, in the store too, the difference is a new maximum.
    #[inline(always)]
    fn raise_peak(&mut self, alone: bool) {
        if self.headroom < 0 {
            self.draw_on_store(alone);
        }
        if self.headroom < 0 {
            let climbed = core::mem::take(&mut self.headroom);
            if alone {
                PEAK_BYTES.store(PEAK_BYTES.load(Ordering::Relaxed) - climbed, Ordering::Relaxed);
            } else {
                PEAK_BYTES.fetch_sub(climbed, Ordering::Relaxed);
            }
        }
    }

    /// Takes over the process's state.
    #[inline(always)]
    fn catch_up(&mut self, alone: bool) {
        // What is told from here on is not overlooked: it is told after the state has changed.
        self.changed.store(0, if alone { Ordering::Relaxed } else { Ordering::SeqCst });
        let state = STATE.load(Ordering::SeqCst);
        let epoch = Epoch(state >> 1);
        if epoch.round() != Epoch(self.epoch).round() {
            heap::clear_marks(self.heap);
        }
        self.epoch = epoch.0;
        self.mark = epoch.mark();
        if state & 1 != 0 {
            self.follow_climb(if alone { i64::MIN } else { -batch() });
        } else {
            self.raise_peak(alone);
            self.mask = u16::MAX;
            self.floor = 0;
        }
    }

    /// The balance climbs: counters need not put anything aside.
    #[inline(always)]
    fn follow_climb(&mut self, floor: i64) {
        self.changed.store(1, Ordering::Relaxed);
        self.mask = 0;
        self.floor = floor;
    }

    /// Passes on what was allocated, gives headroom back, and draws the curve.
    fn upkeep(&mut self) {
        let (bytes, objects) = (self.totals.bytes.get(), self.totals.objects.get());
        ALLOCATED.bytes.fetch_add(bytes.wrapping_sub(self.passed_on), Ordering::Relaxed);
        ALLOCATED.objects.fetch_add(objects.wrapping_sub(self.passed_on_objects), Ordering::Relaxed);
        (self.passed_on, self.passed_on_objects) = (bytes, objects);
        let alone = heap::is_only();
        if !alone {
            let batch = batch();
            if self.headroom > batch {
                HEADROOM.fetch_add(self.headroom - batch / 2, Ordering::Relaxed);
                self.headroom = batch / 2;
            }
            self.catch_up(false);
        }
        curve::pass((self.interval - self.until_upkeep).max(0) as u64);
        let step = curve::step() as i64;
        self.interval = if alone { step } else { step.min(batch()) };
        self.until_upkeep = self.interval;
        self.stamp_below = i64::MAX;
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
    /// Time stamp of the first free after it, or of one shortly before (see [`STAMPS`]).
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
    let missing = |heap: &heap::HeapView| heap.balance().headroom.min(0);
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
