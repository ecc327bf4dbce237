//! Draws the leak table (paper, figure 2).

use super::asked::Asked;
use super::fold::{INDENT, fold_path};
use super::layout::{column, heading, line};
use super::number::{Fate, Shown, bracket, counted};
use super::options::Options;
use super::rows::{Rows, rank};
use super::style::Style;
use crate::analysis::leaks::{Leaks, Path};
use crate::analysis::share::Detail;
use crate::analysis::tally::Usage;
use std::io::{self, Write};

/// A row and its path.
struct Row<N> {
    usage: Usage<N>,
    path: Path,
    text: String,
}

pub(super) fn write<N: Shown>(
    leaks: &Leaks<'_, N>,
    asked: &Asked,
    options: &Options,
    out: &mut impl Write,
) -> io::Result<()> {
    heading(out, options.styles, "Memory leaks")?;
    let mut selected =
        Rows::select(leaks.rows.iter().copied(), options, &leaks.total, |row| row.usage, |row| row.usage);
    selected.keep(|row| asked.path(leaks, row), |row| row.usage);
    let mut rows = selected.map(|row| {
        let path = leaks.path(&row);
        Row { usage: row.usage, text: path.to_string(), path }
    });
    rows.shown.sort_by(|a, b| {
        let rank = |row: &Row<N>| rank(options.order, &row.usage, row.usage.kept_bytes());
        rank(a).cmp(&rank(b)).then_with(|| a.text.cmp(&b.text))
    });
    rows.limit(options, |row| row.usage);
    if leaks.rows.is_empty() {
        return line(out, "  no objects were kept");
    }
    let with_frees = options.detail == Detail::Verbose;
    draw(&rows.shown, &if with_frees { with_all_figures() } else { kept() }, &leaks.total, options, out)?;
    rows.note(out, options, "path", |rest| {
        format!("{}, {} kept", counted(rest.kept(), "object"), counted(rest.kept_bytes(), "byte"))
    })
}

/// A column of numbers.
struct Column<N> {
    title: &'static str,
    /// Width, if the numbers fit.
    usual: usize,
    number: fn(&Usage<N>) -> N,
}

/// Objects and bytes kept.
fn kept<N: Shown>() -> Vec<Column<N>> {
    vec![
        Column { title: "allocs", usual: 8, number: Usage::kept },
        Column { title: "bytes", usual: 10, number: Usage::kept_bytes },
    ]
}

/// All that was allocated over the paths, what of it was freed and what kept.
fn with_all_figures<N: Shown>() -> Vec<Column<N>> {
    vec![
        Column { title: "allocs", usual: 8, number: |usage| usage.allocs },
        Column { title: "bytes", usual: 10, number: |usage| usage.bytes },
        Column { title: "frees", usual: 10, number: |usage| usage.frees },
        Column { title: "freed", usual: 10, number: |usage| usage.freed_bytes },
        Column { title: "kept", usual: 10, number: Usage::kept_bytes },
    ]
}

/// Columns of a share in brackets, without sign.
const SHARE: usize = 4;
/// Columns of what became of a path.
const FATE: usize = 8;

fn draw<N: Shown>(
    rows: &[Row<N>],
    columns: &[Column<N>],
    total: &Usage<N>,
    options: &Options,
    out: &mut impl Write,
) -> io::Result<()> {
    let width = |of: &Column<N>| column(of.usual, rows.iter().map(|row| (of.number)(&row.usage)));
    let widths: Vec<usize> = columns.iter().map(width).collect();
    let columns = || columns.iter().zip(&widths);
    let titles: String = columns().map(|(column, &width)| format!("{:>width$}", column.title)).collect();
    let share_columns = SHARE + N::SIGN;
    let compared = N::fate(N::default(), N::default()).is_some();
    let fates = if compared { FATE } else { 0 };
    line(out, &format!("{titles} {:<share_columns$}{:fates$}    path", "(%)", ""))?;
    line(out, "")?;
    for row in rows {
        let number =
            |(column, &width): (&Column<N>, &usize)| format!("{:>width$}", (column.number)(&row.usage).text());
        let numbers: String = columns().map(number).collect();
        let share = bracket(row.usage.kept_bytes(), total.kept_bytes(), options.marks);
        let begin = Begin { numbers: format!("{numbers} {share:<share_columns$}"), fate: fate(&row.usage) };
        draw_path(&begin, row, options, out)?;
    }
    Ok(())
}

/// What became of a path's kept objects.
fn fate<N: Shown>(usage: &Usage<N>) -> Option<Fate> {
    N::fate(usage.kept(), usage.kept_bytes())
}

/// What stands before a path.
struct Begin {
    numbers: String,
    fate: Option<Fate>,
}

impl Begin {
    fn columns(&self) -> usize {
        self.numbers.len() + if self.fate.is_some() { FATE } else { 0 } + 4
    }

    fn text(&self, options: &Options) -> String {
        let Some(fate) = self.fate else { return format!("{}    ", self.numbers) };
        let word = format!("  {:<width$}", fate.word(), width = FATE - 2);
        let word = match fate {
            Fate::New | Fate::Grown => options.styles.paint(Style::Worse, &word),
            Fate::Gone | Fate::Shrunk => options.styles.paint(Style::Better, &word),
            Fate::Same => word,
        };
        format!("{}{word}    ", self.numbers)
    }
}

/// A row's path behind its numbers.
fn draw_path<N>(begin: &Begin, row: &Row<N>, options: &Options, out: &mut impl Write) -> io::Result<()> {
    let text = begin.text(options);
    if !options.page.fold {
        return line(out, &format!("{text}{}", row.text));
    }
    let indent = begin.columns();
    for (index, part) in fold_path(&row.path, options.page.room(indent), &options.page).iter().enumerate() {
        if index == 0 {
            line(out, &format!("{text}{part}"))?;
        } else {
            line(out, &format!("{:1$}{part}", "", indent + INDENT))?;
        }
    }
    Ok(())
}
