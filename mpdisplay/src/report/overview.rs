//! Draws a report for each process or thread, and before them a table of all.

use super::header;
use super::layout::{column, heading, line};
use super::number::{bracket, counted};
use super::options::Options;
use super::process::command_line;
use super::rows::{Rows, kept_too, rank};
use super::style::Style;
use super::view::View;
use super::write_sum;
use crate::analysis::part::{Part, Threads};
use crate::analysis::tally::Usage;
use crate::analysis::threads;
use std::io::{self, Write};

/// A process or thread.
struct Row<'p> {
    part: Part<'p>,
    usage: Usage,
    name: String,
}

pub(super) fn write_processes(parts: &[Part<'_>], options: &Options, out: &mut impl Write) -> io::Result<()> {
    let name = |part: &Part<'_>| {
        let process = &part.profile.process;
        format!("{} {}", process.pid, command_line(process))
    };
    let rows = parts.iter().map(|part| (part.clone(), name(part))).collect();
    let overview = Overview { heading: "Processes", one: "process" };
    overview.write(parts, rows, options, out)
}

pub(super) fn write_threads(parts: &[Part<'_>], options: &Options, out: &mut impl Write) -> io::Result<()> {
    let mut rows = Vec::new();
    for part in parts {
        for id in part.allocating_threads() {
            let mut name = threads::describe(part.profile, id);
            if parts.len() > 1 {
                name = format!("{} {name}", part.profile.process.pid);
            }
            rows.push((Part { threads: Threads::Only(vec![id]), ..*part }, name));
        }
    }
    let overview = Overview { heading: "Threads", one: "thread" };
    overview.write(parts, rows, options, out)
}

/// What all processes or threads are called.
struct Overview {
    heading: &'static str,
    one: &'static str,
}

impl Overview {
    fn write(
        &self,
        parts: &[Part<'_>],
        rows: Vec<(Part<'_>, String)>,
        options: &Options,
        out: &mut impl Write,
    ) -> io::Result<()> {
        header::write_parts(parts, out)?;
        let rows: Vec<Row<'_>> = rows.into_iter().map(|(part, name)| row(part, name, options)).collect();
        let mut whole = Usage::default();
        rows.iter().for_each(|row| whole += row.usage);
        header::write_choices(options, out)?;
        header::write_total(&whole, None, options, out)?;
        let mut rows = Rows::select(rows, options, &whole, |row| row.usage, |row| row.usage);
        rows.shown.sort_by(|a, b| {
            let rank = |row: &Row<'_>| rank(options.order, &row.usage, row.usage.bytes);
            rank(a).cmp(&rank(b)).then_with(|| a.name.cmp(&b.name))
        });
        rows.limit(options, |row| row.usage);
        self.table(&rows.shown, &whole, options, out)?;
        rows.note(out, options, self.one, |rest| {
            let (objects, bytes) = (counted(rest.allocs, "object"), counted(rest.bytes, "byte"));
            kept_too(format!("{objects}, {bytes}"), rest, options)
        })?;
        for row in &rows.shown {
            let title = format!("=== {} {} ===", self.one, row.name);
            write!(out, "\n\n{}\n\n", options.styles.paint(Style::Heading, &title))?;
            write_sum(std::slice::from_ref(&row.part), options, out)?;
        }
        Ok(())
    }

    fn table(
        &self,
        rows: &[Row<'_>],
        whole: &Usage,
        options: &Options,
        out: &mut impl Write,
    ) -> io::Result<()> {
        heading(out, options.styles, self.heading)?;
        let width =
            |usual, number: fn(&Usage) -> u64| column(usual, rows.iter().map(|row| number(&row.usage)));
        let allocs = width(8, |usage| usage.allocs);
        let bytes = width(10, |usage| usage.bytes);
        let frees = width(10, |usage| usage.frees);
        let kept = width(10, Usage::kept_bytes);
        let freed = options.half.is_freed();
        let mut titles = format!("{:>allocs$}{:>bytes$} (%) ", "allocs", "bytes");
        if freed {
            titles += &format!("{:>frees$}{:>kept$} (%) ", "frees", "kept");
        }
        line(out, &format!("{titles}   {}", self.one))?;
        line(out, "")?;
        for Row { usage, name, .. } in rows {
            let share = bracket(usage.bytes, whole.bytes, options.marks);
            let kept_share = bracket(usage.kept_bytes(), whole.kept_bytes(), options.marks);
            let mut numbers = format!("{:>allocs$}{:>bytes$} {share:<4}", usage.allocs, usage.bytes);
            if freed {
                numbers += &format!("{:>frees$}{:>kept$} {kept_share:<4}", usage.frees, usage.kept_bytes());
            }
            line(out, &format!("{numbers}   {name}"))?;
        }
        Ok(())
    }
}

fn row<'p>(part: Part<'p>, name: String, options: &Options) -> Row<'p> {
    let usage = View::new(std::slice::from_ref(&part), options).total;
    Row { part, usage, name }
}
