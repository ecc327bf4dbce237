//! `mpdisplay`: shows profiles.

use std::io::{self, BufWriter, IsTerminal, Write};
use std::process::ExitCode;

use clap::Parser;
use mpdisplay::analysis::graph::GraphKind;
use mpdisplay::analysis::leaks::PathOptions;
use mpdisplay::analysis::share::Detail;
use mpdisplay::analysis::tree::Tree;
use mpdisplay::error::Error;
use mpdisplay::input::{self, Input};
use mpdisplay::leak_check::{Excess, Settings};
use mpdisplay::report::number::Marks;
use mpdisplay::report::options::{Options, Order, Page, Tables};
use mpdisplay::suppress::generate;
use mprof_format::model::Profile;

mod cli;

use cli::{Arguments, Sort, Table};

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("mpdisplay: {error}");
            ExitCode::from(2)
        }
    }
}

fn run(arguments: &Arguments) -> Result<ExitCode, Error> {
    let settings = arguments.leaks.settings();
    let suppressions = settings.read_suppressions()?;
    let inputs = if arguments.files.is_empty() {
        vec![input::read_unnamed()?]
    } else {
        arguments.files.iter().map(|path| input::read(path)).collect::<Result<Vec<Input>, Error>>()?
    };
    let baseline = arguments
        .leaks
        .baseline
        .iter()
        .map(|path| input::read(path))
        .collect::<Result<Vec<Input>, Error>>()?;
    let mut troubles = Vec::new();
    let profiles = named(inputs, arguments, &mut troubles);
    let baseline = if baseline.is_empty() { None } else { Some(named(baseline, arguments, &mut troubles)) };
    let options = options(arguments);
    let tree = Tree::new(&profiles);
    let leaks = Settings::leaks(&tree, options.paths, &suppressions, baseline.as_deref());
    let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    let written = match arguments.gen_suppressions {
        Some(format) => {
            let rows = mpdisplay::report::leaks::shown(&leaks, &options);
            generate::write(&leaks, &rows, format.into(), &mut out)
        }
        None => mpdisplay::report::write_report_of(&profiles, &tree, &leaks, &options, &mut out),
    };
    match written.and_then(|()| out.flush()) {
        // Who closes the pipe has seen enough, but the status is asked for all the same.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
        Err(error) => return Err(Error::Output(error)),
        Ok(()) => {}
    }
    settings.write_results(&profiles, &leaks)?;
    let incomplete = !troubles.is_empty();
    troubles.iter().for_each(|trouble| eprintln!("mpdisplay: {trouble}"));
    let leaked = settings.fails(&leaks);
    if leaked {
        eprintln!("mpdisplay: leaks: {}", Excess::of(&leaks));
    }
    Ok(match (incomplete, leaked) {
        (true, _) => ExitCode::from(2),
        (false, true) => ExitCode::from(1),
        (false, false) => ExitCode::SUCCESS,
    })
}

/// The profiles that were read, with names. What is missing from them is added to `troubles`.
fn named(inputs: Vec<Input>, arguments: &Arguments, troubles: &mut Vec<Error>) -> Vec<Profile> {
    let naming = naming(arguments);
    let mut profiles = Vec::new();
    for Input { mut profile, trouble } in inputs {
        if profile.names.is_none() {
            for warning in mpfilt::add_names(&mut profile, &naming) {
                eprintln!("mpdisplay: {warning}");
            }
        }
        profiles.push(profile);
        troubles.extend(trouble);
    }
    profiles
}

fn naming(arguments: &Arguments) -> mpfilt::Options {
    let mut options = mpfilt::Options { root: arguments.root.clone(), ..mpfilt::Options::default() };
    options.debug_directories.splice(0..0, arguments.debug_directories.iter().cloned());
    options
}

fn options(arguments: &Arguments) -> Options {
    let all = arguments.tables.is_empty();
    let wanted = |table| all || arguments.tables.contains(&table);
    Options {
        tables: Tables {
            leaks: wanted(Table::Leaks) && !arguments.no_leaks,
            bins: wanted(Table::Bins),
            direct: wanted(Table::Direct),
            graph: wanted(Table::Graph),
        },
        paths: PathOptions { depth: arguments.depth, offsets: arguments.offsets, lines: arguments.lines },
        detail: match (arguments.terse, arguments.verbose) {
            (true, _) => Detail::Terse,
            (_, true) => Detail::Verbose,
            _ => Detail::Normal,
        },
        graph: if arguments.exact { GraphKind::Exact } else { GraphKind::Merged },
        marks: if arguments.marks { Marks::Shown } else { Marks::None },
        order: arguments.sort.map(|sort| match sort {
            Sort::Bytes => Order::Bytes,
            Sort::Kept => Order::Kept,
            Sort::Allocs => Order::Allocs,
            Sort::Name => Order::Name,
        }),
        limit: arguments.limit,
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
