//! Draws the table of types, in place of the bins where a garbage collector frees.

use super::layout::{column, heading, line};
use super::number::{Shown, bracket, counted};
use super::options::{Options, Order};
use super::rows::{Rows, rank};
use crate::analysis::half::Half;
use crate::analysis::tally::Usage;
use crate::analysis::types::{TypeRow, Types};
use std::cmp::Reverse;
use std::io::{self, Write};

pub(super) fn write<N: Shown>(types: &Types<N>, options: &Options, out: &mut impl Write) -> io::Result<()> {
    heading(out, options.styles, "Allocation bins")?;
    let mut rows = Rows::select(&types.rows, options, &types.total, |row| row.usage, |row| row.usage);
    // Sizes rise, types stand by their bytes.
    let by_size = options.half != Half::Lisp;
    rows.shown.sort_by_key(|row| match options.order {
        Some(Order::Name) => Reverse(0),
        None if by_size => Reverse(0),
        order => rank(order, &row.usage, row.usage.bytes),
    });
    if options.order == Some(Order::Name) && !by_size {
        rows.shown.sort_by(|a, b| a.name.cmp(&b.name));
    }
    rows.limit(options, |row| row.usage);
    let table = Table::new(types, options);
    line(out, &table.titles())?;
    line(out, "")?;
    for row in &rows.shown {
        line(out, &table.row(row))?;
    }
    line(out, "")?;
    line(out, &table.total())?;
    rows.note(out, options, if by_size { "size" } else { "type" }, |rest| {
        let (objects, bytes) = (counted(rest.allocs, "object"), counted(rest.bytes, "byte"));
        format!("{objects}, {bytes}")
    })
}

/// Widths and shares of the table.
struct Table<'a, N> {
    whole: &'a Usage<N>,
    options: &'a Options,
    name: usize,
    allocs: usize,
    bytes: usize,
}

/// Columns of a share in brackets, without sign.
const SHARE: usize = 4;

impl<'a, N: Shown> Table<'a, N> {
    fn new(types: &'a Types<N>, options: &'a Options) -> Self {
        let width = |number: fn(&Usage<N>) -> N| {
            let rows = types.rows.iter().map(|row| &row.usage);
            column(10, rows.chain([&types.total]).map(number))
        };
        let longest = types.rows.iter().map(|row| row.name.chars().count() + 2).max();
        Table {
            whole: &types.total,
            options,
            name: longest.unwrap_or(0).max(8),
            allocs: width(|usage| usage.allocs),
            bytes: width(|usage| usage.bytes),
        }
    }

    fn titles(&self) -> String {
        let Table { name, allocs, bytes, options, .. } = *self;
        let title = if options.half == Half::Lisp { "type:" } else { "size:" };
        let share = SHARE + N::SIGN;
        let letters = if options.half == Half::Lisp { "   category" } else { "" };
        format!("{title:>name$}{:>allocs$}{:>bytes$} {:<share$}{letters}", "allocs", "bytes", "(%)")
    }

    fn row(&self, row: &TypeRow<N>) -> String {
        let Table { name, allocs, bytes, .. } = *self;
        let share = bracket(row.usage.bytes, self.whole.bytes, self.options.marks);
        let numbers = format!("{:>allocs$}{:>bytes$}", row.usage.allocs.text(), row.usage.bytes.text());
        let share_columns = SHARE + N::SIGN;
        let text = format!("{:>name$}{numbers} {share:<share_columns$}", row.name);
        match self.options.half {
            Half::Lisp => format!("{text}   {}", self.options.half.letter(row.column)),
            _ => text,
        }
    }

    fn total(&self) -> String {
        let Table { whole, name, allocs, bytes, .. } = *self;
        format!("{:>name$}{:>allocs$}{:>bytes$}", "<TOTAL>", whole.allocs.text(), whole.bytes.text())
    }
}
