//! Another unwinder, as a second opinion on each chain (`MPROF_VERIFY=1`) or in place of ours
//! (`MPROF_UNWIND=backtrace`).

use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering};

use crate::heap::Heap;
use crate::location::{FrameKey, SPACE_LISP, SPACE_THREAD};
use crate::note;
use crate::records;
use crate::unwind::State;

/// Walks the calling thread's stack outward and hands over, from the frame that goes on at `first` on, the address
/// that each frame goes on at; stops when `visit` returns false.
pub type Trace = fn(first: usize, visit: &mut dyn FnMut(usize) -> bool);

static TRACE: AtomicPtr<()> = AtomicPtr::new(core::ptr::null_mut());
static COMPARED: AtomicU64 = AtomicU64::new(0);
static DIFFERENT: AtomicU64 = AtomicU64::new(0);

/// Differences described in a line each; further ones are only counted.
const DESCRIBED: u32 = 3;
static DESCRIPTIONS: AtomicU32 = AtomicU32::new(0);

/// Sets the unwinder.
pub fn set(trace: Trace) {
    TRACE.store(trace as *mut (), Ordering::Release);
}

/// The unwinder, if one was set.
pub fn get() -> Option<Trace> {
    let trace = TRACE.load(Ordering::Acquire);
    // SAFETY: only `set` stores here, and it stores such a function.
    (!trace.is_null()).then(|| unsafe { core::mem::transmute::<*mut (), Trace>(trace) })
}

/// Chains compared, and those of them that differed.
pub fn counts() -> (u64, u64) {
    (COMPARED.load(Ordering::Relaxed), DIFFERENT.load(Ordering::Relaxed))
}

/// Compares the chain that was just counted in `record` with the reference's: it is to be equal, but where the
/// reference stops for want of unwind information (ours may go on by frame pointer) or ours was cut.
#[cold]
#[inline(never)]
pub fn check(heap: &Heap, caller: State, record: u32) {
    let Some(trace) = get().filter(|_| !records::is_forgotten(record)) else { return };
    let node = heap.node_of(record);
    let whole = heap.frames(node).all(|key| key != FrameKey::UNKNOWN && key != FrameKey::TRUNCATED);
    // Of an interpreter's frames only the function that they run is known, not where they go on.
    let mut ours = heap
        .frames(node)
        .take_while(|key| key.space() > SPACE_THREAD)
        .map(|key| (key.space() != SPACE_LISP).then_some(key.location().address()));
    let mut depth = 0;
    let mut difference = None;
    trace(caller.location.address(), &mut |theirs| {
        let our = ours.next();
        let equal = our.is_some_and(|our| our.is_none_or(|our| our == theirs));
        if !equal && (our.is_some() || whole) {
            difference = Some((our.flatten().unwrap_or(0), theirs));
        } else {
            depth += 1;
        }
        equal
    });
    if depth == 0 && difference.is_none() {
        difference = Some((caller.location.address(), 0)); // the reference did not find the caller
    }
    COMPARED.fetch_add(1, Ordering::Relaxed);
    let Some((our, theirs)) = difference else { return };
    DIFFERENT.fetch_add(1, Ordering::Relaxed);
    if DESCRIPTIONS.fetch_add(1, Ordering::Relaxed) < DESCRIBED {
        note::say(format_args!("verify: frame {depth} is at {our:#x}, for the reference at {theirs:#x}"));
    }
}
