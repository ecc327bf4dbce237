//! The rows of the tables in the order asked for, for forms that hold numbers and no drawing: all of them. How many
//! are written is for the form to say, which may sum up the others; see [`limit`].

use super::{Source, chains};
use crate::analysis::bins::{BinRow, Bins};
use crate::analysis::direct::{Direct, DirectRow};
use crate::analysis::graph::{Entry, Graph};
use crate::analysis::half::Half;
use crate::analysis::kinds;
use crate::analysis::leaks::{self, Depth, Path};
use crate::analysis::tally::Usage;
use crate::analysis::types::{TypeRow, Types};
use crate::report::options::Order;
use crate::report::rows::rank;

/// Callers that the paths of all leaks together may show; else memory would grow with the square of the depth.
const CALLERS: u64 = 1 << 22;

/// A leak.
pub(super) struct LeakRow {
    pub(super) usage: Usage,
    /// Whether the program could still reach the objects, as the tables name it, where that is known.
    pub(super) kind: Option<&'static str>,
    pub(super) path: Path,
    /// Functions of the path's callers.
    pub(super) functions: Vec<u32>,
}

/// The leaks, and what one must know of them.
pub(super) fn leaks(source: &Source<'_>) -> (Vec<LeakRow>, Vec<String>) {
    let (leaks, options) = (source.leaks, source.options);
    let (mut depth, mut cut) = (options.paths.depth, None);
    if depth == Depth::All {
        let lengths = chains::lengths(source.tree());
        let length = |row| {
            leaks.callers_within(row, Depth::Last(1)).next().map_or(0, |(node, _)| lengths[node as usize])
        };
        cut = chains::longest(leaks.rows.iter().map(length), CALLERS);
        depth = cut.map_or(Depth::All, Depth::Last);
    }
    let row = |row: &leaks::LeakRow| {
        let mut functions: Vec<u32> =
            leaks.callers_within(row, depth).map(|(_, node)| node.function).collect();
        functions.reverse();
        let kind = row.kind.map(kinds::name);
        LeakRow { usage: row.usage, kind, path: leaks.path_within(row, depth), functions }
    };
    let is_chosen = |row: &&leaks::LeakRow| options.kinds.is_none_or(|kinds| kinds.has(row.kind));
    let mut rows: Vec<LeakRow> = leaks.rows.iter().filter(is_chosen).map(row).collect();
    let rank = |row: &LeakRow| rank(options.order, &row.usage, row.usage.kept_bytes());
    rows.sort_by(|a, b| {
        rank(a).cmp(&rank(b)).then_with(|| a.path.cmp(&b.path)).then_with(|| a.kind.cmp(&b.kind))
    });
    (rows, chains::note(cut))
}

/// The bins, where sizes are known; the row of larger sizes is not among the ordered ones.
pub(super) fn bins(source: &Source<'_>) -> Option<Bins> {
    let mut bins = sizes(source)?;
    match source.options.order {
        None | Some(Order::Name) => {}
        order => bins.rows.sort_by_key(|row| (rank(order, &row.usage, 0), row.size)),
    }
    Some(bins)
}

/// The bins in the order of the table.
pub(super) fn sizes(source: &Source<'_>) -> Option<Bins> {
    match source.options.half {
        Half::C => source.view.bins.clone(),
        Half::Lisp => None,
        Half::Collected => source.view.types.as_ref().map(sizes_of),
    }
}

/// Types that are called by their sizes, as a collector's that knows no others, as bins of sizes.
fn sizes_of(types: &Types) -> Bins {
    let collected = |usage: &Usage| Usage::new(usage.allocs, usage.bytes, usage.allocs, usage.bytes);
    let mut bins = Bins { total: collected(&types.total), ..Bins::default() };
    for row in &types.rows {
        let usage = collected(&row.usage);
        match row.name.parse() {
            Ok(size) => bins.rows.push(BinRow { size: Some(size), usage, ..BinRow::default() }),
            Err(_) => bins.larger.usage += usage,
        }
    }
    bins
}

/// The types, where these are known in place of sizes.
pub(super) fn types(source: &Source<'_>) -> Option<Vec<TypeRow>> {
    let mut rows = source.view.types.as_ref().filter(|_| source.options.half == Half::Lisp)?.rows.clone();
    match source.options.order {
        Some(Order::Name) => rows.sort_by(|a, b| a.name.cmp(&b.name)),
        order => rows.sort_by_key(|row| rank(order, &row.usage, row.usage.bytes)),
    }
    Some(rows)
}

/// Direct allocation.
pub(super) fn direct(source: &Source<'_>) -> Direct {
    let mut direct = Direct::new(source.tree());
    direct.rows.sort_by_cached_key(|row: &DirectRow| {
        let usage = &row.own.usage;
        (
            rank(source.options.order, usage, usage.bytes),
            &source.tree().functions[row.function].shown,
            row.function,
        )
    });
    direct
}

/// Entries of the call graph, with the index that stands for each in the tables.
pub(super) fn entries<'g>(source: &Source<'_>, graph: &'g Graph) -> Vec<(u32, &'g Entry)> {
    let mut entries: Vec<(u32, &Entry)> = (0..).zip(&graph.entries).collect();
    if source.options.order == Some(Order::Name) {
        entries.sort_by_cached_key(|(index, entry)| (graph.name(source.tree(), entry.subject), *index));
    } else if source.options.order.is_some() {
        entries.sort_by_key(|(index, entry)| (rank(source.options.order, &entry.through, 0), *index));
    }
    entries
}

/// Rows of a table at most, as was asked for.
pub(super) fn limit(source: &Source<'_>) -> usize {
    source.options.limit.unwrap_or(usize::MAX)
}
