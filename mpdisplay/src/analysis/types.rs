//! Allocations by type, in place of the bin table where a garbage collector frees (paper, section 3.4).

use super::number::{Change, Number};
use super::tally::{State, Usage, column};
use super::text::printable;
use mprof_format::model::{Category, Profile, TypeBin};
use std::collections::BTreeMap;

/// Allocations of one type.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TypeRow<N = u64> {
    /// Column of the type's category.
    pub column: usize,
    /// Its name; of a collector that knows no types, the size in bytes.
    pub name: String,
    /// How much.
    pub usage: Usage<N>,
}

/// The table of types.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Types<N = u64> {
    /// Types of which there were objects, by category and name, or by size.
    pub rows: Vec<TypeRow<N>>,
    /// Everything.
    pub total: Usage<N>,
}

impl Types {
    /// Sums the types of the profiles.
    pub fn new<'p>(profiles: impl IntoIterator<Item = &'p Profile>) -> Self {
        Types::of(profiles.into_iter().map(|profile| (profile, |usage| usage)))
    }
}

impl Types<Change> {
    /// Compares the types of two groups of profiles.
    pub fn comparing(before: &[&Profile], after: &[&Profile]) -> Self {
        let states = [(State::Before, before), (State::After, after)];
        Types::of(states.into_iter().flat_map(|(state, profiles)| {
            profiles.iter().map(move |&profile| (profile, move |usage| Usage::of(state, usage)))
        }))
    }
}

/// What rows follow by: category, size where the name is one, name.
type Key = (Category, u64, String);

fn key(bin: &TypeBin) -> Key {
    let name = printable(&bin.name);
    let size = match name.parse() {
        Ok(size) => size,
        Err(_) if name.starts_with('>') => u64::MAX,
        Err(_) => 0,
    };
    (bin.category, size, name)
}

impl<N: Number> Types<N> {
    /// Sums the types of the profiles, each as the function beside it sees them.
    fn of<'p>(profiles: impl IntoIterator<Item = (&'p Profile, impl Fn(Usage) -> Usage<N>)>) -> Self {
        let mut rows: BTreeMap<Key, Usage<N>> = BTreeMap::new();
        let mut total = Usage::default();
        for (profile, seen) in profiles {
            for bin in &profile.collected.bins {
                let usage = seen(Usage::new(bin.allocs, bin.bytes, 0, 0));
                total += usage;
                *rows.entry(key(bin)).or_default() += usage;
            }
        }
        rows.retain(|_, usage| usage.allocs.is_some() || usage.bytes.is_some());
        let row = |((category, _, name), usage)| TypeRow {
            column: column(category).unwrap_or_default(),
            name,
            usage,
        };
        Types { rows: rows.into_iter().map(row).collect(), total }
    }
}
