//! One thread's part of the balance.

use core::sync::atomic::{AtomicU64, Ordering};

use super::{
    ALLOCATED, ELSEWHERE, Epoch, HEADROOM, PEAK_BYTES, PEAK_TIME, STATE, Sums, Totals, batch, end_climb,
    note_peak, time_stamp,
};
use crate::arena::Zeroable;
use crate::curve;
use crate::heap::{self, Heap};

/// Where a program makes a new maximum with every other call, reading the clock would cost more than all the rest: the time
/// of the peak is looked at once in this part of the bytes from one upkeep to the next, which are those from one point of
/// the curve to the next, and …
const STAMPS: i64 = 32;
/// … always while that part is this many bytes, as it is at first.
const LEAST_APART: i64 = curve::FIRST_STEP as i64 / STAMPS;

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
    pub(super) fn tell(&self) {
        self.changed.store(1, Ordering::SeqCst);
    }

    /// What of a climb was not passed on yet, below 0; else 0.
    pub(super) fn missing(&self) -> i64 {
        self.headroom.min(0)
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
        curve::pass(self.heap, (self.interval - self.until_upkeep).max(0) as u64);
        let step = curve::step() as i64;
        self.interval = if alone { step } else { step.min(batch()) };
        self.until_upkeep = self.interval;
        self.stamp_below = i64::MAX;
    }
}
