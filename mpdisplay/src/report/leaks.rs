//! Draws the leak table (paper, figure 2).

use super::fold::{INDENT, fold_path};
use super::layout::{column, heading, line};
use super::number::{bracket, counted};
use super::options::Options;
use super::rows::{Rows, rank};
use crate::analysis::leaks::{LeakRow, Leaks, Path, Since};
use crate::analysis::share::Detail;
use crate::analysis::tally::Usage;
use crate::suppress::Label;
use std::io::{self, Write};

/// A row and its path.
struct Row {
    leak: LeakRow,
    path: Path,
    text: String,
}

pub(super) fn write(leaks: &Leaks<'_>, options: &Options, out: &mut impl Write) -> io::Result<()> {
    heading(out, "Memory leaks")?;
    let rows = select(leaks, options);
    let columns = if options.detail == Detail::Verbose { WITH_FREES } else { KEPT };
    let layout = Layout::new(leaks, &rows.shown, columns);
    if leaks.rows.is_empty() {
        line(out, nothing(leaks))?;
    } else {
        layout.draw(&rows.shown, options, out)?;
    }
    rows.note(out, options, "path", kept)?;
    if let Some(known) = leaks.known.filter(|known| known.paths > 0) {
        writeln!(
            out,
            "\n  known from the baseline: {}, {}",
            counted(known.paths, "path"),
            kept(&known.usage)
        )?;
    }
    layout.suppressed(options, out)
}

/// The rows that are shown, in order.
fn select(leaks: &Leaks<'_>, options: &Options) -> Rows<Row> {
    let selected =
        Rows::select(leaks.rows.iter().copied(), options, &leaks.total, |row| row.usage, |row| row.usage);
    let mut rows = selected.map(|row| {
        let path = leaks.path(&row);
        Row { leak: row, text: path.to_string(), path }
    });
    rows.shown.sort_by(|a, b| {
        let rank = |row: &Row| rank(options.order, &row.leak.usage, row.leak.usage.kept_bytes());
        rank(a).cmp(&rank(b)).then_with(|| a.text.cmp(&b.text))
    });
    rows.limit(options, |row| row.leak.usage);
    rows
}

/// The rows of the table that are shown, in order.
pub fn shown(leaks: &Leaks<'_>, options: &Options) -> Vec<LeakRow> {
    select(leaks, options).shown.into_iter().map(|row| row.leak).collect()
}

/// Why there are no rows.
fn nothing(leaks: &Leaks<'_>) -> &'static str {
    match (leaks.known, leaks.suppressed.is_empty()) {
        (Some(_), _) => "  no more objects were kept than in the baseline",
        (None, false) => "  no objects were kept but those that are suppressed",
        (None, true) => "  no objects were kept",
    }
}

fn kept(usage: &Usage) -> String {
    format!("{}, {} kept", counted(usage.kept(), "object"), counted(usage.kept_bytes(), "byte"))
}

/// Title of the comparison with a baseline: bytes kept more.
const GROWN: &str = "grown";

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

/// How a row compares with the baseline.
fn since(row: &LeakRow) -> String {
    match row.since {
        Since::Unknown => String::new(),
        Since::New => "new".into(),
        Since::Grown { bytes, .. } => format!("+{bytes}"),
    }
}

/// Columns and their widths.
struct Layout<'l> {
    leaks: &'l Leaks<'l>,
    columns: &'static [Column],
    widths: Vec<usize>,
    /// Width of the comparison with a baseline; 0 without one.
    since: usize,
}

impl<'l> Layout<'l> {
    fn new(leaks: &'l Leaks<'l>, rows: &[Row], columns: &'static [Column]) -> Self {
        let usages = || {
            rows.iter().map(|row| row.leak.usage).chain(leaks.suppressed.iter().map(|hidden| hidden.usage))
        };
        let width = |of: &Column| {
            let longest = usages().map(|usage| (of.number)(&usage)).max().unwrap_or(0);
            column(of.usual, longest)
        };
        let since = rows.iter().map(|row| since(&row.leak).len()).max().unwrap_or(0);
        let since = if leaks.known.is_some() { since.max(GROWN.len()) + 2 } else { 0 };
        Layout { leaks, columns, widths: columns.iter().map(width).collect(), since }
    }

    fn draw(&self, rows: &[Row], options: &Options, out: &mut impl Write) -> io::Result<()> {
        let columns = self.columns.iter().zip(&self.widths);
        let titles: String = columns.map(|(column, &width)| format!("{:>width$}", column.title)).collect();
        let grown = if self.since > 0 { GROWN } else { "" };
        line(out, &format!("{titles} (%) {grown:>0$}    path", self.since))?;
        line(out, "")?;
        for row in rows {
            let numbers = self.numbers(&row.leak.usage, options);
            draw_path(&format!("{numbers}{:>1$}    ", since(&row.leak), self.since), row, options, out)?;
        }
        Ok(())
    }

    /// The columns of one line.
    fn numbers(&self, usage: &Usage, options: &Options) -> String {
        let columns = self.columns.iter().zip(&self.widths);
        let numbers: String =
            columns.map(|(column, &width)| format!("{:>width$}", (column.number)(usage))).collect();
        let share = bracket(usage.kept_bytes(), self.leaks.total.kept_bytes(), options.marks);
        format!("{numbers} {share:<4}")
    }

    /// Says what is suppressed, and by what.
    fn suppressed(&self, options: &Options, out: &mut impl Write) -> io::Result<()> {
        if self.leaks.suppressed.is_empty() {
            return Ok(());
        }
        let mut sum = Usage::default();
        self.leaks.suppressed.iter().for_each(|hidden| sum += hidden.usage);
        writeln!(out, "\n  suppressed: {}\n", kept(&sum))?;
        for hidden in &self.leaks.suppressed {
            let Label { name, origin } = &hidden.label;
            let numbers = self.numbers(&hidden.usage, options);
            line(out, &format!("{numbers}{:1$}    {name} ({origin})", "", self.since))?;
        }
        Ok(())
    }
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
