//! The report of one half of the profiles, in the form that the arguments ask for.

use crate::analysis::annotation::Annotation;
use crate::analysis::leaks::Leaks;
use crate::analysis::number::{Change, Number};
use crate::analysis::part::Part;
use crate::analysis::text::{base_name, printable};
use crate::analysis::tree::Tree;
use crate::analysis::unmatched::Unmatched;
use crate::cli::Arguments;
use crate::error::Error;
use crate::report;
use crate::report::options::{By, Options};
use crate::report::source::{Sources, is_preferred};
use crate::report::view::View;
use crate::select;
use crate::states::States;
use std::io::{self, Write};

/// What is shown of a half.
pub(crate) struct HalfReport<'p> {
    pub(crate) parts: Vec<Part<'p>>,
    pub(crate) view: View,
    pub(crate) options: Options,
    comparison: Option<Comparison<'p>>,
    sources: Option<Sources>,
    /// What the lines of the sources allocated, if these are asked for.
    annotation: Option<Annotation>,
    /// The source file that was asked for and is not there.
    pub(crate) no_source: Option<NoSource>,
}

/// A source file of which the half has nothing.
#[derive(Debug, Clone)]
pub(crate) struct NoSource {
    name: String,
    there: Vec<String>,
}

impl NoSource {
    pub(crate) fn error(&self) -> Error {
        Error::NoSource { name: self.name.clone(), there: self.there.clone() }
    }
}

/// What has changed since an earlier state.
struct Comparison<'p> {
    before: Vec<Part<'p>>,
    view: View<Change>,
    annotation: Option<Annotation<Change>>,
}

impl<'p> HalfReport<'p> {
    /// The report of profiles which hold the half that the options name.
    ///
    /// # Errors
    /// When a process or a thread that was asked for is not there.
    pub(crate) fn new(states: &'p States, arguments: &Arguments, options: Options) -> Result<Self, Error> {
        let (tables, at_peak) = (options.tables.of(options.half), options.at_peak && options.half.is_freed());
        let options = Options { tables, at_peak, ..options };
        let parts = select::parts(&states.profiles, &arguments.several.pid, &arguments.several.tid)?;
        let view = View::new(&parts, &options);
        let sources = arguments.shown.sources();
        let (mut comparison, mut annotation, mut no_source) = (None, None, None);
        if let Some(before) = &states.before {
            let before: Vec<Part<'_>> = before.iter().map(Part::whole).collect();
            let view = View::comparing([&before, &parts], &options);
            let annotation = annotate(&view.tree, sources.as_ref(), &options, &mut no_source);
            comparison = Some(Comparison { before, view, annotation });
        } else {
            annotation = annotate(&view.tree, sources.as_ref(), &options, &mut no_source);
        }
        Ok(HalfReport { parts, view, options, comparison, sources, annotation, no_source })
    }

    /// Patterns of the options that mean nothing in it.
    pub(crate) fn unmatched(&self) -> &[Unmatched] {
        match &self.comparison {
            Some(comparison) => &comparison.view.unmatched,
            None => &self.view.unmatched,
        }
    }

    /// Writes it, with a leak table that may lack what is suppressed or known.
    ///
    /// # Errors
    /// Those of `out`.
    pub(crate) fn write(&self, leaks: &Leaks<'_>, out: &mut impl Write) -> io::Result<()> {
        let Self { parts, view, options, sources, annotation, .. } = self;
        if let Some(Comparison { before, view, annotation }) = &self.comparison {
            let states = [before.as_slice(), parts.as_slice()];
            return match (sources, annotation) {
                (Some(sources), Some(annotation)) => {
                    report::write_source_comparison(states, view, annotation, sources, options, out)
                }
                _ => report::write_comparison(states, view, options, out),
            };
        }
        match (sources, annotation, options.by) {
            (Some(sources), Some(annotation), _) => {
                report::write_source(parts, view, annotation, sources, options, out)
            }
            (.., By::Process | By::Thread) => report::write_each(parts, options, out),
            (.., By::Function | By::Module) => report::write_view(parts, view, leaks, options, out),
        }
    }
}

/// What the lines of the sources allocated. `None` where none are asked for, and where one that was asked for by name
/// is not there: then `no_source` says so.
fn annotate<N: Number>(
    tree: &Tree<N>,
    sources: Option<&Sources>,
    options: &Options,
    no_source: &mut Option<NoSource>,
) -> Option<Annotation<N>> {
    let sources = sources?;
    let folders = &options.source_directories;
    let annotation = Annotation::new(tree, |path| is_preferred(path, folders));
    let names = match sources {
        Sources::Named(names) => names.as_slice(),
        Sources::Largest => &[],
    };
    match names.iter().find(|name| annotation.named(name).next().is_none()) {
        None => Some(annotation),
        Some(name) => {
            let there = annotation.files.iter().map(|file| base_name(&file.path).to_owned());
            *no_source = Some(NoSource { name: printable(name.as_bytes()), there: there.collect() });
            None
        }
    }
}
