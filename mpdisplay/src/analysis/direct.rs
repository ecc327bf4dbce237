//! The direct allocation table: which functions called an allocation function themselves (paper, section 2.4).

use super::tally::Tally;
use super::tree::Tree;

/// A function that allocated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DirectRow {
    /// Function id.
    pub function: u32,
    /// What it allocated itself.
    pub own: Tally,
}

/// The direct allocation table.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Direct {
    /// Functions that allocated, by id.
    pub rows: Vec<DirectRow>,
    /// Everything.
    pub total: Tally,
}

impl Direct {
    /// Sums the counts of each function.
    pub fn new(tree: &Tree) -> Direct {
        let own = own_tallies(tree);
        let mut direct = Direct::default();
        for (function, own) in (0..).zip(own) {
            direct.total += own;
            if own.usage.allocs > 0 {
                direct.rows.push(DirectRow { function, own });
            }
        }
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
