//! The direct allocation table: which functions called an allocation function themselves (paper, section 2.4).

use super::tally::{CATEGORIES, Tally, column};
use super::tree::Tree;

/// A function that allocated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DirectRow {
    /// Function id.
    pub function: u32,
    /// What it allocated itself.
    pub own: Tally,
    /// Bytes of these that were never freed, by column of the category.
    pub kept: [u64; CATEGORIES],
}

/// The direct allocation table.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Direct {
    /// Functions that allocated, by id.
    pub rows: Vec<DirectRow>,
    /// Everything.
    pub total: Tally,
    /// Bytes never freed, by column of the category.
    pub kept: [u64; CATEGORIES],
}

impl Direct {
    /// Sums the counts of each function.
    pub fn new(tree: &Tree) -> Direct {
        let mut kept = vec![[0; CATEGORIES]; tree.functions.len()];
        let mut direct = Direct::default();
        for count in &tree.counts {
            direct.total += Tally::of(count.category, count.usage);
            if let Some(column) = column(count.category) {
                let function = tree.nodes[count.node as usize].function as usize;
                for sum in [&mut kept[function][column], &mut direct.kept[column]] {
                    *sum = sum.saturating_add(count.usage.kept_bytes());
                }
            }
        }
        let rows = (0..).zip(own_tallies(tree)).zip(kept);
        let rows = rows.map(|((function, own), kept)| DirectRow { function, own, kept });
        direct.rows = rows.filter(|row| row.own.usage.allocs > 0).collect();
        direct
    }
}

/// For each function what it allocated itself.
pub(super) fn own_tallies(tree: &Tree) -> Vec<Tally> {
    let mut own = vec![Tally::default(); tree.functions.len()];
    for count in &tree.counts {
        own[tree.nodes[count.node as usize].function as usize] += Tally::of(count.category, count.usage);
    }
    own
}
