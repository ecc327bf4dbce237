//! Draws the bin table (paper, figure 3).

use super::layout::{column, heading, line};
use super::number::{Shown, bracket, counted, one_decimal};
use super::options::{Options, Order};
use super::rows::{Rows, rank};
use crate::analysis::bins::{BinRow, Bins};
use crate::analysis::half::Half;
use crate::analysis::share::Detail;
use crate::analysis::tally::Usage;
use std::cmp::Reverse;
use std::io::{self, Write};

pub(super) fn write<N: Shown>(bins: &Bins<N>, options: &Options, out: &mut impl Write) -> io::Result<()> {
    heading(out, options.styles, "Allocation bins")?;
    let mut rows = Rows::select(&bins.rows, options, &bins.total, |row| row.usage, |row| row.usage);
    rows.shown.sort_by_key(|row| match options.order {
        None | Some(Order::Name) => (Reverse(0), row.size),
        order => (rank(order, &row.usage, N::default()), row.size),
    });
    rows.limit(options, |row| row.usage);
    let table = Table::new(bins, options);
    line(out, &table.titles())?;
    line(out, "")?;
    for row in &rows.shown {
        line(out, &table.row(&row.size.unwrap_or(0).to_string(), row))?;
    }
    line(out, &table.row("> 1024", &bins.larger))?;
    line(out, "")?;
    line(out, &table.total())?;
    if let Some(added) = bins.added {
        let share = one_decimal(added, bins.total.bytes);
        let note = format!(
            "  added: usable - requested bytes, {} in all, {share} % of those requested",
            added.text()
        );
        writeln!(out, "\n{note}")?;
    }
    rows.note(out, options, "size", |rest| {
        let (objects, bytes) = (counted(rest.allocs, "object"), counted(rest.bytes, "byte"));
        format!("{objects}, {bytes}, {} kept", rest.kept_bytes().text())
    })
}

/// Says why there is no table.
pub(super) fn write_unknown(options: &Options, out: &mut impl Write) -> io::Result<()> {
    heading(out, options.styles, "Allocation bins")?;
    let what = if options.half == Half::Lisp { "types" } else { "sizes" };
    let why = match options.at_peak {
        true => "of what was alive at the peak are not recorded",
        false => "are recorded for whole processes only, not by thread or call chain",
    };
    line(out, &format!("  {what} {why}"))
}

/// Widths and shares of the table.
struct Table<'a, N> {
    whole: &'a Usage<N>,
    options: &'a Options,
    allocs: usize,
    bytes: usize,
    frees: usize,
    kept: usize,
    /// Columns of what the allocator added; 0 where it was not recorded.
    added: usize,
}

/// Columns of the sizes.
const SIZE: usize = 8;
/// Columns of a share in brackets, without sign.
const SHARE: usize = 4;

impl<'a, N: Shown> Table<'a, N> {
    fn new(bins: &'a Bins<N>, options: &'a Options) -> Self {
        let width = |number: fn(&Usage<N>) -> N| {
            let rows = bins.rows.iter().map(|row| &row.usage);
            column(10, rows.chain([&bins.larger.usage, &bins.total]).map(number))
        };
        Table {
            whole: &bins.total,
            options,
            allocs: width(|usage| usage.allocs),
            bytes: width(|usage| usage.bytes),
            frees: width(|usage| usage.frees),
            kept: width(Usage::kept_bytes),
            added: match bins.added {
                Some(added) => column(10, [added]),
                None => 0,
            },
        }
    }

    fn titles(&self) -> String {
        let Table { allocs, bytes, frees, kept, added, .. } = *self;
        let share = SHARE + N::SIGN;
        let title = if added > 0 { "added" } else { "" };
        format!(
            "{:>SIZE$}{:>allocs$}{:>bytes$} {:<share$}{:>frees$}{:>kept$} {:<share$}{title:>added$}   types",
            "size:", "allocs", "bytes", "(%)", "frees", "kept", "(%)"
        )
    }

    fn row(&self, size: &str, row: &BinRow<N>) -> String {
        let Table { allocs, bytes, frees, kept, .. } = *self;
        let share_columns = SHARE + N::SIGN;
        let usage = &row.usage;
        let share = bracket(usage.bytes, self.whole.bytes, self.options.marks);
        let kept_share = bracket(usage.kept_bytes(), self.whole.kept_bytes(), self.options.marks);
        let mut text = format!(
            "{size:>SIZE$}{:>allocs$}{:>bytes$} {share:<share_columns$}",
            usage.allocs.text(),
            usage.bytes.text()
        );
        text += &format!(
            "{:>frees$}{:>kept$} {kept_share:<share_columns$}{:>added$}   ",
            usage.frees.text(),
            usage.kept_bytes().text(),
            if self.added > 0 { row.added.text() } else { String::new() },
            added = self.added
        );
        let room = self.options.page.width.saturating_sub(text.len());
        let room = if self.options.detail == Detail::Verbose { usize::MAX } else { room };
        text + &types(&row.types, room)
    }

    fn total(&self) -> String {
        let Table { whole, allocs, bytes, frees, kept, .. } = *self;
        format!(
            "{:>SIZE$}{:>allocs$}{:>bytes$} {:share$}{:>frees$}{:>kept$}",
            "<TOTAL>",
            whole.allocs.text(),
            whole.bytes.text(),
            "",
            whole.frees.text(),
            whole.kept_bytes().text(),
            share = SHARE + N::SIGN
        )
    }
}

/// As many names as fit into `room` columns, but at least one, then how many more there are.
fn types(names: &[String], room: usize) -> String {
    let mut text = String::new();
    for (index, name) in names.iter().enumerate() {
        let more = |count: usize| if count > 0 { format!(", +{count}") } else { String::new() };
        let longer = if index == 0 { name.clone() } else { format!("{text}, {name}") };
        if index > 0 && longer.chars().count() + more(names.len() - index - 1).len() > room {
            return text + &more(names.len() - index);
        }
        text = longer;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_fill_the_line_and_count_the_rest() {
        let names = ["alpha", "beta", "gamma"].map(String::from);
        assert_eq!(types(&names, 80), "alpha, beta, gamma");
        assert_eq!(types(&names, 18), "alpha, beta, gamma");
        assert_eq!(types(&names, 17), "alpha, beta, +1");
        assert_eq!(types(&names, 15), "alpha, beta, +1");
        assert_eq!(types(&names, 14), "alpha, +2");
        assert_eq!(types(&names, 1), "alpha, +2");
        assert_eq!(types(&[], 10), "");
    }
}
