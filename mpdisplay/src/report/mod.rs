//! Draws the report: a header and the four tables (paper, figures 2 to 5).

mod bins;
mod direct;
mod fold;
mod graph;
mod header;
mod layout;
pub mod leaks;
pub mod number;
pub mod options;
mod rows;

use crate::analysis::bins::Bins;
use crate::analysis::direct::Direct;
use crate::analysis::graph::Graph;
use crate::analysis::leaks::Leaks;
use crate::analysis::tree::Tree;
use mprof_format::model::Profile;
use options::Options;
use std::io::{self, Write};

/// Writes the report of the profiles, summed.
///
/// # Errors
/// Those of `out`.
pub fn write_report(profiles: &[Profile], options: &Options, out: &mut impl Write) -> io::Result<()> {
    let tree = Tree::new(profiles);
    write_report_of(profiles, &tree, &Leaks::new(&tree, options.paths), options, out)
}

/// The same, of the profiles' tree and with a leak table that may lack what is suppressed or known.
///
/// # Errors
/// Those of `out`.
pub fn write_report_of(
    profiles: &[Profile],
    tree: &Tree,
    leaks: &Leaks<'_>,
    options: &Options,
    out: &mut impl Write,
) -> io::Result<()> {
    let direct = Direct::new(tree);
    header::write(profiles, &direct.total.usage, out)?;
    if options.tables.leaks {
        leaks::write(leaks, options, out)?;
    }
    if options.tables.bins {
        bins::write(&Bins::new(profiles), options, out)?;
    }
    if options.tables.direct {
        direct::write(tree, &direct, options, out)?;
    }
    if options.tables.graph {
        let graph = Graph::new(tree, options.graph);
        graph::write(tree, &graph, &direct.total, options, out)?;
    }
    Ok(())
}
