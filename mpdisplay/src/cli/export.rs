//! Options about the form of what is written, and where it goes.

use crate::export::{Format, Measure};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// How the profile is taken away.
#[derive(Debug, Args)]
#[command(next_help_heading = "Taking away")]
pub struct Export {
    /// Form of what is written
    #[arg(long, value_name = "FORMAT", default_value = "text", hide_possible_values = true, help = FORMATS)]
    format: FormatName,

    /// What is measured: bytes, allocs (objects), kept (bytes), kept-objects, peak (bytes) or peak-objects [default:
    /// bytes]. Where a format holds all of them it is what rows are ordered by, or what is shown first; peak, but for html,
    /// leaves only what was alive at the heap's peak
    #[arg(long, value_name = "MEASURE", hide_possible_values = true)]
    measure: Option<MeasureName>,

    /// Write to FILE, whole or not at all, instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

const FORMATS: &str = "\
Form of what is written: text; html (one page for a browser); flamegraph (SVG); folded (stacks, for flame graph tools); \
pprof (gzipped profile.proto); callgrind (for KCachegrind and callgrind_annotate); dot (call graph, for graphviz); \
json (everything); csv (one table of --tables, or all call chains); massif (the heap over time, for ms_print)";

/// A form of output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FormatName {
    Text,
    Html,
    Flamegraph,
    Folded,
    Pprof,
    Callgrind,
    Dot,
    Json,
    Csv,
    Massif,
}

/// A measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum MeasureName {
    Bytes,
    Allocs,
    Kept,
    KeptObjects,
    Peak,
    PeakObjects,
}

impl Export {
    /// The form asked for.
    pub fn format(&self) -> Format {
        match self.format {
            FormatName::Text => Format::Text,
            FormatName::Html => Format::Html,
            FormatName::Flamegraph => Format::Flamegraph,
            FormatName::Folded => Format::Folded,
            FormatName::Pprof => Format::Pprof,
            FormatName::Callgrind => Format::Callgrind,
            FormatName::Dot => Format::Dot,
            FormatName::Json => Format::Json,
            FormatName::Csv => Format::Csv,
            FormatName::Massif => Format::Massif,
        }
    }

    /// The measure asked for.
    pub fn measure(&self) -> Option<Measure> {
        self.measure.map(|measure| match measure {
            MeasureName::Bytes => Measure::Bytes,
            MeasureName::Allocs => Measure::Allocs,
            MeasureName::Kept => Measure::Kept,
            MeasureName::KeptObjects => Measure::KeptObjects,
            MeasureName::Peak => Measure::Peak,
            MeasureName::PeakObjects => Measure::PeakObjects,
        })
    }
}
