//! The sums that the tables must agree on.

use super::bins::Bins;
use super::direct::Direct;
use super::graph::{Graph, Subject};
use super::tally::Usage;
use super::tree::Tree;

/// What three of the tables say was allocated altogether. In an undamaged profile all are equal.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Totals {
    /// Sum of the bin table.
    pub bins: Usage,
    /// Sum of the direct allocation table.
    pub direct: Usage,
    /// Sum over the outermost functions of all chains.
    pub roots: Usage,
    /// Sum of what the entries of the call graph allocated themselves, cycles left out for their members.
    pub graph: Usage,
}

impl Totals {
    /// Adds up the tables.
    pub fn new(tree: &Tree, bins: &Bins, direct: &Direct, graph: &Graph) -> Totals {
        let mut totals = Totals { bins: bins.larger.usage, ..Totals::default() };
        bins.rows.iter().for_each(|row| totals.bins += row.usage);
        direct.rows.iter().for_each(|row| totals.direct += row.own.usage);
        let tallies = tree.subtree_tallies();
        let roots = tree.nodes.iter().zip(&tallies).filter(|(node, _)| node.parent.is_none());
        roots.for_each(|(_, tally)| totals.roots += tally.usage);
        let functions = graph.entries.iter().filter(|entry| matches!(entry.subject, Subject::Function(_)));
        functions.for_each(|entry| totals.graph += entry.own.usage);
        totals
    }

    /// Whether the tables agree.
    pub fn agree(&self) -> bool {
        self.bins == self.direct && self.direct == self.roots && self.roots == self.graph
    }
}
