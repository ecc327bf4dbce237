//! Draws the direct allocation table (paper, figure 4).

use super::asked::Asked;
use super::fold::fold_name;
use super::layout::{breakdown, breakdown_columns, column, heading, line, rule};
use super::number::{Shown, counted, one_decimal};
use super::options::Options;
use super::rows::{Rows, kept_too, rank};
use super::style::Style;
use crate::analysis::direct::{Direct, DirectRow};
use crate::analysis::half::Half;
use crate::analysis::tally::{CATEGORIES, Tally, Usage};
use crate::analysis::tree::Tree;
use std::io::{self, Write};

pub(super) fn write<N: Shown>(
    tree: &Tree<N>,
    direct: &Direct<N>,
    asked: &Asked,
    options: &Options,
    out: &mut impl Write,
) -> io::Result<()> {
    heading(out, options.styles, "Direct allocation")?;
    let total = &direct.total;
    let mut rows =
        Rows::select(&direct.rows, options, &total.usage, |row| row.own.usage, |row| row.own.usage);
    rows.keep(|row| asked.row(row), |row| row.own.usage);
    let name = |row: &DirectRow<N>| tree.name_in_line(row.function, row.line);
    rows.shown.sort_by_cached_key(|row| {
        (rank(options.order, &row.own.usage, row.own.usage.bytes), name(row), row.function)
    });
    rows.limit(options, |row| row.own.usage);
    let table = Table::new(direct, options);
    table.titles(out)?;
    table.row("-----", total, &direct.kept, "<TOTAL>", out)?;
    for row in &rows.shown {
        let share = one_decimal(row.own.usage.bytes, total.usage.bytes);
        table.row(&share, &row.own, &row.kept, &name(row), out)?;
    }
    let one = if options.paths.lines { "line" } else { "function" };
    rows.note(out, options, one, |rest| {
        let (calls, bytes) = (counted(rest.allocs, "call"), counted(rest.bytes, "byte"));
        kept_too(format!("{calls}, {bytes}"), rest, options)
    })
}

/// Widths and shares of the table.
struct Table<'a, N> {
    total: &'a Tally<N>,
    options: &'a Options,
    bytes: usize,
    kept: usize,
    calls: usize,
}

/// Columns of the first percentage.
const SHARE: usize = 7;

impl<'a, N: Shown> Table<'a, N> {
    fn new(direct: &'a Direct<N>, options: &'a Options) -> Self {
        let width = |usual, number: fn(&Usage<N>) -> N| {
            let rows = direct.rows.iter().map(|row| &row.own.usage);
            column(usual, rows.chain([&direct.total.usage]).map(number))
        };
        Table {
            total: &direct.total,
            options,
            bytes: width(11, |usage| usage.bytes),
            kept: width(12, Usage::kept_bytes),
            calls: width(9, |usage| usage.allocs),
        }
    }

    fn titles(&self, out: &mut impl Write) -> io::Result<()> {
        let Table { bytes, kept, calls, .. } = *self;
        let sizes = breakdown_columns::<N>();
        if !self.options.half.is_freed() {
            return self.short_titles(out);
        }
        let titles = format!(
            "{:>SHARE$}{:>bytes$} |{:^field$}|{:>kept$} |{:^sizes$}|{:>calls$}  name",
            "% mem",
            "bytes",
            "% mem(size)",
            "bytes kept",
            "% all kept",
            "calls",
            field = sizes + 1,
        );
        line(out, &titles)?;
        let begin = SHARE + bytes + 2;
        let rule = rule::<N>(2, titles.len() - 2, &[begin, begin + sizes + 2 + kept + 2], self.options.half);
        line(out, &self.options.styles.paint(Style::Faint, &rule))
    }

    /// The titles where a garbage collector frees: what is kept means nothing.
    fn short_titles(&self, out: &mut impl Write) -> io::Result<()> {
        let Table { bytes, calls, .. } = *self;
        let field = breakdown_columns::<N>() + 1;
        let of = if self.options.half == Half::Lisp { "% mem(type)" } else { "% mem(size)" };
        let titles =
            format!("{:>SHARE$}{:>bytes$} |{of:^field$}|{:>calls$}  name", "% mem", "bytes", "calls");
        line(out, &titles)?;
        let rule = rule::<N>(2, titles.len() - 2, &[SHARE + bytes + 2], self.options.half);
        line(out, &self.options.styles.paint(Style::Faint, &rule))
    }

    fn row(
        &self,
        share: &str,
        own: &Tally<N>,
        kept_bytes: &[N; CATEGORIES],
        name: &str,
        out: &mut impl Write,
    ) -> io::Result<()> {
        let Table { total, options, bytes, kept, calls } = *self;
        let sizes = breakdown(&own.bytes, total.usage.bytes, options.marks);
        let kept_sizes = breakdown(kept_bytes, total.usage.kept_bytes(), options.marks);
        let usage = &own.usage;
        let mut text = format!("{share:>SHARE$}{:>bytes$} |{sizes} |", usage.bytes.text());
        if options.half.is_freed() {
            text += &format!("{:>kept$} |{kept_sizes}|", usage.kept_bytes().text());
        }
        text += &format!("{:>calls$}  ", usage.allocs.text());
        line(out, &(text.clone() + &fold_name(name, text.len(), &options.page)))
    }
}
