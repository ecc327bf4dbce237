//! The bin table: allocations by size (paper, section 2.3).

use super::number::{Change, Number};
use super::tally::{State, Usage};
use super::text::printable;
use mprof_format::model::Profile;
use std::collections::BTreeMap;

/// Allocations of one size.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BinRow<N = u64> {
    /// Size in bytes; `None` for all sizes over 1024.
    pub size: Option<u64>,
    /// How much.
    pub usage: Usage<N>,
    /// User types of that size by name, those from system headers last.
    pub types: Vec<String>,
    /// Bytes that the allocator added to these objects, where it was recorded.
    pub added: N,
}

/// The bin table.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Bins<N = u64> {
    /// Sizes up to 1024 in which memory was allocated, by rising size.
    pub rows: Vec<BinRow<N>>,
    /// All larger sizes together, also where there are none.
    pub larger: BinRow<N>,
    /// Everything.
    pub total: Usage<N>,
    /// Bytes that the allocator added to all objects; `None` where it was not recorded.
    pub added: Option<N>,
}

impl Bins {
    /// Sums the bins of the profiles.
    pub fn new<'p>(profiles: impl IntoIterator<Item = &'p Profile>) -> Self {
        Bins::of(profiles.into_iter().map(|profile| (profile, |usage| usage)))
    }
}

impl Bins<Change> {
    /// Compares the bins of two groups of profiles.
    pub fn comparing(before: &[&Profile], after: &[&Profile]) -> Self {
        let states = [(State::Before, before), (State::After, after)];
        Bins::of(states.into_iter().flat_map(|(state, profiles)| {
            profiles.iter().map(move |&profile| (profile, move |usage| Usage::of(state, usage)))
        }))
    }
}

impl<N: Number> Bins<N> {
    /// Sums the bins of the profiles, each as the function beside it sees them.
    fn of<'p>(profiles: impl IntoIterator<Item = (&'p Profile, impl Fn(Usage) -> Usage<N>)>) -> Self {
        let mut sizes: BTreeMap<u64, Usage<N>> = BTreeMap::new();
        let mut added: BTreeMap<Option<u64>, N> = BTreeMap::new();
        let mut types: BTreeMap<u64, BTreeMap<String, bool>> = BTreeMap::new();
        let mut bins = Bins::default();
        for (profile, seen) in profiles {
            for bin in &profile.bins {
                let usage = seen(Usage::from(bin));
                bins.total += usage;
                match bin.size {
                    Some(size) => *sizes.entry(size).or_default() += usage,
                    None => bins.larger.usage += usage,
                }
            }
            for rounding in &profile.history.rounding {
                let more = seen(Usage::new(0, rounding.bytes, 0, 0)).bytes;
                added.entry(rounding.size).or_default().add(more);
                bins.added.get_or_insert_default().add(more);
            }
            for found in profile.names.iter().flat_map(|names| &names.types) {
                let system =
                    types.entry(found.size).or_default().entry(printable(&found.name)).or_insert(true);
                *system &= found.system;
            }
        }
        sizes.retain(|_, usage| usage.allocs.is_some());
        let row = |(size, usage)| {
            let types = types.remove(&size).map(in_order).unwrap_or_default();
            let added = added.get(&Some(size)).copied().unwrap_or_default();
            BinRow { size: Some(size), usage, types, added }
        };
        bins.rows = sizes.into_iter().map(row).collect();
        bins.larger.added = added.get(&None).copied().unwrap_or_default();
        bins
    }
}

/// Type names (and whether only system headers have them), the program's own first.
fn in_order(types: BTreeMap<String, bool>) -> Vec<String> {
    let (system, own): (Vec<_>, Vec<_>) = types.into_iter().partition(|&(_, system)| system);
    own.into_iter().chain(system).map(|(name, _)| name).collect()
}
