//! Which options go with the forms that other programs read.

use super::complain;
use crate::analysis::half::Half;
use crate::analysis::leaks::Leaks;
use crate::cli::Arguments;
use crate::destination::Destination;
use crate::error::Error;
use crate::export::{self, CsvRows, Format, Source};
use crate::half_report::HalfReport;
use crate::report::options::By;
use std::io::{self, IsTerminal};

/// Refuses what cannot be written in the form asked for, before anything is read.
///
/// # Errors
/// What does not go together, and what to do.
pub(super) fn check(arguments: &Arguments) -> Result<(), Error> {
    let format = arguments.export.format();
    if format == Format::Text {
        return Ok(());
    }
    let refused = |reason| Err(Error::Usage(reason));
    if !arguments.several.diff.is_empty() {
        return refused("--diff gives tables only: leave --format out");
    }
    if matches!(arguments.several.by(), By::Process | By::Thread) {
        return refused(
            "this format holds one report: choose a process or thread with --pid or --tid instead of --by",
        );
    }
    if arguments.generation.format().is_some() {
        return refused("--gen-suppressions has a format of its own: leave --format out");
    }
    if arguments.shown.sources().is_some() {
        return refused("--annotate gives a listing only: leave --format out");
    }
    if format.is_binary() && arguments.export.output.is_none() && io::stdout().is_terminal() {
        return refused("this format is no text: use -o FILE");
    }
    csv_rows(arguments).map(drop)
}

/// What CSV is to have rows of.
///
/// # Errors
/// Where several are named, and where the one named has no rows of the chosen part.
pub(super) fn csv_rows(arguments: &Arguments) -> Result<CsvRows, Error> {
    if arguments.export.format() != Format::Csv {
        return Ok(CsvRows::default());
    }
    let rows = arguments.shown.csv_rows().map_err(Error::Usage)?;
    let chooses = arguments.reading.chains().chooses() || !arguments.several.tid.is_empty();
    if rows == CsvRows::Bins && chooses {
        return Err(Error::Usage("sizes are recorded for whole processes only, not by thread or call chain"));
    }
    Ok(rows)
}

/// The halves that are written, of those that there are: such a form holds one. Where none was asked for it is what a
/// collector's heap has, for which the program was written; which, is said.
pub(super) fn halves(arguments: &Arguments, halves: Vec<Half>) -> Vec<Half> {
    if arguments.export.format() == Format::Massif && halves.first() == Some(&Half::C) {
        // It is about what is kept, which only this half has.
        return vec![Half::C];
    }
    match halves.last() {
        Some(&last) if arguments.export.format() != Format::Text && halves.len() > 1 => {
            complain(&format_args!(
                "this format holds one half of the profile, here {}: --c, --lisp or --gc chooses",
                last.name()
            ));
            vec![last]
        }
        _ => halves,
    }
}

/// Writes it in a form for other programs; gives what one must know of the result.
///
/// # Errors
/// Those of the destination.
pub(super) fn export(
    report: &HalfReport<'_>,
    leaks: &Leaks<'_>,
    arguments: &Arguments,
    destination: &Destination<'_>,
) -> Result<Vec<String>, Error> {
    let HalfReport { parts, view, options, .. } = report;
    let measure = arguments.export.measure().unwrap_or_default();
    let csv_rows = csv_rows(arguments)?;
    if arguments.export.format() == Format::Massif && parts.len() != 1 {
        return Err(Error::Usage("massif's format holds one process: choose it with --pid"));
    }
    let source = Source { parts, view, leaks, options, measure, csv_rows };
    let mut notes = Vec::new();
    destination.put(|out| {
        notes = export::write(arguments.export.format(), &source, out)?;
        Ok(())
    })?;
    Ok(notes)
}
