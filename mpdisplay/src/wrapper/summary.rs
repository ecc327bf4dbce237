//! What is said when the program has ended.

use super::Plan;
use super::error::shown;
use super::files::Left;
use crate::analysis::leaks::{LeakRow, Leaks};
use crate::analysis::part::Part;
use crate::analysis::tally::Usage;
use crate::leak_check::location::{blamed, calls};
use crate::leak_check::{Excess, Settings};
use crate::report;
use crate::report::number::counted;
use crate::report::options::Options;
use crate::report::process::quoted;
use crate::report::view::View;
use mprof_format::model::Profile;
use std::io::{self, Write};
use std::path::PathBuf;

/// Leaks that a summary shows.
const LARGEST: usize = 3;
/// Children's files that it names.
const NAMED_FILES: usize = 3;

/// What a run left, worked out.
pub(super) struct Findings<'p> {
    plan: &'p Plan<'p>,
    pub(super) profiles: Vec<Profile>,
    options: Options,
    view: View,
    files: Vec<PathBuf>,
    /// Whether the program itself wrote the first file; else all are its children's.
    own: bool,
    /// Whether files of other runs have similar names.
    others: bool,
}

impl<'p> Findings<'p> {
    pub(super) fn new(plan: &'p Plan<'p>, left: &Left) -> Self {
        let profiles: Vec<Profile> = left.all().map(|file| file.profile.clone()).collect();
        let options = Options { suppressions: plan.suppressions.clone(), ..Options::default() };
        let parts: Vec<Part<'_>> = profiles.iter().map(Part::whole).collect();
        let view = View::new(&parts, &options);
        drop(parts);
        let files = left.all().map(|file| file.path.clone()).collect();
        Findings { plan, profiles, options, view, files, own: left.own.is_some(), others: left.others }
    }

    /// The leaks that count.
    pub(super) fn leaks(&self) -> Leaks<'_> {
        let leaks = Settings::leaks_in(&self.view, &self.options, self.plan.baseline.as_deref());
        self.plan.settings.counted(&leaks)
    }

    /// Whether the leak check fails.
    pub(super) fn fails(&self) -> bool {
        self.plan.settings.fails(&self.leaks())
    }

    /// Writes the summary, or where the check failed the whole leak table.
    pub(super) fn write(&self, out: &mut impl Write, failed: bool, quiet: bool) -> io::Result<()> {
        let leaks = self.leaks();
        if !quiet {
            self.totals(&leaks.total, out)?;
        }
        if failed {
            writeln!(out, "mprof: leaks: {}", Excess::of(&leaks))?;
            if !quiet {
                report::write_leaks(&self.view, &leaks, &self.options, out)?;
                writeln!(out)?;
            }
        } else if !quiet {
            largest(&leaks, out)?;
        }
        if quiet { Ok(()) } else { self.next(out) }
    }

    fn totals(&self, total: &Usage, out: &mut impl Write) -> io::Result<()> {
        let processes = match self.profiles.len() {
            1 => String::new(),
            count => format!(" by {count} processes"),
        };
        writeln!(
            out,
            "mprof: allocated {}, {}{processes}; kept {}, {}",
            counted(total.allocs, "object"),
            counted(total.bytes, "byte"),
            counted(total.kept(), "object"),
            counted(total.kept_bytes(), "byte")
        )
    }

    /// Where the profile is, and what to type.
    fn next(&self, out: &mut impl Write) -> io::Result<()> {
        let paths: Vec<String> = self.files.iter().map(|path| shown(path)).collect();
        let (own, children) = paths.split_at(usize::from(self.own));
        if let [own] = own {
            writeln!(out, "  profile:  {own}")?;
        }
        if !children.is_empty() {
            let named = children.iter().take(NAMED_FILES).map(String::as_str).collect::<Vec<_>>().join(", ");
            let more = children.len().saturating_sub(NAMED_FILES);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            writeln!(out, "  children: {named}{more}")?;
        }
        let all = format!("mprof show{}", self.argument(&paths));
        let leaks = format!("{all} --tables leaks --lines");
        let width = leaks.len();
        writeln!(out, "  next:     {all:width$}   all tables")?;
        writeln!(out, "            {leaks:width$}   leaks, with source lines")
    }

    /// What `mprof show` needs to be told to show this run.
    fn argument(&self, paths: &[String]) -> String {
        let quoted = |path: &String| quoted(path.as_bytes());
        match paths {
            [only] if only == super::DEFAULT_DATA => String::new(),
            [only] => format!(" {}", quoted(only)),
            [first, rest @ ..]
                if self.own && !self.others && rest.iter().all(|path| path.starts_with(first.as_str())) =>
            {
                format!(" {}*", quoted(first))
            }
            _ => paths.iter().map(|path| format!(" {}", quoted(path))).collect(),
        }
    }
}

/// ` at FILE:LINE`, where a person should look first; empty where no line is known.
fn place(leaks: &Leaks<'_>, row: &LeakRow) -> String {
    let Some(place) = blamed(&calls(leaks, row)) else { return String::new() };
    let here = std::env::current_dir().map(|folder| shown(&folder)).unwrap_or_default();
    let below = place.file.strip_prefix(&here).and_then(|rest| rest.strip_prefix('/'));
    format!(" at {}:{}", below.unwrap_or(place.file), place.line)
}

/// The largest leaks, and what does not count.
fn largest(leaks: &Leaks<'_>, out: &mut impl Write) -> io::Result<()> {
    let rows = leaks.sorted();
    let more = rows.len().saturating_sub(LARGEST);
    let widest = |number: fn(&Usage) -> u64, unit: &str| {
        rows.iter().take(LARGEST).map(|(row, _)| counted(number(&row.usage), unit).len()).max().unwrap_or(0)
    };
    let (bytes, objects) = (widest(Usage::kept_bytes, "byte"), widest(Usage::kept, "object"));
    for (index, (row, path)) in rows.iter().take(LARGEST).enumerate() {
        let title = if index == 0 { "leaks:" } else { "" };
        writeln!(
            out,
            "  {title:9} {:>bytes$}, {:>objects$}  {path}{}",
            counted(row.usage.kept_bytes(), "byte"),
            counted(row.usage.kept(), "object"),
            place(leaks, row)
        )?;
    }
    if more > 0 {
        writeln!(out, "            and {} with less", counted(more as u64, "path"))?;
    }
    let mut known = leaks.known.map(|known| known.usage).unwrap_or_default();
    let mut hidden = Usage::default();
    leaks.suppressed.iter().for_each(|suppressed| hidden += suppressed.usage);
    let parts = [("suppressed", &mut hidden), ("in the baseline", &mut known)];
    let parts: Vec<String> = parts
        .into_iter()
        .filter(|(_, usage)| usage.kept() > 0)
        .map(|(what, usage)| {
            format!("{}, {} {what}", counted(usage.kept(), "object"), counted(usage.kept_bytes(), "byte"))
        })
        .collect();
    match (rows.is_empty(), parts.is_empty()) {
        (true, true) => writeln!(out, "  leaks:    none"),
        (true, false) => writeln!(out, "  leaks:    none; not counted: {}", parts.join("; ")),
        (false, false) => writeln!(out, "  besides:  {}", parts.join("; ")),
        (false, true) => Ok(()),
    }
}
