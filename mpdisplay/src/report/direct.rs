//! Draws the direct allocation table (paper, figure 4).

use super::fold::fold_name;
use super::layout::{BREAKDOWN, breakdown, column, heading, line, rule};
use super::number::{counted, one_decimal};
use super::options::Options;
use super::rows::{Rows, rank};
use crate::analysis::direct::Direct;
use crate::analysis::tally::{CATEGORIES, Tally};
use crate::analysis::tree::Tree;
use std::io::{self, Write};

pub(super) fn write(tree: &Tree, direct: &Direct, options: &Options, out: &mut impl Write) -> io::Result<()> {
    heading(out, "Direct allocation")?;
    let total = &direct.total;
    let mut rows =
        Rows::select(&direct.rows, options, &total.usage, |row| row.own.usage, |row| row.own.usage);
    let name = |function: u32| tree.functions[function].shown.as_str();
    rows.shown.sort_by_cached_key(|row| {
        (rank(options.order, &row.own.usage, row.own.usage.bytes), name(row.function), row.function)
    });
    rows.limit(options, |row| row.own.usage);
    let table = Table::new(total, options);
    table.titles(out)?;
    table.row("-----", total, &direct.kept, "<TOTAL>", out)?;
    for row in &rows.shown {
        let share = one_decimal(row.own.usage.bytes, total.usage.bytes);
        table.row(&share, &row.own, &row.kept, name(row.function), out)?;
    }
    rows.note(out, options, "function", |rest| {
        let (calls, bytes) = (counted(rest.allocs, "call"), counted(rest.bytes, "byte"));
        format!("{calls}, {bytes}, {} kept", rest.kept_bytes())
    })
}

/// Widths and shares of the table.
struct Table<'a> {
    total: &'a Tally,
    options: &'a Options,
    bytes: usize,
    kept: usize,
    calls: usize,
}

/// Columns of the first percentage.
const SHARE: usize = 7;

impl<'a> Table<'a> {
    fn new(total: &'a Tally, options: &'a Options) -> Self {
        // No row has a longer number than the total.
        Table {
            total,
            options,
            bytes: column(11, total.usage.bytes),
            kept: column(12, total.usage.kept_bytes()),
            calls: column(9, total.usage.allocs),
        }
    }

    fn titles(&self, out: &mut impl Write) -> io::Result<()> {
        let Table { bytes, kept, calls, .. } = *self;
        let titles = format!(
            "{:>SHARE$}{:>bytes$} | % mem(size) |{:>kept$} | % all kept |{:>calls$}  name",
            "% mem", "bytes", "bytes kept", "calls"
        );
        line(out, &titles)?;
        let breakdowns = [SHARE + bytes + 2, SHARE + bytes + 2 + BREAKDOWN + 2 + kept + 2];
        line(out, &rule(2, titles.len() - 2, breakdowns))
    }

    fn row(
        &self,
        share: &str,
        own: &Tally,
        kept_bytes: &[u64; CATEGORIES],
        name: &str,
        out: &mut impl Write,
    ) -> io::Result<()> {
        let Table { total, options, bytes, kept, calls } = *self;
        let sizes = breakdown(&own.bytes, total.usage.bytes, options.marks);
        let kept_sizes = breakdown(kept_bytes, total.usage.kept_bytes(), options.marks);
        let usage = &own.usage;
        let mut text = format!("{share:>SHARE$}{:>bytes$} |{sizes} |", usage.bytes);
        text += &format!("{:>kept$} |{kept_sizes}|{:>calls$}  ", usage.kept_bytes(), usage.allocs);
        let name = if options.page.fold { &fold_name(name, options.page.room(text.len())) } else { name };
        line(out, &(text + name))
    }
}
