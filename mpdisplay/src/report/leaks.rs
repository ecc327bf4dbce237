//! Draws the leak table (paper, figure 2).

use super::fold::{INDENT, fold_path};
use super::layout::{column, heading, line};
use super::number::{bracket, counted};
use super::options::Options;
use super::rows::{Rows, rank};
use crate::analysis::leaks::{Leaks, Path};
use crate::analysis::share::Detail;
use crate::analysis::tally::Usage;
use std::io::{self, Write};

/// A row and its path.
struct Row {
    usage: Usage,
    path: Path,
    text: String,
}

pub(super) fn write(leaks: &Leaks<'_>, options: &Options, out: &mut impl Write) -> io::Result<()> {
    heading(out, "Memory leaks")?;
    let selected =
        Rows::select(leaks.rows.iter().copied(), options, &leaks.total, |row| row.usage, |row| row.usage);
    let mut rows = selected.map(|row| {
        let path = leaks.path(&row);
        Row { usage: row.usage, text: path.to_string(), path }
    });
    rows.shown.sort_by(|a, b| {
        let rank = |row: &Row| rank(options.order, &row.usage, row.usage.kept_bytes());
        rank(a).cmp(&rank(b)).then_with(|| a.text.cmp(&b.text))
    });
    rows.limit(options, |row| row.usage);
    if leaks.rows.is_empty() {
        return line(out, "  no objects were kept");
    }
    let columns = if options.detail == Detail::Verbose { WITH_FREES } else { KEPT };
    draw(&rows.shown, columns, &leaks.total, options, out)?;
    rows.note(out, options, "path", |rest| {
        format!("{}, {} kept", counted(rest.kept(), "object"), counted(rest.kept_bytes(), "byte"))
    })
}

/// A column of numbers.
struct Column {
    title: &'static str,
    /// Width, if the numbers fit.
    usual: usize,
    number: fn(&Usage) -> u64,
}

/// Objects and bytes kept.
const KEPT: &[Column] = &[
    Column { title: "allocs", usual: 8, number: Usage::kept },
    Column { title: "bytes", usual: 10, number: Usage::kept_bytes },
];

/// All that was allocated over the paths, what of it was freed and what kept.
const WITH_FREES: &[Column] = &[
    Column { title: "allocs", usual: 8, number: |usage| usage.allocs },
    Column { title: "bytes", usual: 10, number: |usage| usage.bytes },
    Column { title: "frees", usual: 10, number: |usage| usage.frees },
    Column { title: "freed", usual: 10, number: |usage| usage.freed_bytes },
    Column { title: "kept", usual: 10, number: Usage::kept_bytes },
];

fn draw(
    rows: &[Row],
    columns: &[Column],
    total: &Usage,
    options: &Options,
    out: &mut impl Write,
) -> io::Result<()> {
    let width = |of: &Column| {
        let longest = rows.iter().map(|row| (of.number)(&row.usage)).max().unwrap_or(0);
        column(of.usual, longest)
    };
    let widths: Vec<usize> = columns.iter().map(width).collect();
    let columns = || columns.iter().zip(&widths);
    let titles: String = columns().map(|(column, &width)| format!("{:>width$}", column.title)).collect();
    line(out, &format!("{titles} (%)     path"))?;
    line(out, "")?;
    for row in rows {
        let number = |(column, &width): (&Column, &usize)| format!("{:>width$}", (column.number)(&row.usage));
        let numbers: String = columns().map(number).collect();
        let share = bracket(row.usage.kept_bytes(), total.kept_bytes(), options.marks);
        draw_path(&format!("{numbers} {share:<4}    "), row, options, out)?;
    }
    Ok(())
}

/// A row's path behind its numbers.
fn draw_path(numbers: &str, row: &Row, options: &Options, out: &mut impl Write) -> io::Result<()> {
    if !options.page.fold {
        return line(out, &format!("{numbers}{}", row.text));
    }
    let indent = numbers.chars().count();
    for (index, part) in fold_path(&row.path, options.page.room(indent)).iter().enumerate() {
        if index == 0 {
            line(out, &format!("{numbers}{part}"))?;
        } else {
            line(out, &format!("{:1$}{part}", "", indent + INDENT))?;
        }
    }
    Ok(())
}
