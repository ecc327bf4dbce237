//! What the command does: reads profiles, gives them names, shows them.

use crate::analysis::tree::Tree;
use crate::cli::Arguments;
use crate::error::Error;
use crate::input::{self, Input};
use crate::leak_check::{Excess, Settings};
use crate::report;
use crate::report::options::{Options, Page};
use crate::suppress::generate;
use mprof_format::model::Profile;
use std::fmt::Display;
use std::io::{self, BufWriter, IsTerminal, Write};
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
    let (profiles, mut troubles) = read(arguments)?;
    let baseline = read_baseline(arguments, &mut troubles)?;
    let options = options(arguments);
    let tree = Tree::new(&profiles);
    let leaks = Settings::leaks(&tree, options.paths, &suppressions, baseline.as_deref());
    print(|out| match arguments.generation.format() {
        Some(format) => generate::write(&leaks, &report::leaks::shown(&leaks, &options), format, out),
        None => report::write_report_of(&profiles, &tree, &leaks, &options, out),
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

/// The profiles asked for, with names, and what is missing from them.
fn read(arguments: &Arguments) -> Result<(Vec<Profile>, Vec<Error>), Error> {
    let inputs = if arguments.files.is_empty() {
        vec![input::read_unnamed()?]
    } else {
        arguments.files.iter().map(|path| input::read(path)).collect::<Result<Vec<Input>, Error>>()?
    };
    let mut troubles = Vec::new();
    let profiles = named(inputs, &arguments.naming.options(), &mut troubles);
    Ok((profiles, troubles))
}

/// The profiles of the earlier run, if there is one to compare with.
fn read_baseline(arguments: &Arguments, troubles: &mut Vec<Error>) -> Result<Option<Vec<Profile>>, Error> {
    let files = &arguments.leaks.baseline;
    let inputs = files.iter().map(|path| input::read(path)).collect::<Result<Vec<Input>, Error>>()?;
    Ok((!files.is_empty()).then(|| named(inputs, &arguments.naming.options(), troubles)))
}

/// The profiles that were read, with names. What is missing from them is added to `troubles`.
fn named(inputs: Vec<Input>, naming: &mpfilt::Options, troubles: &mut Vec<Error>) -> Vec<Profile> {
    let mut profiles = Vec::new();
    for Input { mut profile, trouble } in inputs {
        if profile.names.is_none() {
            for warning in mpfilt::add_names(&mut profile, naming) {
                complain(&warning);
            }
        }
        profiles.push(profile);
        troubles.extend(trouble);
    }
    profiles
}

/// Writes to standard output. Who closes the pipe has seen enough: that is no error.
fn print(write: impl FnOnce(&mut BufWriter<io::StdoutLock<'static>>) -> io::Result<()>) -> Result<(), Error> {
    let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    match write(&mut out).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Error::Output(error)),
        _ => Ok(()),
    }
}

fn options(arguments: &Arguments) -> Options {
    Options {
        tables: arguments.shown.tables(),
        paths: arguments.paths.paths(),
        detail: arguments.shown.detail(),
        graph: arguments.paths.graph(),
        marks: arguments.shown.marks(),
        order: arguments.shown.order(),
        limit: arguments.shown.limit,
        page: page(),
    }
}

/// The terminal's width, and lines folded to it; in a pipe 80 columns, and nothing is folded.
fn page() -> Page {
    match terminal_size::terminal_size_of(io::stdout()) {
        Some((terminal_size::Width(width), _)) if io::stdout().is_terminal() => {
            Page { width: width.into(), fold: true }
        }
        _ => Page::default(),
    }
}
