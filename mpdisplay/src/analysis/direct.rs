//! The direct allocation table: which functions called an allocation function themselves (paper, section 2.4).

use super::number::Number;
use super::tally::{CATEGORIES, Tally, column};
use super::tree::Tree;
use std::collections::HashMap;

/// A function that allocated, or one of its lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DirectRow<N = u64> {
    /// Function id.
    pub function: u32,
    /// Where it allocated, if lines are told apart and it is known: file id and line.
    pub line: Option<(u32, u32)>,
    /// What it allocated itself.
    pub own: Tally<N>,
    /// Bytes of these that were never freed, by column of the category.
    pub kept: [N; CATEGORIES],
}

/// The direct allocation table.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Direct<N = u64> {
    /// Functions that allocated, in the order of their first counts in the tree.
    pub rows: Vec<DirectRow<N>>,
    /// Everything.
    pub total: Tally<N>,
    /// Bytes never freed, by column of the category.
    pub kept: [N; CATEGORIES],
}

impl<N: Number> Direct<N> {
    /// Sums the counts of each function.
    pub fn new(tree: &Tree<N>) -> Self {
        Direct::sum(tree, false)
    }

    /// Sums the counts of each line of each function.
    pub fn by_line(tree: &Tree<N>) -> Self {
        Direct::sum(tree, true)
    }

    fn sum(tree: &Tree<N>, by_line: bool) -> Self {
        let mut direct = Direct::default();
        let mut row_of: HashMap<(u32, Option<(u32, u32)>), usize> = HashMap::new();
        for count in &tree.counts {
            let node = &tree.nodes[count.node as usize];
            let line = node.site.known_line().filter(|_| by_line);
            let row = *row_of.entry((node.function, line)).or_insert_with(|| {
                direct.rows.push(DirectRow {
                    function: node.function,
                    line,
                    own: Tally::default(),
                    kept: Default::default(),
                });
                direct.rows.len() - 1
            });
            let row = &mut direct.rows[row];
            let tally = Tally::of(count.category, count.usage);
            row.own += tally;
            direct.total += tally;
            if let Some(column) = column(count.category) {
                row.kept[column].add(count.usage.kept_bytes());
                direct.kept[column].add(count.usage.kept_bytes());
            }
        }
        direct.rows.retain(|row| row.own.usage.allocs.is_some());
        direct
    }
}

/// For each function what it allocated itself.
pub(super) fn own_tallies<N: Number>(tree: &Tree<N>) -> Vec<Tally<N>> {
    let mut own = vec![Tally::default(); tree.functions.len()];
    for count in &tree.counts {
        own[tree.nodes[count.node as usize].function as usize] += Tally::of(count.category, count.usage);
    }
    own
}
