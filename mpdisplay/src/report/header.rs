//! Draws what the tables are about: programs, processes, threads, what is done to the numbers, totals.

use super::number::{Shown, counted};
use super::options::{By, Options};
use super::process::{arguments, notes, program};
use crate::analysis::chains::WRAPPERS;
use crate::analysis::part::{Part, Threads};
use crate::analysis::tally::Usage;
use crate::analysis::threads;
use std::collections::HashMap;
use std::io::{self, Write};

/// Programs that are named one by one; of more, those that come first.
const PROGRAMS: usize = 10;
/// Process ids that are written out; of more, the first.
const IDS: usize = 8;
/// Columns of the words before the colon, the colon and spaces behind it.
const LABEL: usize = 11;

/// Writes a line of the header.
pub(super) fn line(out: &mut impl Write, label: &str, text: &str) -> io::Result<()> {
    writeln!(out, "{:<LABEL$}{text}", format!("{label}:"))
}

/// Writes which programs and processes the parts are of, and which of their threads.
pub(super) fn write_parts(parts: &[Part<'_>], out: &mut impl Write) -> io::Result<()> {
    if parts.len() > 1 {
        writeln!(out, "Sum of {} profiles", parts.len())?;
    }
    let groups = groups(parts);
    for group in groups.iter().take(PROGRAMS) {
        group.write(out)?;
    }
    let rest = groups.iter().skip(PROGRAMS).map(|group| group.parts.len() as u64).sum();
    if rest > 0 {
        line(out, "Program", &format!("others in {}", counted::<u64>(rest, "profile")))?;
    }
    Ok(())
}

/// Writes what two states that are compared are of.
pub(super) fn write_states(before: &[Part<'_>], after: &[Part<'_>], out: &mut impl Write) -> io::Result<()> {
    for (state, parts) in [("before", before), ("after", after)] {
        writeln!(out, "Numbers {state}:")?;
        write_parts(parts, out)?;
        writeln!(out)?;
    }
    writeln!(out, "All numbers: after - before, of percentages in percentage points")
}

/// Parts that have the same to say, but for their process ids.
struct Group<'a> {
    lines: Vec<(&'static str, String)>,
    parts: Vec<&'a Part<'a>>,
}

/// The parts by what is to be said of them, in the order of their first ones.
fn groups<'a>(parts: &'a [Part<'a>]) -> Vec<Group<'a>> {
    let mut index: HashMap<Vec<(&'static str, String)>, usize> = HashMap::new();
    let mut groups: Vec<Group<'a>> = Vec::new();
    for part in parts {
        let lines = lines(part, parts.len());
        let group = *index.entry(lines.clone()).or_insert_with(|| {
            groups.push(Group { lines, parts: Vec::new() });
            groups.len() - 1
        });
        groups[group].parts.push(part);
    }
    groups
}

/// What is said of a part of so many. The first line lacks the process ids.
fn lines(part: &Part<'_>, of: usize) -> Vec<(&'static str, String)> {
    let process = &part.profile.process;
    let mut lines = vec![("Program", program(process))];
    match arguments(process) {
        text if text.is_empty() => {}
        text => lines.push(("Arguments", text)),
    }
    match &part.threads {
        Threads::All => {
            if of == 1 && part.profile.threads.len() > 1 {
                lines.extend(all_threads(part));
            }
        }
        Threads::Only(chosen) => {
            lines.extend(chosen.iter().map(|&id| ("Thread", threads::describe(part.profile, id))));
        }
    }
    lines.extend(notes(part.profile).into_iter().map(|note| ("Note", note)));
    lines
}

/// Threads that are named one by one.
const THREADS: usize = 8;

/// The threads of a whole process.
fn all_threads(part: &Part<'_>) -> Vec<(&'static str, String)> {
    let all = &part.profile.threads;
    let mut lines: Vec<_> = (0..all.len().min(THREADS) as u32)
        .map(|id| ("Thread", threads::describe(part.profile, Some(id))))
        .collect();
    let rest: u64 = all.iter().skip(THREADS).map(|thread| thread.count).sum();
    if rest > 0 {
        lines.push(("Thread", format!("{rest} more")));
    }
    lines
}

impl Group<'_> {
    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        for (index, (label, text)) in self.lines.iter().enumerate() {
            if index == 0 {
                line(out, label, &format!("{text}, {}", self.ids()))?;
            } else {
                line(out, label, text)?;
            }
        }
        Ok(())
    }

    fn ids(&self) -> String {
        let ids: Vec<String> =
            self.parts.iter().take(IDS).map(|part| part.profile.process.pid.to_string()).collect();
        let ids = ids.join(", ");
        match self.parts.len() {
            1 => format!("process {ids}"),
            count if count > IDS => format!("processes {ids} and {} more", count - IDS),
            _ => format!("processes {ids}"),
        }
    }
}

/// Writes what is done to the call chains and rows, if anything is.
pub(super) fn write_choices(options: &Options, out: &mut impl Write) -> io::Result<()> {
    let chains = &options.chains;
    let filters = [
        ("Focus", &chains.focus, "only call chains with these count"),
        ("Ignore", &chains.ignore, "call chains with these do not count"),
        ("Hide", &chains.hide, "what these allocate counts as their callers'"),
        ("Show", &options.show, "only rows with these are shown"),
    ];
    for (label, patterns, meaning) in filters {
        if !patterns.is_empty() {
            line(out, label, &format!("{patterns} ({meaning})"))?;
        }
    }
    if !chains.wrappers.is_empty() {
        let own: Vec<String> = chains.wrappers.0.iter().map(ToString::to_string).collect();
        let built_in = own.iter().filter(|text| WRAPPERS.contains(&text.as_str())).count();
        let mut named: Vec<String> =
            own.into_iter().filter(|text| !WRAPPERS.contains(&text.as_str())).collect();
        if built_in > 0 {
            named.push(format!("{} and other known ones", WRAPPERS[0]));
        }
        line(
            out,
            "Wrappers",
            &format!("{} (what these allocate counts as their callers')", named.join(", ")),
        )?;
    }
    if options.at_peak {
        line(out, "Measure", "what was alive at the peak; all numbers are of that alone")?;
    }
    if options.by == By::Module {
        line(out, "Functions", "those of a module are taken together")?;
    }
    Ok(())
}

/// Writes the sums; `of` are those of all chains, where not all of them count.
pub(super) fn write_total<N: Shown>(
    total: &Usage<N>,
    of: Option<&Usage<N>>,
    options: &Options,
    out: &mut impl Write,
) -> io::Result<()> {
    let counts = |objects: N, bytes: N| format!("{}, {}", counted(objects, "object"), counted(bytes, "byte"));
    let sums = |usage: &Usage<N>| {
        let all = counts(usage.allocs, usage.bytes);
        match options.half.is_freed() {
            true => format!("{all}; kept: {}", counts(usage.kept(), usage.kept_bytes())),
            false => all,
        }
    };
    line(out, "Allocated", &sums(total))?;
    if let Some(of) = of {
        line(out, "Of", &sums(of))?;
    }
    Ok(())
}
