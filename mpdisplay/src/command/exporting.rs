//! Which options go with the forms that other programs read.

use crate::cli::Arguments;
use crate::error::Error;
use crate::export::{CsvRows, Format};
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
