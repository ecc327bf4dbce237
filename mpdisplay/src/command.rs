//! What the command does: reads profiles, gives them names, shows them.

mod exporting;

use crate::analysis::annotation::Annotation;
use crate::analysis::leaks::Leaks;
use crate::analysis::number::Number;
use crate::analysis::part::Part;
use crate::analysis::text::{base_name, printable};
use crate::analysis::tree::Tree;
use crate::cli::Arguments;
use crate::destination::Destination;
use crate::error::Error;
use crate::export::{self, Format, Measure, Source};
use crate::input::{self, Inputs};
use crate::leak_check::{Excess, Settings};
use crate::report;
use crate::report::options::{By, Options};
use crate::report::source::{Sources, is_preferred};
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
    if !arguments.several.diff.is_empty() && matches!(arguments.several.by(), By::Process | By::Thread) {
        return Err(Error::ApartAndCompared);
    }
    exporting::check(arguments)?;
    let settings = arguments.leaks.settings();
    let suppressions = settings.read_suppressions()?;
    let Gathered { profiles, baseline, before, troubles } = Gathered::read(arguments)?;
    let destination = Destination::of(arguments);
    let options = options(arguments, suppressions, &destination);
    let parts = select::parts(&profiles, &arguments.several.pid, &arguments.several.tid)?;
    let view = View::new(&parts, &options);
    let leaks = Settings::leaks_in(&view, &options, baseline.as_deref());
    let subject = Subject { parts: &parts, view: &view, leaks: &leaks };
    match &before {
        Some(before) => subject.compare(before, arguments, &options, &destination)?,
        None if arguments.export.format() == Format::Text => {
            subject.show(arguments, &options, &destination)?
        }
        None => subject.export(arguments, &options, &destination)?,
    }
    settings.write_results(&profiles, &leaks)?;
    if arguments.leaks.kinds().is_some() && !leaks.classified {
        complain(&NOT_CLASSIFIED);
    }
    troubles.iter().for_each(complain);
    let leaked = settings.fails(&leaks);
    if leaked {
        complain(&format_args!("leaks: {}", Excess::of(&settings.counted(&leaks))));
    }
    Ok(ExitCode::from(if troubles.is_empty() { u8::from(leaked) } else { 2 }))
}

/// What is shown.
struct Subject<'s> {
    parts: &'s [Part<'s>],
    view: &'s View,
    leaks: &'s Leaks<'s>,
}

impl Subject<'_> {
    fn show(
        &self,
        arguments: &Arguments,
        options: &Options,
        destination: &Destination<'_>,
    ) -> Result<(), Error> {
        let Subject { parts, view, leaks } = *self;
        if let Some(sources) = arguments.shown.sources() {
            let annotation = annotation(&view.tree, &sources, options)?;
            return destination
                .put(|mut out| report::write_source(parts, view, &annotation, &sources, options, &mut out));
        }
        destination.put(|mut out| match (arguments.generation.format(), options.by) {
            (Some(format), _) => {
                generate::write(leaks, &report::leaks::shown(view, leaks, options), format, &mut out)
            }
            (None, By::Process | By::Thread) => report::write_each(parts, options, &mut out),
            (None, By::Function | By::Module) => report::write_view(parts, view, leaks, options, &mut out),
        })
    }

    /// Writes it in a form for other programs, and says what one must know of the result.
    fn export(
        &self,
        arguments: &Arguments,
        options: &Options,
        destination: &Destination<'_>,
    ) -> Result<(), Error> {
        let Subject { parts, view, leaks } = *self;
        let measure = arguments.export.measure().unwrap_or_default();
        let csv_rows = exporting::csv_rows(arguments)?;
        if arguments.export.format() == Format::Massif && parts.len() != 1 {
            return Err(Error::Usage("massif's format holds one process: choose it with --pid"));
        }
        let source = Source { parts, view, leaks, options, measure, csv_rows };
        let mut notes = Vec::new();
        destination.put(|out| {
            notes = export::write(arguments.export.format(), &source, out)?;
            Ok(())
        })?;
        notes.iter().for_each(complain);
        Ok(())
    }

    /// Shows what has changed since `before`.
    fn compare(
        &self,
        before: &[Profile],
        arguments: &Arguments,
        options: &Options,
        destination: &Destination<'_>,
    ) -> Result<(), Error> {
        let before: Vec<Part<'_>> = before.iter().map(Part::whole).collect();
        let states = [before.as_slice(), self.parts];
        let view = View::comparing(states, options);
        if let Some(sources) = arguments.shown.sources() {
            let annotation = annotation(&view.tree, &sources, options)?;
            return destination.put(|mut out| {
                report::write_source_comparison(states, &view, &annotation, &sources, options, &mut out)
            });
        }
        destination.put(|mut out| report::write_comparison(states, &view, options, &mut out))
    }
}

/// What the lines of the source allocated, if there is source of all the names that were asked for.
fn annotation<N: Number>(
    tree: &Tree<N>,
    sources: &Sources,
    options: &Options,
) -> Result<Annotation<N>, Error> {
    let folders = &options.source_directories;
    let annotation = Annotation::new(tree, |path| is_preferred(path, folders));
    let names = match sources {
        Sources::Named(names) => names.as_slice(),
        Sources::Largest => &[],
    };
    match names.iter().find(|name| annotation.named(name).next().is_none()) {
        None => Ok(annotation),
        Some(name) => {
            let there = annotation.files.iter().map(|file| base_name(&file.path).to_owned());
            Err(Error::NoSource { name: printable(name.as_bytes()), there: there.collect() })
        }
    }
}

/// What is wrong where kinds of leaks are asked for and nothing is known of them.
const NOT_CLASSIFIED: &str =
    "--leak-kinds chooses nothing: kept objects have kinds where the program ran with MPROF_LEAK_CHECK=1";

/// Says it on standard error, if that can be written to.
fn complain(what: &impl Display) {
    let _ = writeln!(io::stderr(), "mpdisplay: {what}");
}

/// All profiles that the arguments name, with names, and what is missing from them.
struct Gathered {
    profiles: Vec<Profile>,
    /// To compare leaks with.
    baseline: Option<Vec<Profile>>,
    /// To compare everything with.
    before: Option<Vec<Profile>>,
    troubles: Vec<Error>,
}

impl Gathered {
    fn read(arguments: &Arguments) -> Result<Self, Error> {
        let Inputs { profiles, mut troubles } = input::read_all(&arguments.files, &complain)?;
        let mut earlier = |files: &[PathBuf]| -> Result<Option<Vec<Profile>>, Error> {
            if files.is_empty() {
                return Ok(None);
            }
            let Inputs { profiles, troubles: more } = input::read_all(files, &complain)?;
            troubles.extend(more);
            Ok(Some(profiles))
        };
        let baseline = earlier(&arguments.leaks.baseline)?;
        let before = earlier(&arguments.several.diff)?;
        let mut gathered = Gathered { profiles, baseline, before, troubles };
        gathered.name(&arguments.naming.options());
        Ok(gathered)
    }

    /// Gives names to the profiles that have none.
    fn name(&mut self, options: &mpfilt::Options) {
        let earlier = self.baseline.iter_mut().chain(&mut self.before).flatten();
        let mut unnamed: Vec<&mut Profile> =
            self.profiles.iter_mut().chain(earlier).filter(|profile| profile.names.is_none()).collect();
        for warning in mpfilt::add_names_to_all(&mut unnamed, options) {
            complain(&warning);
        }
    }
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
        // The page shows both, and massif's format the whole course.
        at_peak: measure.is_some_and(Measure::is_peak)
            && !matches!(arguments.export.format(), Format::Html | Format::Massif),
        clock: arguments.shown.clock(),
        source_directories: arguments.naming.source_directories.clone(),
        page: destination.page(),
        styles: destination.styles(),
    }
}
