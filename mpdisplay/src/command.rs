//! What the command does: reads profiles, gives them names, shows them.

use crate::analysis::part::Part;
use crate::cli::{Arguments, When};
use crate::error::Error;
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
    let screen = screen(arguments);
    let options = options(arguments, suppressions, &screen);
    let parts = select::parts(&profiles, &arguments.several.pid, &arguments.several.tid)?;
    let view = View::new(&parts, &options);
    let leaks = Settings::leaks_in(&view, &options, baseline.as_deref());
    screen.print(|out| match (&before, options.by) {
        _ if let Some(format) = arguments.generation.format() => {
            generate::write(&leaks, &report::leaks::shown(&view, &leaks, &options), format, out)
        }
        (Some(before), _) => {
            let before: Vec<Part<'_>> = before.iter().map(Part::whole).collect();
            report::write_comparison(&before, &parts, &options, out)
        }
        (None, By::Process | By::Thread) => report::write_each(&parts, &options, out),
        (None, By::Function | By::Module) => report::write_view(&parts, &view, &leaks, &options, out),
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
        page: screen.page(),
        styles: screen.styles(),
    }
}
