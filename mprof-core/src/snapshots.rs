//! What was alive at several moments, where it is asked for (`MPROF_SNAPSHOTS`): at equal steps of bytes allocated and
//! freed. When there are as many as were asked for, the step grows and those between are given up.

use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicU32, Ordering};

use crate::{ledger, records, sys};

/// Snapshots at most.
pub const MOST: usize = 1000;

/// What was alive of one record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Alive {
    /// The record's number.
    pub record: u32,
    /// Objects.
    pub objects: u64,
    /// Bytes.
    pub bytes: u64,
}

/// What was alive at a moment.
#[derive(Debug, Clone, Copy)]
pub struct Snapshot {
    /// Time stamp.
    pub time: u64,
    /// Bytes and objects allocated so far.
    pub bytes: u64,
    /// See `bytes`.
    pub objects: u64,
    passed: u64,
    /// A mapping of `room` bytes, in which `count` are in use; null where nothing was alive.
    alive: *mut Alive,
    count: usize,
    room: usize,
}

impl Snapshot {
    const NONE: Snapshot = Snapshot {
        time: 0,
        bytes: 0,
        objects: 0,
        passed: 0,
        alive: core::ptr::null_mut(),
        count: 0,
        room: 0,
    };

    /// What was alive, by rising record.
    pub fn alive(&self) -> &[Alive] {
        if self.alive.is_null() {
            return &[];
        }
        // SAFETY: the mapping holds so many.
        unsafe { core::slice::from_raw_parts(self.alive, self.count) }
    }

    /// Looks what is alive now. `None` without memory.
    fn take(sums: ledger::Sums) -> Option<Snapshot> {
        let most: usize = records::chunks().map(|chunk| chunk.used()).sum();
        let room = (most * size_of::<Alive>()).next_multiple_of(sys::PAGE);
        let alive: *mut Alive = if most > 0 { sys::map(room)?.cast() } else { core::ptr::null_mut() };
        let mut count = 0;
        let found = records::chunks().flat_map(|chunk| chunk.alive());
        for (record, objects, bytes) in found.take(most) {
            // SAFETY: there is room for `most`.
            unsafe { alive.add(count).write(Alive { record, objects, bytes }) };
            count += 1;
        }
        let time = ledger::time_stamp();
        let passed = passed(sums);
        Some(Snapshot { time, bytes: sums.bytes, objects: sums.objects, passed, alive, count, room })
    }

    fn give_up(self) {
        if !self.alive.is_null() {
            // SAFETY: the snapshot is not in the list any more.
            unsafe { sys::unmap(self.alive.cast(), self.room) };
        }
    }
}

/// Bytes allocated and freed.
fn passed(sums: ledger::Sums) -> u64 {
    sums.bytes.wrapping_mul(2).wrapping_sub(sums.live_bytes.max(0) as u64)
}

struct List {
    snapshots: [Snapshot; MOST],
    length: usize,
    /// Bytes from one to the next.
    step: u64,
}

struct Shared(UnsafeCell<List>);

// SAFETY: used by the thread that draws the curve only.
unsafe impl Sync for Shared {}

static LIST: Shared = Shared(UnsafeCell::new(List { snapshots: [Snapshot::NONE; MOST], length: 0, step: 0 }));
/// How many are asked for; 0: none.
static WANTED: AtomicU32 = AtomicU32::new(0);

/// Asks for so many snapshots at most.
pub fn ask_for(count: u32) {
    WANTED.store(count.min(MOST as u32), Ordering::Relaxed);
}

/// Takes a snapshot if one is due. By the thread that draws the curve.
pub(crate) fn draw(sums: ledger::Sums) {
    let wanted = WANTED.load(Ordering::Relaxed) as usize;
    if wanted > 0 {
        // SAFETY: this thread draws.
        unsafe { &mut *LIST.0.get() }.draw(wanted, sums);
    }
}

impl List {
    fn draw(&mut self, wanted: usize, sums: ledger::Sums) {
        let passed = passed(sums);
        let last = self.snapshots[..self.length].last().map_or(0, |last| last.passed);
        if passed.saturating_sub(last) < self.step {
            return;
        }
        if self.length >= wanted {
            self.step = (2 * self.step).max(passed / (wanted as u64 / 2).max(1) + 1);
            // A jump out of the midst of this would leave the same snapshot twice.
            sys::with_signals_blocked(sys::ASYNCHRONOUS, 0, || self.thin_out());
            let last = self.snapshots[..self.length].last().map_or(0, |last| last.passed);
            if self.length >= wanted || passed.saturating_sub(last) < self.step {
                return;
            }
        }
        if let Some(snapshot) = Snapshot::take(sums) {
            self.snapshots[self.length] = snapshot;
            self.length += 1;
        }
    }

    /// Gives up those that are not a step from the one before.
    fn thin_out(&mut self) {
        let (mut kept, mut last) = (0, 0);
        for index in 0..self.length {
            let snapshot = self.snapshots[index];
            if snapshot.passed.saturating_sub(last) >= self.step {
                self.snapshots[kept] = snapshot;
                (kept, last) = (kept + 1, snapshot.passed);
            } else {
                snapshot.give_up();
            }
        }
        self.length = kept;
    }
}

/// The snapshots, for a dump. No thread may be drawing.
pub fn all() -> &'static [Snapshot] {
    // SAFETY: the caller sees to it that nothing is drawn.
    let list = unsafe { &*LIST.0.get() };
    &list.snapshots[..list.length]
}

/// In a child after a fork: none has been taken yet. `gives_back`: nobody has one in hand.
pub(crate) fn forget_all(gives_back: bool) {
    // SAFETY: there is no other thread.
    let list = unsafe { &mut *LIST.0.get() };
    if gives_back {
        list.snapshots[..list.length].iter().for_each(|snapshot| snapshot.give_up());
    }
    (list.length, list.step) = (0, 0);
}
