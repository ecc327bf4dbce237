//! What the command does: reads profiles, gives them names, shows them.

use crate::analysis::part::Part;
use crate::cli::{Arguments, Table, When};
use crate::error::Error;
use crate::export::{self, Format, Measure, Source};
use crate::input::{self, Inputs};
use crate::leak_check::{Excess, Settings};
use crate::output::{self, Screen};
use crate::report;
use crate::report::options::{By, Options, Page};
use crate::report::view::View;
use crate::select;
use crate::suppress::{Suppressions, generate};
use crate::whole_file;
use mprof_format::model::Profile;
use std::fmt::Display;
use std::io::{self, IsTerminal, Write};
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
    let table = check(arguments)?;
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
    let tables = |mut out: &mut dyn Write| match (&before, options.by) {
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
    let mut notes = Vec::new();
    put_out(arguments, &screen, |out| match arguments.export.format() {
        Format::Text => tables(out),
        format => {
            let measure = arguments.export.measure().unwrap_or_default();
            let source =
                Source { parts: &parts, view: &view, leaks: &leaks, options: &options, measure, table };
            notes = export::write(format, &source, out)?;
            Ok(())
        }
    })?;
    notes.iter().for_each(complain);
    settings.write_results(&profiles, &leaks)?;
    troubles.iter().for_each(complain);
    let leaked = settings.fails(&leaks);
    if leaked {
        complain(&format_args!("leaks: {}", Excess::of(&leaks)));
    }
    Ok(ExitCode::from(if troubles.is_empty() { u8::from(leaked) } else { 2 }))
}

/// Refuses what cannot be written in the form asked for; gives the table that CSV is to hold.
fn check(arguments: &Arguments) -> Result<Option<Table>, Error> {
    let format = arguments.export.format();
    if format == Format::Text {
        return Ok(None);
    }
    if !arguments.several.diff.is_empty() {
        return Err(Error::Usage("--diff gives tables only: leave --format out"));
    }
    if matches!(arguments.several.by(), By::Process | By::Thread) {
        return Err(Error::Usage(
            "this format holds one report: choose a process or thread with --pid or --tid instead of --by",
        ));
    }
    if arguments.generation.format().is_some() {
        return Err(Error::Usage("--gen-suppressions has a format of its own: leave --format out"));
    }
    if format.is_binary() && arguments.export.output.is_none() && io::stdout().is_terminal() {
        return Err(Error::Usage("this format is no text: use -o FILE"));
    }
    let table = if format == Format::Csv { arguments.shown.single_table() } else { Ok(None) };
    let table = table.map_err(Error::Usage)?;
    let chooses = arguments.reading.chains().chooses() || !arguments.several.tid.is_empty();
    if table == Some(Table::Bins) && chooses {
        return Err(Error::Usage("sizes are recorded for whole processes only, not by thread or call chain"));
    }
    Ok(table)
}

/// Writes to the file that the arguments name, or to standard output.
fn put_out(
    arguments: &Arguments,
    screen: &Screen,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Error> {
    match &arguments.export.output {
        Some(path) => whole_file::write(path, |out| write(out))
            .map_err(|reason| Error::OutputFile { path: path.clone(), reason }),
        None => screen.print(|out| write(out)),
    }
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
    let file = arguments.export.output.is_some();
    let styles = match arguments.screen.color {
        When::Auto => !file && output::styles(),
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
        order: arguments.shown.order().or(arguments.export.measure().map(Measure::order)),
        limit: arguments.shown.limit,
        chains: arguments.reading.chains(),
        suppressions,
        show: arguments.reading.show(),
        by: arguments.several.by(),
        page: if arguments.export.output.is_some() { Page::default() } else { screen.page() },
        styles: screen.styles(),
    }
}
