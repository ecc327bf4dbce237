//! What the command does: reads profiles, gives them names, shows them.

use crate::analysis::tree::Tree;
use crate::cli::Arguments;
use crate::error::Error;
use crate::export::{self, Format, Measure, Source};
use crate::input::{self, Input};
use crate::output;
use crate::report::options::{Options, Page};
use mprof_format::model::Profile;
use std::fmt::Display;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

/// Does what the arguments ask for; messages go to standard error. Ends with 2 where the input cannot be read
/// whole.
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
    let format = arguments.export.format();
    let table =
        if format == Format::Csv { arguments.shown.single_table().map_err(Error::Usage)? } else { None };
    if format.is_binary() && arguments.export.output.is_none() && io::stdout().is_terminal() {
        return Err(Error::Usage("this format is no text: use -o FILE".into()));
    }
    let (profiles, troubles) = read(arguments)?;
    let (tree, options) = (Tree::new(&profiles), options(arguments));
    let measure = arguments.export.measure().unwrap_or_default();
    let source = Source { profiles: &profiles, tree: &tree, options: &options, measure, table };
    let notes = write(arguments, |out| export::write(format, &source, out))?;
    notes.iter().for_each(complain);
    troubles.iter().for_each(complain);
    Ok(if troubles.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(2) })
}

/// Writes to where the arguments say.
fn write<T: Default>(
    arguments: &Arguments,
    write: impl FnOnce(&mut dyn Write) -> io::Result<T>,
) -> Result<T, Error> {
    match &arguments.export.output {
        Some(path) => {
            output::to_file(path, write).map_err(|reason| Error::OutputFile { path: path.clone(), reason })
        }
        None => output::to_standard(write).map(Option::unwrap_or_default).map_err(Error::Output),
    }
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
    let naming = arguments.naming.options();
    let mut profiles = Vec::new();
    let mut troubles = Vec::new();
    for Input { mut profile, trouble } in inputs {
        if profile.names.is_none() {
            for warning in mpfilt::add_names(&mut profile, &naming) {
                complain(&warning);
            }
        }
        profiles.push(profile);
        troubles.extend(trouble);
    }
    Ok((profiles, troubles))
}

fn options(arguments: &Arguments) -> Options {
    Options {
        tables: arguments.shown.tables(),
        paths: arguments.paths.paths(),
        detail: arguments.shown.detail(),
        graph: arguments.paths.graph(),
        marks: arguments.shown.marks(),
        order: arguments.shown.order().or(arguments.export.measure().map(Measure::order)),
        limit: arguments.shown.limit,
        page: page(arguments.export.output.is_some()),
    }
}

/// The terminal's width, and lines folded to it; in a pipe or file 80 columns, and nothing is folded.
fn page(file: bool) -> Page {
    match terminal_size::terminal_size_of(io::stdout()) {
        Some((terminal_size::Width(width), _)) if !file && io::stdout().is_terminal() => {
            Page { width: width.into(), fold: true }
        }
        _ => Page::default(),
    }
}
