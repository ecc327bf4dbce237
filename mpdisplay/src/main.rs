//! `mpdisplay`: shows profiles.

use std::fmt::Display;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::process::ExitCode;

use clap::Parser;
use mpdisplay::analysis::graph::GraphKind;
use mpdisplay::analysis::leaks::PathOptions;
use mpdisplay::analysis::share::Detail;
use mpdisplay::report::number::Marks;
use mpdisplay::report::options::{Options, Order, Page, Tables};

mod cli;
mod error;
mod input;

use cli::{Arguments, Sort, Table};
use error::Error;
use input::Input;

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(code) => code,
        Err(error) => {
            complain(&error);
            ExitCode::from(2)
        }
    }
}

fn run(arguments: &Arguments) -> Result<ExitCode, Error> {
    let inputs = if arguments.files.is_empty() {
        vec![input::read_unnamed()?]
    } else {
        arguments.files.iter().map(|path| input::read(path)).collect::<Result<Vec<Input>, Error>>()?
    };
    let naming = naming(arguments);
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
    let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    let written = mpdisplay::report::write_report(&profiles, &options(arguments), &mut out);
    match written.and_then(|()| out.flush()) {
        // Who closes the pipe has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(ExitCode::SUCCESS),
        Err(error) => return Err(Error::Output(error)),
        Ok(()) => {}
    }
    let failed = !troubles.is_empty();
    troubles.iter().for_each(complain);
    Ok(if failed { ExitCode::from(2) } else { ExitCode::SUCCESS })
}

/// Says it on standard error, if that can be written to.
fn complain(what: &impl Display) {
    let _ = writeln!(io::stderr(), "mpdisplay: {what}");
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
