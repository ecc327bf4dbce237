//! `MPROF_VERIFY=1`: each chain is compared with the one that a reference unwinder finds.

use core::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use crate::heap::Heap;
use crate::unwind::State;

/// Compares: given the innermost return address, its stack slot, and the addresses of our chain, innermost first
/// (a chain that was cut or could not be followed further is a prefix). True where the reference agrees.
pub type Compare = fn(first: usize, chain: &mut dyn Iterator<Item = usize>, whole: bool) -> bool;

static COMPARE: AtomicPtr<()> = AtomicPtr::new(core::ptr::null_mut());
static COMPARED: AtomicU64 = AtomicU64::new(0);
static DIFFERENT: AtomicU64 = AtomicU64::new(0);

/// Sets the reference.
pub fn set_reference(compare: Compare) {
    COMPARE.store(compare as *mut (), Ordering::Release);
}

/// Chains compared, and those of them that differed.
pub fn counts() -> (u64, u64) {
    (COMPARED.load(Ordering::Relaxed), DIFFERENT.load(Ordering::Relaxed))
}

/// Compares the chain that was just counted in `record`.
#[cold]
#[inline(never)]
pub fn check(heap: &Heap, caller: State, record: u32) {
    use crate::location::{FrameKey, SPACE_ANONYMOUS};

    let compare = COMPARE.load(Ordering::Acquire);
    if compare.is_null() {
        return;
    }
    // SAFETY: only `set_reference` stores here, and it stores such a function.
    let compare = unsafe { core::mem::transmute::<*mut (), Compare>(compare) };
    let node = heap.node_of(record);
    let whole = heap.frames(node).all(|key| key != FrameKey::UNKNOWN && key != FrameKey::TRUNCATED);
    let mut addresses = heap
        .frames(node)
        .take_while(|key| key.space() >= SPACE_ANONYMOUS)
        .map(|key| key.location().address());
    COMPARED.fetch_add(1, Ordering::Relaxed);
    if !compare(caller.location.address(), &mut addresses, whole) {
        DIFFERENT.fetch_add(1, Ordering::Relaxed);
    }
}
