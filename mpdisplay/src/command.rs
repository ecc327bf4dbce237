//! What the command does: reads profiles, gives them names, shows them.

mod exporting;

use crate::analysis::half::Half;
use crate::analysis::leaks::Leaks;
use crate::cli::Arguments;
use crate::destination::Destination;
use crate::error::Error;
use crate::export::{Format, Measure};
use crate::half_report::HalfReport;
use crate::leak_check::{Excess, Settings};
use crate::report;
use crate::report::options::{By, Options};
use crate::states::States;
use crate::suppress::{Suppressions, generate};
use std::fmt::Display;
use std::io::{self, Write};
use std::process::ExitCode;

/// Does what the arguments ask for; messages go to standard error. Ends with 2 where the input cannot be read
/// whole, and with 1 where a leak check fails.
pub fn run(arguments: &Arguments) -> ExitCode {
    match show(arguments) {
        Ok(code) => code,
        Err(error) => {
            complain(&error);
            ExitCode::from(2)
        }
    }
}

fn show(arguments: &Arguments) -> Result<ExitCode, Error> {
    if !arguments.several.diff.is_empty() && matches!(arguments.several.by(), By::Process | By::Thread) {
        return Err(Error::ApartAndCompared);
    }
    exporting::check(arguments)?;
    arguments.shown.check_sources()?;
    let settings = arguments.leaks.settings();
    let suppressions = settings.read_suppressions()?;
    let (states, troubles) = States::read(arguments, complain)?;
    let destination = Destination::of(arguments);
    let options = options(arguments, suppressions, &destination);
    let halves = exporting::halves(arguments, states.halves(&arguments.shown.halves())?);
    let half = halves.first().copied().unwrap_or_default();
    let further: Vec<_> = halves.iter().skip(1).map(|&half| (half, states.take(half))).collect();
    let states = states.leave(half);
    let report = |half, states| HalfReport::new(states, arguments, Options { half, ..options.clone() });
    let first = report(half, &states)?;
    let others: Vec<_> =
        further.iter().map(|(half, states)| report(*half, states)).collect::<Result<_, _>>()?;
    complain_of_unmatched(&first, &others);
    let leaks = Settings::leaks_in(&first.view, &first.options, states.baseline.as_deref());
    if let Some(format) = arguments.generation.format() {
        let shown = report::leaks::shown(&first.view, &leaks, &first.options);
        destination.put(|mut out| generate::write(&leaks, &shown, format, &mut out))?;
    } else if arguments.export.format() != Format::Text {
        exporting::export(&first, &leaks, arguments, &destination)?.iter().for_each(|note| complain(note));
    } else {
        write_all(&first, &leaks, &others, &destination)?;
    }
    settings.write_results(&states.profiles, &leaks)?;
    for trouble in &troubles {
        complain(trouble);
    }
    if arguments.leaks.kinds().is_some() && !leaks.classified {
        complain(&NOT_CLASSIFIED);
    }
    let leaked = settings.fails(&leaks);
    if leaked {
        complain(&format_args!("leaks: {}", Excess::of(&settings.counted(&leaks))));
    }
    Ok(ExitCode::from(if troubles.is_empty() { u8::from(leaked) } else { 2 }))
}

/// Writes the report of a half, and of further ones after it, each under its name where there are several. Those that
/// have nothing of what was asked for are left out, as long as one has.
fn write_all(
    first: &HalfReport<'_>,
    leaks: &Leaks<'_>,
    further: &[HalfReport<'_>],
    destination: &Destination<'_>,
) -> Result<(), Error> {
    let reports = std::iter::once(first).chain(further);
    let shown: Vec<_> = reports.filter(|report| report.no_source.is_none()).collect();
    if let ([], Some(no_source)) = (shown.as_slice(), &first.no_source) {
        return Err(no_source.error());
    }
    destination.put(|mut out| {
        for (index, report) in shown.iter().enumerate() {
            if index > 0 {
                write!(out, "\n\n")?;
            }
            if !further.is_empty() {
                report::write_half(&report.options, &mut out)?;
            }
            match std::ptr::eq(*report, first) {
                true => report.write(leaks, &mut out)?,
                false => report.write(&report.view.leaks(&report.options), &mut out)?,
            }
        }
        Ok(())
    })
}

/// What is wrong where kinds of leaks are asked for and nothing is known of them.
const NOT_CLASSIFIED: &str =
    "--leak-kinds chooses nothing: kept objects have kinds where the program ran with MPROF_LEAK_CHECK=1";

/// Tells of patterns that mean nothing in any of the reports.
fn complain_of_unmatched(first: &HalfReport<'_>, others: &[HalfReport<'_>]) {
    for unmatched in first.unmatched() {
        let is_in =
            |report: &HalfReport<'_>| report.unmatched().iter().any(|other| other.is_of_same(unmatched));
        if others.iter().all(is_in) {
            complain(unmatched);
        }
    }
}

/// Says it on standard error, if that can be written to.
fn complain(what: &dyn Display) {
    let _ = writeln!(io::stderr(), "mpdisplay: {what}");
}

fn options(arguments: &Arguments, suppressions: Suppressions, destination: &Destination<'_>) -> Options {
    let measure = arguments.export.measure();
    Options {
        tables: arguments.shown.tables(),
        paths: arguments.paths.paths(),
        detail: arguments.shown.detail(),
        graph: arguments.paths.graph(),
        marks: arguments.shown.marks(),
        order: arguments.shown.order().or(measure.map(Measure::order)),
        limit: arguments.shown.limit,
        chains: arguments.reading.chains(),
        kinds: arguments.leaks.kinds(),
        suppressions,
        show: arguments.reading.show(),
        by: arguments.several.by(),
        half: Half::C,
        // The page shows both, and massif's format the whole course.
        at_peak: measure.is_some_and(Measure::is_peak)
            && !matches!(arguments.export.format(), Format::Html | Format::Massif),
        clock: arguments.shown.clock(),
        source_directories: arguments.naming.source_directories.clone(),
        page: destination.page(),
        styles: destination.styles(),
    }
}
