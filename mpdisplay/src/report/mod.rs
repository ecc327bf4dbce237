//! Draws the report: a header and the four tables (paper, figures 2 to 5).

mod abbreviate;
mod asked;
mod bins;
mod direct;
pub(crate) mod fold;
mod graph;
mod growth;
mod header;
mod layout;
pub mod leaks;
pub(crate) mod lifetime;
pub mod number;
pub mod options;
mod overview;
pub(crate) mod peak;
pub(crate) mod process;
pub(crate) mod rows;
pub mod source;
pub mod style;
pub(crate) mod time;
mod timeline;
mod types;
pub mod view;

use crate::analysis::annotation::Annotation;
use crate::analysis::direct::Direct;
use crate::analysis::graph::Graph;
use crate::analysis::leaks::Leaks;
use crate::analysis::number::Change;
use crate::analysis::part::Part;
use asked::Asked;
use leaks::Subject;
use mprof_format::model::Profile;
use number::Shown;
use options::{By, Options};
use source::Sources;
use std::io::{self, Write};
use std::time::{Duration, SystemTime};
use style::Style;
use view::View;

/// Writes the report of the profiles.
///
/// # Errors
/// Those of `out`.
pub fn write_report(profiles: &[Profile], options: &Options, out: &mut impl Write) -> io::Result<()> {
    write_parts(&profiles.iter().map(Part::whole).collect::<Vec<_>>(), options, out)
}

/// Writes the report of parts of profiles.
///
/// # Errors
/// Those of `out`.
pub fn write_parts(parts: &[Part<'_>], options: &Options, out: &mut impl Write) -> io::Result<()> {
    match options.by {
        By::Function | By::Module => write_sum(parts, options, out),
        By::Process | By::Thread => write_each(parts, options, out),
    }
}

/// Writes which half of the profiles the report after this is of, where there are several.
///
/// # Errors
/// Those of `out`.
pub fn write_half(options: &Options, out: &mut impl Write) -> io::Result<()> {
    let title = format!("=== {} ===", options.half.name());
    write!(out, "{}\n\n", options.styles.paint(Style::Heading, &title))
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
    write_sums(view, options, out)?;
    peak::write_line(parts, out)?;
    write_tables(view, leaks, options, out)?;
    if options.tables.timeline {
        timeline::write(parts, options, out)?;
    }
    if options.tables.lifetime {
        lifetime::write(parts, view, options, out)?;
    }
    if options.tables.growth {
        growth::write(view, options, out)?;
    }
    Ok(())
}

/// Writes the source of the parts' view, with what its lines allocated.
///
/// # Errors
/// Those of `out`.
pub fn write_source(
    parts: &[Part<'_>],
    view: &View,
    annotation: &Annotation,
    sources: &Sources,
    options: &Options,
    out: &mut impl Write,
) -> io::Result<()> {
    header::write_parts(parts, out)?;
    write_annotation(view, annotation, sources, recorded(parts), options, out)
}

/// Writes the source with by how much what its lines allocated differs from one state to the other.
///
/// # Errors
/// Those of `out`.
pub fn write_source_comparison(
    [before, after]: [&[Part<'_>]; 2],
    view: &View<Change>,
    annotation: &Annotation<Change>,
    sources: &Sources,
    options: &Options,
    out: &mut impl Write,
) -> io::Result<()> {
    header::write_states(before, after, out)?;
    write_annotation(view, annotation, sources, recorded(after), options, out)
}

fn write_annotation<N: Shown>(
    view: &View<N>,
    annotation: &Annotation<N>,
    sources: &Sources,
    recorded: Option<SystemTime>,
    options: &Options,
    out: &mut impl Write,
) -> io::Result<()> {
    write_sums(view, options, out)?;
    source::write(annotation, sources, &view.total, recorded, options, out)
}

/// When the last of the programs was started, if it is known of one.
fn recorded(parts: &[Part<'_>]) -> Option<SystemTime> {
    let starts = parts.iter().map(|part| part.profile.process.start_unix_ns);
    let last = starts.max().filter(|&start| start > 0)?;
    SystemTime::UNIX_EPOCH.checked_add(Duration::from_nanos(last))
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
    let asked = Asked::new(&view.tree, &options.show, options.paths.lines);
    leaks::write(Subject::Leaks, leaks, &asked, options, out)
}

/// Writes by how much the numbers of two states, which the view compares, differ.
///
/// # Errors
/// Those of `out`.
pub fn write_comparison(
    [before, after]: [&[Part<'_>]; 2],
    view: &View<Change>,
    options: &Options,
    out: &mut impl Write,
) -> io::Result<()> {
    header::write_states(before, after, out)?;
    write_sums(view, options, out)?;
    peak::write_change(before, after, out)?;
    write_tables(view, &view.leaks(options), options, out)
}

/// Writes what is done to the numbers, and their sums.
fn write_sums<N: Shown>(view: &View<N>, options: &Options, out: &mut impl Write) -> io::Result<()> {
    header::write_choices(options, out)?;
    header::write_total(&view.total, options.chains.chooses().then_some(&view.all), options, out)
}

fn write_tables<N: Shown>(
    view: &View<N>,
    leaks: &Leaks<'_, N>,
    options: &Options,
    out: &mut impl Write,
) -> io::Result<()> {
    let tree = &view.tree;
    let asked = Asked::new(tree, &options.show, options.paths.lines);
    if options.tables.is_empty() {
        writeln!(
            out,
            "\nThese tables are of what programs free themselves; here there are bins, direct and graph"
        )?;
    }
    if options.tables.leaks {
        let subject = if options.at_peak { Subject::Peak } else { Subject::Leaks };
        leaks::write(subject, leaks, &asked, options, out)?;
    }
    if options.tables.bins {
        match (&view.bins, &view.types) {
            (_, Some(types)) if !options.half.is_freed() => types::write(types, options, out)?,
            (Some(bins), _) => bins::write(bins, options, out)?,
            (None, _) => bins::write_unknown(options, out)?,
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
    if options.tables.peak {
        peak::write(view, &asked, options, out)?;
    }
    Ok(())
}
