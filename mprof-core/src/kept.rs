//! What was allocated and not freed, read from the records without a file.

use crate::heap::{self, HeapView};
use crate::{ledger, records};

/// Objects and bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Kept {
    /// Objects that were not freed.
    pub objects: u64,
    /// Their bytes, as the program asked for them.
    pub bytes: u64,
}

/// Shows `visit` what is kept of each record: the heap that it belongs to and the context's node in its tree, or
/// `None` for what was counted without a chain. Records of which nothing is kept are passed over.
///
/// While other threads run, an event of each may be seen in part.
pub fn each(mut visit: impl FnMut(Option<(&'static HeapView, u32)>, Kept)) {
    let peak = ledger::peak();
    let mut visit = |place, tally: records::Tally| {
        let objects = tally.allocs.saturating_sub(tally.frees);
        if objects != 0 {
            visit(place, Kept { objects, bytes: tally.bytes.saturating_sub(tally.freed_bytes) });
        }
    };
    for view in heap::all() {
        let length = view.tree().len();
        for chunk in records::chunks().filter(|chunk| chunk.owner().cast_const() == view.address()) {
            for tally in chunk.tallies(&peak, view.balance().epoch()) {
                let known = (1..length).contains(&tally.node);
                visit(known.then_some((view, tally.node)), tally);
            }
        }
    }
    records::unknown_tallies(&peak).for_each(|tally| visit(None, tally));
}

/// All that is kept.
pub fn total() -> Kept {
    let mut total = Kept::default();
    each(|_, kept| {
        total.objects += kept.objects;
        total.bytes += kept.bytes;
    });
    total
}
