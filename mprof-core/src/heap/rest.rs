//! Heaps at rest, for one that reads them all, or begins anew.
//!
//! Who asks for a rest sets a bit in each heap's attention word, and waits until no owner is in its heap. A thread that
//! got its heap meanwhile would know nothing of that: so none gets one, or gives one up, while heaps rest.

use core::sync::atomic::{AtomicU32, Ordering};

use super::attention::PAUSE;
use super::list;
use crate::mark::Doing;
use crate::sys;
use crate::thread::Thread;

/// How many ask for a rest now.
static RESTING: AtomicU32 = AtomicU32::new(0);
/// Threads that are getting a heap now, or giving it up.
static CHANGING: AtomicU32 = AtomicU32::new(0);

/// How often in a row it was waited in vain for these.
static IN_VAIN: AtomicU32 = AtomicU32::new(0);
/// After so many times they are waited for no more.
const MOST_IN_VAIN: u32 = 20;

/// How long to wait for threads to leave their heaps, microseconds.
const PATIENCE: u32 = 100_000;
/// How long a thread that comes or goes waits for a rest to end, microseconds: one may never end, where a jump out of a
/// handler has left it.
const LONGEST_REST: u32 = 10_000_000;
const TURN: u32 = 20;

/// Whether somebody wants heaps to rest.
pub(super) fn is_asked_for() -> bool {
    RESTING.load(Ordering::SeqCst) != 0
}

/// Waits while `condition` holds, so many microseconds at most in all; returns whether it holds still.
fn waited_in_vain(patience: &mut u32, condition: impl Fn() -> bool) -> bool {
    while condition() {
        if *patience < TURN {
            return true;
        }
        sys::sleep_microseconds(TURN);
        *patience -= TURN;
    }
    false
}

/// Other threads' heaps at rest. Threads go on when it is dropped.
#[derive(Debug)]
pub struct Rest {
    is_complete: bool,
}

impl Rest {
    /// Asks all threads to stay out of their heaps, and waits until they are (100 ms at most: a thread that was
    /// stopped within a hook is not waited for; its counts may then be off by its one event).
    pub fn ask() -> Rest {
        let own = Thread::current().attached().map(|(_, heap)| heap.cast_const());
        let mut patience = PATIENCE;
        RESTING.fetch_add(1, Ordering::SeqCst);
        let mut is_complete = !waited_in_vain(&mut patience, || CHANGING.load(Ordering::SeqCst) != 0);
        if is_complete {
            IN_VAIN.store(0, Ordering::Relaxed);
        } else if IN_VAIN.fetch_add(1, Ordering::Relaxed) + 1 >= MOST_IN_VAIN {
            // That thread has not been stopped but jumped out of the change.
            CHANGING.store(0, Ordering::SeqCst);
        }
        for view in list::all() {
            view.attention().fetch_or(PAUSE, Ordering::SeqCst);
        }
        sys::barrier_everywhere();
        for view in list::all() {
            let is_in_heap = || Some(view.address()) != own && matches!(view.mark().get(), Doing::Heap(_));
            is_complete &= !waited_in_vain(&mut patience, is_in_heap);
        }
        Rest { is_complete }
    }

    /// Whether no other thread is in its heap, or on its way to one.
    pub fn is_complete(&self) -> bool {
        self.is_complete
    }
}

impl Drop for Rest {
    fn drop(&mut self) {
        step_back(&RESTING);
        for view in list::all() {
            view.attention().fetch_and(!PAUSE, Ordering::Release);
        }
    }
}

/// A thread gets a heap, or gives it up: no heap rests meanwhile.
pub(super) struct Change(());

impl Change {
    /// Begins when no heap rests any more.
    pub(super) fn begin() -> Change {
        let mut patience = LONGEST_REST;
        loop {
            CHANGING.fetch_add(1, Ordering::SeqCst);
            if !is_asked_for() {
                return Change(());
            }
            step_back(&CHANGING);
            if waited_in_vain(&mut patience, is_asked_for) {
                RESTING.store(0, Ordering::SeqCst);
            }
        }
    }
}

impl Drop for Change {
    fn drop(&mut self) {
        step_back(&CHANGING);
    }
}

/// Takes one away, unless it was reset meanwhile.
fn step_back(count: &AtomicU32) {
    let _ = count.fetch_update(Ordering::SeqCst, Ordering::Relaxed, |count| count.checked_sub(1));
}

/// In a child after a fork: its parent's threads are not here.
pub(super) fn forget() {
    RESTING.store(0, Ordering::Relaxed);
    CHANGING.store(0, Ordering::Relaxed);
}
