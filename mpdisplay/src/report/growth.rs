//! Draws reallocations: which paths let objects grow, how often, from where to where, and what was copied.

use super::layout::{column, heading, line};
use super::lifetime::path_behind;
use super::number::counted;
use super::options::{Options, Order};
use super::style::Style;
use super::view::View;
use crate::analysis::past::{Growing, PathRow, by_path};
use crate::analysis::tally::Usage;
use std::cmp::Reverse;
use std::io::{self, Write};

/// Writes the table.
pub(super) fn write(view: &View, options: &Options, out: &mut impl Write) -> io::Result<()> {
    heading(out, options.styles, "Reallocation")?;
    let mut rows = by_path(&view.tree, options.paths, |past| past.growth.as_ref());
    if rows.is_empty() {
        return line(out, "  no objects were reallocated");
    }
    let mut all = Growing::default();
    rows.iter().for_each(|row| all += &row.sum);
    let count = rows.len();
    let whole = usage(&all);
    rows.retain(|row| options.detail.shows(&usage(&row.sum), &whole));
    rows.sort_by_cached_key(|row| {
        let weight = match options.order {
            Some(Order::Name) => 0,
            Some(Order::Allocs) => row.sum.reallocations,
            _ => row.sum.copied_bytes,
        };
        (Reverse(weight), Reverse(row.sum.reallocations), row.path.to_string())
    });
    rows.truncate(options.limit.unwrap_or(usize::MAX));
    table(&rows, options, out)?;
    if count > rows.len() {
        let note = format!("  left out: {}", counted((count - rows.len()) as u64, "path"));
        writeln!(out, "\n{}", options.styles.paint(Style::Faint, &note))?;
    }
    line(
        out,
        &format!(
            "\n  {} in {}; {} moved the object, and copied {} at most",
            counted(all.reallocations, "reallocation"),
            counted(all.first, "chain"),
            all.moved,
            counted(all.copied_bytes, "byte")
        ),
    )
}

/// What is small goes by reallocations and bytes copied.
fn usage(sum: &Growing) -> Usage {
    Usage::new(sum.reallocations, sum.copied_bytes, 0, 0)
}

fn table(rows: &[PathRow<Growing>], options: &Options, out: &mut impl Write) -> io::Result<()> {
    let width = |usual, number: fn(&Growing) -> u64| column(usual, rows.iter().map(|row| number(&row.sum)));
    let often = width(10, |sum| sum.reallocations);
    let chains = width(9, |sum| sum.first);
    let moved = width(9, |sum| sum.moved);
    let copied = width(12, |sum| sum.copied_bytes);
    let from = width(8, |sum| sum.smallest);
    let to = width(10, |sum| sum.largest);
    line(
        out,
        &format!(
            "{:>often$}{:>chains$}{:>moved$}{:>copied$}{:>from$}{:>to$}    path",
            "reallocs", "chains", "moved", "copied", "from", "to"
        ),
    )?;
    line(out, "")?;
    for row in rows {
        let Growing { reallocations, first, moved: moves, copied_bytes, smallest, largest } = row.sum;
        let numbers = format!(
            "{reallocations:>often$}{first:>chains$}{moves:>moved$}{copied_bytes:>copied$}{smallest:>from$}\
             {largest:>to$}    "
        );
        path_behind(&numbers, row, options, out)?;
    }
    Ok(())
}
