//! What the records hold, as a dump and a snapshot read it while their owners count.

use core::sync::atomic::{AtomicPtr, Ordering, fence};

use super::beside::{Beside, Remote, existing, existing_sparse};
use super::{CHUNK, Chunk, FIRST_COLLECTED, MARK_SHIFT, Record, chunk_of};
use crate::ledger::{self, Epoch};
use crate::lifetimes::{Ages, Lifetime};
use crate::watch::Growth;

/// Categories that a record may be of.
const CATEGORIES: usize = 16;

/// What a record held when it was read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// The record's number.
    pub number: u32,
    /// Context: index of the node in its owner's tree.
    pub node: u32,
    /// Category, as `mprof_format::kinds::Category::index` has it.
    pub category: u32,
    /// Objects allocated.
    pub allocs: u64,
    /// Bytes allocated.
    pub bytes: u64,
    /// Objects freed.
    pub frees: u64,
    /// Bytes freed.
    pub freed_bytes: u64,
    /// Objects alive at the peak.
    pub peak_objects: u64,
    /// Bytes alive at the peak.
    pub peak_bytes: u64,
}

pub(super) fn tally(record: &Record, remote: Option<&Remote>) -> Tally {
    let mut freed_bytes = record.freed_bytes.get();
    let mut frees = record.frees.get();
    if let Some(remote) = remote {
        freed_bytes += remote.freed_bytes.get();
        frees += remote.frees.get();
    }
    fence(Ordering::Acquire);
    let (bytes, allocs) = (record.bytes.get(), record.allocs());
    Tally { bytes, allocs, frees, freed_bytes, ..Tally::default() }
}

/// What the records of one context hold, and the lifetimes of their freed objects, by rising category, for a dump.
/// `latest`: number of the latest of them, 0 for none; `epoch`: the one that their owner has noticed last.
pub fn of_context(latest: u32, peak: &ledger::Peak, epoch: Epoch) -> impl Iterator<Item = (Tally, Lifetime)> {
    let peak = *peak;
    let mark = peak.epoch.filter(|now| *now == epoch).map(Epoch::mark);
    let mut numbers = [0; CATEGORIES];
    let mut number = latest;
    for _ in 0..CATEGORIES {
        let Some(chunk) = chunk_of(number).filter(|_| number != 0) else { break };
        let index = number as usize % CHUNK;
        numbers[chunk.contexts[index].load(Ordering::Relaxed) as usize % CATEGORIES] = number;
        number = chunk.others[index].load(Ordering::Relaxed);
    }
    numbers.into_iter().filter(|number| *number != 0).filter_map(move |number| {
        let (chunk, index) = (chunk_of(number)?, number as usize % CHUNK);
        let lifetimes = existing_sparse(&chunk.lifetimes, index);
        Some((chunk.tally(index, &peak, mark), chunk.records[index].lifetimes.get(lifetimes)))
    })
}

impl Chunk {
    /// What the records hold, for a dump: frees are read before allocations, so that no more is freed than was
    /// allocated. `epoch`: the one that the owner has noticed last.
    pub fn tallies<'a>(&'a self, peak: &'a ledger::Peak, epoch: Epoch) -> impl Iterator<Item = Tally> + 'a {
        let used = (self.used.load(Ordering::Acquire) as usize).min(CHUNK);
        // In an owner that has not noticed the epoch, what was put aside is of an earlier one.
        let mark = peak.epoch.filter(|now| *now == epoch).map(Epoch::mark);
        (0..used).map(move |index| self.tally(index, peak, mark))
    }

    fn tally(&self, index: usize, peak: &ledger::Peak, mark: Option<u16>) -> Tally {
        let remote = existing(&self.remotes, index);
        let record = &self.records[index];
        let mut tally = tally(record, remote);
        let context = self.contexts[index].load(Ordering::Relaxed);
        (tally.node, tally.category) = (context >> 4, context & 0xf);
        tally.number = self.first.load(Ordering::Relaxed) + index as u32;
        if tally.category >= FIRST_COLLECTED {
            return tally;
        }
        let is_aside = mark.is_some_and(|mark| record.allocs.get() >> MARK_SHIFT == u64::from(mark));
        let (objects, bytes) = match existing(&self.kept, index).filter(|_| is_aside) {
            Some(kept) => (kept.objects.get(), kept.bytes.get()),
            None => (
                record.allocs().saturating_sub(record.frees.get()),
                record.bytes.get().saturating_sub(record.freed_bytes.get()),
            ),
        };
        let (frees, freed_bytes) = remote.map_or((0, 0), |remote| remote.at(peak));
        tally.peak_objects = objects.saturating_sub(frees);
        tally.peak_bytes = bytes.saturating_sub(freed_bytes);
        tally
    }

    /// Number, objects and bytes of each record of which something is alive. In what other threads do meanwhile objects
    /// and bytes may be apart.
    pub fn alive(&self) -> impl Iterator<Item = (u32, u64, u64)> + '_ {
        let used = self.used().min(CHUNK);
        (0..used).filter_map(|index| {
            let tally = tally(&self.records[index], existing(&self.remotes, index));
            let (objects, bytes) =
                (tally.allocs.saturating_sub(tally.frees), tally.bytes.saturating_sub(tally.freed_bytes));
            (objects > 0).then(|| (self.first.load(Ordering::Relaxed) + index as u32, objects, bytes))
        })
    }

    /// Of each record that has it: node, category, and what `of` finds beside it, for a dump.
    fn each_beside<'a, T: 'static>(
        &'a self,
        slot: &'a AtomicPtr<Beside<T>>,
    ) -> impl Iterator<Item = (u32, u32, &'static T)> + 'a {
        let used = (self.used.load(Ordering::Acquire) as usize).min(CHUNK);
        (0..used).filter_map(move |index| {
            let context = self.contexts[index].load(Ordering::Relaxed);
            Some((context >> 4, context & 0xf, existing(slot, index)?))
        })
    }

    /// The ages in allocations of each record's freed objects, for a dump, with node and category.
    pub fn all_ages(&self) -> impl Iterator<Item = (u32, u32, &'static Ages)> + '_ {
        self.each_beside(&self.ages)
    }

    /// The reallocations that made each record's objects, for a dump, with node and category.
    pub fn all_growth(&self) -> impl Iterator<Item = (u32, u32, &'static Growth)> + '_ {
        self.each_beside(&self.growth)
    }
}
