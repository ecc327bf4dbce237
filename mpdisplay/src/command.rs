//! What the command does: reads profiles, gives them names, shows them.

use crate::analysis::half::Half;
use crate::analysis::part::Part;
use crate::cli::{Arguments, When};
use crate::error::Error;
use crate::further::Further;
use crate::input::{self, Inputs};
use crate::leak_check::{Excess, Settings};
use crate::output::{self, Screen};
use crate::report;
use crate::report::options::{By, Options};
use crate::report::view::View;
use crate::select;
use crate::suppress::{Suppressions, generate};
use mprof_format::model::Profile;
use std::fmt::Display;
use std::io::{self, Write};
use std::path::PathBuf;
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
    let settings = arguments.leaks.settings();
    let suppressions = settings.read_suppressions()?;
    let Inputs { profiles, mut troubles } = read(&arguments.files, arguments)?;
    let mut earlier = |files: &[PathBuf]| -> Result<Option<Vec<Profile>>, Error> {
        if files.is_empty() {
            return Ok(None);
        }
        let Inputs { profiles, troubles: more } = read(files, arguments)?;
        troubles.extend(more);
        Ok(Some(profiles))
    };
    let baseline = earlier(&arguments.leaks.baseline)?;
    let before = earlier(&arguments.several.diff)?;
    let halves = select::halves(profiles.iter().chain(before.iter().flatten()), &arguments.shown.halves())?;
    let half = halves.first().copied().unwrap_or_default();
    let further = match arguments.generation.format() {
        Some(_) => Vec::new(),
        None => Further::of(halves.get(1..).unwrap_or_default(), &profiles, before.as_deref()),
    };
    let profiles = half.leave_all(profiles);
    let (baseline, before) = (baseline.map(|of| half.leave_all(of)), before.map(|of| half.leave_all(of)));
    let screen = screen(arguments);
    let options = Options { half, ..options(arguments, suppressions, &screen) };
    let (pids, tids) = (&arguments.several.pid, &arguments.several.tid);
    let further: Vec<_> =
        further.iter().map(|further| further.report(pids, tids, &options)).collect::<Result<_, _>>()?;
    let parts = select::parts(&profiles, pids, tids)?;
    let view = View::new(&parts, &options);
    let leaks = Settings::leaks_in(&view, &options, baseline.as_deref());
    let first = |mut out: &mut dyn Write| match (&before, options.by) {
        _ if let Some(format) = arguments.generation.format() => {
            generate::write(&leaks, &report::leaks::shown(&view, &leaks, &options), format, &mut out)
        }
        (Some(before), _) => {
            let before: Vec<Part<'_>> = before.iter().map(Part::whole).collect();
            report::write_comparison(&before, &parts, &options, &mut out)
        }
        (None, By::Process | By::Thread) => report::write_each(&parts, &options, &mut out),
        (None, By::Function | By::Module) => report::write_view(&parts, &view, &leaks, &options, &mut out),
    };
    screen.print(|out| {
        if !further.is_empty() {
            report::write_half(&options, out)?;
        }
        first(out)?;
        further.iter().try_for_each(|report| report.write(out))
    })?;
    settings.write_results(&profiles, &leaks)?;
    troubles.iter().for_each(complain);
    let leaked = settings.fails(&leaks);
    if leaked {
        complain(&format_args!("leaks: {}", Excess::of(&leaks)));
    }
    Ok(ExitCode::from(if troubles.is_empty() { u8::from(leaked) } else { 2 }))
}

/// Says it on standard error, if that can be written to.
fn complain(what: &impl Display) {
    let _ = writeln!(io::stderr(), "mpdisplay: {what}");
}

/// The profiles in `files`, with names; without files, what is meant then.
fn read(files: &[PathBuf], arguments: &Arguments) -> Result<Inputs, Error> {
    let mut inputs = input::read_all(files, &complain)?;
    let naming = arguments.naming.options();
    for profile in inputs.profiles.iter_mut().filter(|profile| profile.names.is_none()) {
        for warning in mpfilt::add_names(profile, &naming) {
            complain(&warning);
        }
    }
    Ok(inputs)
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
        page: screen.page(),
        styles: screen.styles(),
    }
}
