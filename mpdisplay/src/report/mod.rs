//! Draws the report: a header and the four tables (paper, figures 2 to 5).

mod asked;
mod bins;
mod direct;
mod fold;
mod graph;
mod header;
mod layout;
pub mod leaks;
pub mod number;
pub mod options;
mod overview;
pub(crate) mod process;
mod rows;
pub mod style;
pub mod view;

use crate::analysis::direct::Direct;
use crate::analysis::graph::Graph;
use crate::analysis::leaks::Leaks;
use crate::analysis::part::Part;
use asked::Asked;
use mprof_format::model::Profile;
use number::Shown;
use options::{By, Options};
use std::io::{self, Write};
use view::View;

/// Writes the report of the profiles.
///
/// # Errors
/// Those of `out`.
pub fn write_report(profiles: &[Profile], options: &Options, out: &mut impl Write) -> io::Result<()> {
    let parts: Vec<Part<'_>> = profiles.iter().map(Part::whole).collect();
    match options.by {
        By::Function | By::Module => write_sum(&parts, options, out),
        By::Process | By::Thread => write_each(&parts, options, out),
    }
}

/// Writes the report of all parts together.
fn write_sum(parts: &[Part<'_>], options: &Options, out: &mut impl Write) -> io::Result<()> {
    let view = View::new(parts, options);
    write_view(parts, &view, &view.leaks(options), options, out)
}

/// Writes a report for each process or thread of the parts, as the options say.
///
/// # Errors
/// Those of `out`.
pub fn write_each(parts: &[Part<'_>], options: &Options, out: &mut impl Write) -> io::Result<()> {
    match options.by {
        By::Thread => overview::write_threads(parts, options, out),
        _ => overview::write_processes(parts, options, out),
    }
}

/// Writes the report of the parts' view, with a leak table that may lack what is suppressed or known.
///
/// # Errors
/// Those of `out`.
pub fn write_view(
    parts: &[Part<'_>],
    view: &View,
    leaks: &Leaks<'_>,
    options: &Options,
    out: &mut impl Write,
) -> io::Result<()> {
    header::write_parts(parts, out)?;
    write_tables(view, leaks, options, out)
}

/// Writes the leak table alone.
///
/// # Errors
/// Those of `out`.
pub fn write_leaks(
    view: &View,
    leaks: &Leaks<'_>,
    options: &Options,
    out: &mut impl Write,
) -> io::Result<()> {
    leaks::write(leaks, &Asked::new(&view.tree, &options.show, options.paths.lines), options, out)
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
    let view = View::comparing(before, after, options);
    header::write_states(before, after, out)?;
    write_tables(&view, &view.leaks(options), options, out)
}

fn write_tables<N: Shown>(
    view: &View<N>,
    leaks: &Leaks<'_, N>,
    options: &Options,
    out: &mut impl Write,
) -> io::Result<()> {
    let tree = &view.tree;
    header::write_choices(options, out)?;
    header::write_total(&view.total, options.chains.chooses().then_some(&view.all), out)?;
    let asked = Asked::new(tree, &options.show, options.paths.lines);
    if options.tables.leaks {
        leaks::write(leaks, &asked, options, out)?;
    }
    if options.tables.bins {
        match &view.bins {
            Some(bins) => bins::write(bins, options, out)?,
            None => bins::write_unknown(options, out)?,
        }
    }
    if options.tables.direct {
        let direct = if options.paths.lines { Direct::by_line(tree) } else { Direct::new(tree) };
        direct::write(tree, &direct, &asked, options, out)?;
    }
    if options.tables.graph {
        let graph = Graph::new(tree, options.graph);
        graph::write(tree, &graph, &view.total, &asked, options, out)?;
    }
    Ok(())
}
