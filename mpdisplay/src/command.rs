//! What the command does: reads profiles, gives them names, shows them.

use crate::analysis::half::Half;
use crate::analysis::leaks::Leaks;
use crate::cli::{Arguments, When};
use crate::error::Error;
use crate::half_report::HalfReport;
use crate::leak_check::{Excess, Settings};
use crate::output::{self, Screen};
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
    let settings = arguments.leaks.settings();
    let suppressions = settings.read_suppressions()?;
    let (states, troubles) = States::read(arguments, complain)?;
    let screen = screen(arguments);
    let options = options(arguments, suppressions, &screen);
    let halves = states.halves(&arguments.shown.halves())?;
    let half = halves.first().copied().unwrap_or_default();
    let further: Vec<_> = halves.iter().skip(1).map(|&half| (half, states.take(half))).collect();
    let states = states.leave(half);
    let report = |half, states| HalfReport::new(states, arguments, Options { half, ..options.clone() });
    let first = report(half, &states)?;
    let leaks = Settings::leaks_in(&first.view, &first.options, states.baseline.as_deref());
    if let Some(format) = arguments.generation.format() {
        let shown = report::leaks::shown(&first.view, &leaks, &first.options);
        screen.print(|out| generate::write(&leaks, &shown, format, out))?;
    } else {
        let further: Vec<_> =
            further.iter().map(|(half, states)| report(*half, states)).collect::<Result<_, _>>()?;
        write_all(&first, &leaks, &further, &screen)?;
    }
    settings.write_results(&states.profiles, &leaks)?;
    for trouble in &troubles {
        complain(trouble);
    }
    let leaked = settings.fails(&leaks);
    if leaked {
        complain(&format_args!("leaks: {}", Excess::of(&leaks)));
    }
    Ok(ExitCode::from(if troubles.is_empty() { u8::from(leaked) } else { 2 }))
}

/// Writes the report of a half, and of further ones after it, each under its name where there are several. Those that
/// have nothing of what was asked for are left out, as long as one has.
fn write_all(
    first: &HalfReport<'_>,
    leaks: &Leaks<'_>,
    further: &[HalfReport<'_>],
    screen: &Screen,
) -> Result<(), Error> {
    let reports = std::iter::once(first).chain(further);
    let shown: Vec<_> = reports.filter(|report| report.no_source.is_none()).collect();
    if let ([], Some(no_source)) = (shown.as_slice(), &first.no_source) {
        return Err(no_source.error());
    }
    screen.print(|out| {
        for (index, report) in shown.iter().enumerate() {
            if index > 0 {
                write!(out, "\n\n")?;
            }
            if !further.is_empty() {
                report::write_half(&report.options, out)?;
            }
            match std::ptr::eq(*report, first) {
                true => report.write(leaks, out)?,
                false => report.write(&report.view.leaks(&report.options), out)?,
            }
        }
        Ok(())
    })
}

/// Says it on standard error, if that can be written to.
fn complain(what: &dyn Display) {
    let _ = writeln!(io::stderr(), "mpdisplay: {what}");
}

fn screen(arguments: &Arguments) -> Screen {
    let styles = match arguments.screen.color {
        When::Auto => output::styles(),
        When::Always => true,
        When::Never => false,
    };
    Screen { styles, pager: !arguments.screen.no_pager, full_names: arguments.screen.full_names }
}

fn options(arguments: &Arguments, suppressions: Suppressions, screen: &Screen) -> Options {
    Options {
        tables: arguments.shown.tables(),
        paths: arguments.paths.paths(),
        detail: arguments.shown.detail(),
        graph: arguments.paths.graph(),
        marks: arguments.shown.marks(),
        order: arguments.shown.order(),
        limit: arguments.shown.limit,
        chains: arguments.reading.chains(),
        suppressions,
        show: arguments.reading.show(),
        by: arguments.several.by(),
        half: Half::C,
        at_peak: false,
        clock: arguments.shown.clock(),
        source_directories: arguments.naming.source_directories.clone(),
        page: screen.page(),
        styles: screen.styles(),
    }
}
