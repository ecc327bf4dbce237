//! Draws the report: a header and the four tables (paper, figures 2 to 5).

mod asked;
mod bins;
mod direct;
mod fold;
mod graph;
mod header;
mod layout;
mod leaks;
pub mod number;
pub mod options;
mod overview;
mod process;
mod rows;
pub mod style;

use crate::analysis::bins::Bins;
use crate::analysis::direct::Direct;
use crate::analysis::graph::Graph;
use crate::analysis::leaks::Leaks;
use crate::analysis::modules::by_module;
use crate::analysis::part::Part;
use crate::analysis::tally::Usage;
use crate::analysis::tree::Tree;
use asked::Asked;
use mprof_format::model::Profile;
use number::Shown;
use options::{By, Options};
use std::io::{self, Write};

/// Writes the report of the profiles.
///
/// # Errors
/// Those of `out`.
pub fn write_report(profiles: &[Profile], options: &Options, out: &mut impl Write) -> io::Result<()> {
    let parts: Vec<Part<'_>> = profiles.iter().map(Part::whole).collect();
    write_parts(&parts, options, out)
}

/// Writes the report of the parts of profiles: of all together, or of each process or thread.
///
/// # Errors
/// Those of `out`.
pub fn write_parts(parts: &[Part<'_>], options: &Options, out: &mut impl Write) -> io::Result<()> {
    match options.by {
        By::Function | By::Module => write_sum(parts, options, out),
        By::Process => overview::write_processes(parts, options, out),
        By::Thread => overview::write_threads(parts, options, out),
    }
}

/// Writes the report of all parts together.
fn write_sum(parts: &[Part<'_>], options: &Options, out: &mut impl Write) -> io::Result<()> {
    header::write_parts(parts, out)?;
    let bins = bins_of(parts, options).map(|profiles| Bins::new(profiles));
    write_tables(Tree::of(parts.iter().cloned()), bins, options, out)
}

/// Writes by how much the numbers of `after` differ from those of `before`.
///
/// # Errors
/// Those of `out`.
pub fn write_comparison(
    before: &[Part<'_>],
    after: &[Part<'_>],
    options: &Options,
    out: &mut impl Write,
) -> io::Result<()> {
    writeln!(out, "All numbers: after - before")?;
    writeln!(out, "\nBefore")?;
    header::write_parts(before, out)?;
    writeln!(out, "\nAfter")?;
    header::write_parts(after, out)?;
    writeln!(out)?;
    let bins = bins_of(before, options).zip(bins_of(after, options));
    let bins = bins.map(|(before, after)| Bins::comparing(&before, &after));
    write_tables(Tree::comparing(before, after), bins, options, out)
}

/// The profiles whose sizes the bins are to count: sizes are known for whole processes only, so there are none where
/// chains or threads are chosen.
fn bins_of<'p>(parts: &[Part<'p>], options: &Options) -> Option<Vec<&'p Profile>> {
    let whole = parts.iter().all(Part::is_whole) && !options.chains.chooses();
    whole.then(|| parts.iter().map(|part| part.profile).collect())
}

fn write_tables<N: Shown>(
    mut tree: Tree<N>,
    bins: Option<Bins<N>>,
    options: &Options,
    out: &mut impl Write,
) -> io::Result<()> {
    let all = total(&tree);
    options.chains.apply(&mut tree);
    if options.by == By::Module {
        tree = by_module(tree);
    }
    header::write_choices(options, out)?;
    header::write_total(&total(&tree), options.chains.chooses().then_some(&all), out)?;
    let asked = Asked::new(&tree, &options.show, options.paths.lines);
    if options.tables.leaks {
        leaks::write(&Leaks::new(&tree, options.paths), &asked, options, out)?;
    }
    if options.tables.bins {
        match &bins {
            Some(bins) => bins::write(bins, options, out)?,
            None => bins::write_unknown(options, out)?,
        }
    }
    if options.tables.direct || options.tables.graph {
        let direct = if options.paths.lines { Direct::by_line(&tree) } else { Direct::new(&tree) };
        if options.tables.direct {
            direct::write(&tree, &direct, &asked, options, out)?;
        }
        if options.tables.graph {
            let graph = Graph::new(&tree, options.graph);
            graph::write(&tree, &graph, &direct.total, &asked, options, out)?;
        }
    }
    Ok(())
}

/// What was allocated over all chains.
fn total<N: Shown>(tree: &Tree<N>) -> Usage<N> {
    let mut total = Usage::default();
    tree.counts.iter().for_each(|count| total += count.usage);
    total
}
