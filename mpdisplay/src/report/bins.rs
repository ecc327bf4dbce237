//! Draws the bin table (paper, figure 3).

use super::layout::{column, heading, line};
use super::number::{bracket, counted};
use super::options::{Options, Order};
use super::rows::{Rows, rank};
use crate::analysis::bins::{BinRow, Bins};
use crate::analysis::share::Detail;
use crate::analysis::tally::Usage;
use std::cmp::Reverse;
use std::io::{self, Write};

pub(super) fn write(bins: &Bins, options: &Options, out: &mut impl Write) -> io::Result<()> {
    heading(out, "Allocation bins")?;
    let mut rows = Rows::select(&bins.rows, options, &bins.total, |row| row.usage, |row| row.usage);
    rows.shown.sort_by_key(|row| match options.order {
        None | Some(Order::Name) => (Reverse(0), row.size),
        order => (rank(order, &row.usage, 0), row.size),
    });
    rows.limit(options, |row| row.usage);
    let table = Table::new(&bins.total, options);
    line(out, &table.titles())?;
    line(out, "")?;
    for row in &rows.shown {
        line(out, &table.row(&row.size.unwrap_or(0).to_string(), row))?;
    }
    line(out, &table.row("> 1024", &bins.larger))?;
    line(out, "")?;
    line(out, &table.total())?;
    rows.note(out, options, "size", |rest| {
        let (objects, bytes) = (counted(rest.allocs, "object"), counted(rest.bytes, "byte"));
        format!("{objects}, {bytes}, {} kept", rest.kept_bytes())
    })
}

/// Widths and shares of the table.
struct Table<'a> {
    whole: &'a Usage,
    options: &'a Options,
    allocs: usize,
    bytes: usize,
    frees: usize,
    kept: usize,
}

/// Columns of the sizes.
const SIZE: usize = 8;

impl<'a> Table<'a> {
    fn new(whole: &'a Usage, options: &'a Options) -> Self {
        // No row has a longer number than the total.
        Table {
            whole,
            options,
            allocs: column(10, whole.allocs),
            bytes: column(10, whole.bytes),
            frees: column(10, whole.frees),
            kept: column(10, whole.kept_bytes()),
        }
    }

    fn titles(&self) -> String {
        let Table { allocs, bytes, frees, kept, .. } = *self;
        format!(
            "{:>SIZE$}{:>allocs$}{:>bytes$} (%) {:>frees$}{:>kept$} (%)    types",
            "size:", "allocs", "bytes", "frees", "kept"
        )
    }

    fn row(&self, size: &str, row: &BinRow) -> String {
        let Table { allocs, bytes, frees, kept, .. } = *self;
        let usage = &row.usage;
        let share = bracket(usage.bytes, self.whole.bytes, self.options.marks);
        let kept_share = bracket(usage.kept_bytes(), self.whole.kept_bytes(), self.options.marks);
        let mut text = format!("{size:>SIZE$}{:>allocs$}{:>bytes$} {share:<4}", usage.allocs, usage.bytes);
        text += &format!("{:>frees$}{:>kept$} {kept_share:<4}   ", usage.frees, usage.kept_bytes());
        let room = self.options.page.width.saturating_sub(text.len());
        let room = if self.options.detail == Detail::Verbose { usize::MAX } else { room };
        text + &types(&row.types, room)
    }

    fn total(&self) -> String {
        let Table { whole, allocs, bytes, frees, kept, .. } = *self;
        format!(
            "{:>SIZE$}{:>allocs$}{:>bytes$}     {:>frees$}{:>kept$}",
            "<TOTAL>",
            whole.allocs,
            whole.bytes,
            whole.frees,
            whole.kept_bytes()
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
