//! Writes profiles in forms that other programs read, and as a page for a browser. A file for each form; what they
//! share is the [`Source`], and for those that show whole call chains the [`stacks`].
//!
//! Nothing here is recursive over call chains: some are hundreds of thousands of functions long. Forms that repeat
//! the chain of each allocation could become as large as the square of the profile; those have limits, and say so
//! when a limit was reached.

mod callgrind;
mod chains;
mod csv;
mod dot;
mod flamegraph;
mod folded;
mod html;
mod json;
mod massif;
mod measure;
mod number;
mod pprof;
mod rows;
mod stacks;

pub use measure::Measure;

use crate::analysis::leaks::Leaks;
use crate::analysis::part::Part;
use crate::analysis::tree::Tree;
use crate::report::options::Options;
use crate::report::view::View;
use mprof_format::model::Profile;
use std::io::{self, Write};

/// A form of output.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Format {
    /// The report, for people.
    #[default]
    Text,
    /// A page for a browser.
    Html,
    /// A flame graph, SVG.
    Flamegraph,
    /// A line for each call chain, as tools for flame graphs read them.
    Folded,
    /// Gzipped profile.proto.
    Pprof,
    /// Callgrind's profile format, version 1.
    Callgrind,
    /// The call graph in graphviz's language.
    Dot,
    /// Everything; `docs/JSON.md` describes it.
    Json,
    /// One table, or all call chains, as RFC 4180 says.
    Csv,
    /// The heap over time, as massif writes it for ms_print.
    Massif,
}

impl Format {
    /// Whether it is no text, which a terminal should be spared.
    pub fn is_binary(self) -> bool {
        self == Format::Pprof
    }
}

/// What a file of comma-separated values has rows of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CsvRows {
    /// All call chains.
    #[default]
    Chains,
    /// The leaks.
    Leaks,
    /// The bins.
    Bins,
    /// Direct allocation.
    Direct,
    /// The call graph.
    Graph,
}

/// What is written.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    /// Where it comes from.
    pub parts: &'a [Part<'a>],
    /// Call chains and sizes, as the options want them.
    pub view: &'a View,
    /// Leaks that are neither suppressed nor known.
    pub leaks: &'a Leaks<'a>,
    /// Which rows, in which order.
    pub options: &'a Options,
    /// What is shown, or shown first.
    pub measure: Measure,
    /// What CSV has rows of.
    pub csv_rows: CsvRows,
}

impl<'a> Source<'a> {
    /// The call chains.
    fn tree(&self) -> &'a Tree {
        &self.view.tree
    }

    /// The profiles that it comes from.
    fn profiles(&self) -> impl Iterator<Item = &'a Profile> + use<'a> {
        self.parts.iter().map(|part| part.profile)
    }

    /// Names of the programs, as a heading.
    fn programs(&self) -> String {
        let mut names: Vec<String> = self.profiles().map(program).collect();
        names.dedup();
        const SHOWN: usize = 3;
        let more = names.len().saturating_sub(SHOWN);
        names.truncate(SHOWN);
        let names = names.join(", ");
        if more > 0 { format!("{names} and {more} more") } else { names }
    }
}

/// The base name of a profile's program.
fn program(profile: &Profile) -> String {
    use crate::analysis::text::{base_name, printable};
    let path = printable(&profile.process.program);
    if path.is_empty() { "unknown program".into() } else { base_name(&path).to_owned() }
}

/// Writes the source in a form; what one must know of the result comes back, a line each. The report as text is not
/// among the forms: see [`crate::report`].
///
/// # Errors
/// Those of `out`.
pub fn write(format: Format, source: &Source<'_>, out: &mut dyn Write) -> io::Result<Vec<String>> {
    match format {
        Format::Text => Err(io::ErrorKind::Unsupported.into()),
        Format::Html => html::write(source, out),
        Format::Flamegraph => flamegraph::write(source, out),
        Format::Folded => folded::write(source, out),
        Format::Pprof => pprof::write(source, out),
        Format::Callgrind => callgrind::write(source, out),
        Format::Dot => dot::write(source, out),
        Format::Json => json::write(source, out),
        Format::Csv => csv::write(source, out),
        Format::Massif => massif::write(source, out),
    }
}

/// A number of things.
fn counted(count: usize, one: &str) -> String {
    crate::report::number::counted(count as u64, one)
}

/// Bytes as they are printed of build-ids.
fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
