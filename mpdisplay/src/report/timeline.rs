//! Draws the heap over time: a chart of live bytes with the peak marked, the rate of allocation and live objects below it.
//! It takes 80 columns and 20 lines.

use super::layout::{heading, line};
use super::options::Options;
use super::style::Style;
use super::time::{amount, at, bytes};
use crate::analysis::curve::{Clock, Column, columns};
use crate::analysis::part::Part;
use mprof_format::model::History;
use std::io::{self, Write};

/// Lines of the chart of bytes.
const HEIGHT: usize = 11;
/// Columns before it.
const LABEL: usize = 11;
/// Columns of it where the page is not wider.
const WIDTH: usize = 68;
/// Curves that are drawn; of more, the first.
const CURVES: usize = 8;

/// Writes a chart for each of the parts.
pub(super) fn write(parts: &[Part<'_>], options: &Options, out: &mut impl Write) -> io::Result<()> {
    heading(out, options.styles, "Heap over time")?;
    let recorded: Vec<&Part<'_>> =
        parts.iter().filter(|part| !part.profile.history.curve.is_empty()).collect();
    if recorded.is_empty() {
        return line(out, "  not recorded");
    }
    for part in recorded.iter().take(CURVES) {
        if parts.len() > 1 {
            line(out, &format!("process {}", part.profile.process.pid))?;
        }
        chart(&part.profile.history, options, out)?;
    }
    match recorded.len().saturating_sub(CURVES) {
        0 => Ok(()),
        more => line(out, &format!("\n  {more} more: choose with --pid")),
    }
}

fn chart(history: &History, options: &Options, out: &mut impl Write) -> io::Result<()> {
    let clock = options.clock;
    let columns = columns(&history.curve, clock, WIDTH);
    let end = history.curve.last().map_or(0, |point| clock.of(point));
    let most = columns.iter().map(|column| column.most_bytes).max().unwrap_or(0);
    let peak = peak_column(history, &columns, end, clock);
    let mark = format!("{:LABEL$} {:>width$}", "", "▼", width = peak + 1);
    let faint = |text: &str| options.styles.paint(Style::Faint, text);
    line(out, &options.styles.paint(Style::Worse, &mark))?;
    for row in (0..HEIGHT).rev() {
        // Labels stand at the upper edges of the highest line and of every fourth below it.
        let label = match (HEIGHT - 1 - row) % 4 {
            0 => bytes((u128::from(most) * (row as u128 + 1) / HEIGHT as u128) as u64),
            _ => String::new(),
        };
        let blocks: String =
            columns.iter().map(|column| block(column.most_bytes, most, HEIGHT, row)).collect();
        let edge = if label.is_empty() { "│" } else { "┤" };
        line(out, &format!("{label:>LABEL$}{edge}{blocks}"))?;
    }
    line(out, &format!("{:>LABEL$}└{}", "0 B", faint(&"─".repeat(WIDTH))))?;
    let middle = at(clock, end / 2);
    let last = at(clock, end);
    let left = WIDTH / 2 - middle.chars().count() / 2;
    let rest = WIDTH.saturating_sub(left + middle.chars().count());
    line(out, &format!("{:LABEL$} {:<left$}{middle}{last:>rest$}", "", "0"))?;
    let rate = columns.iter().map(|column| column.bytes);
    line(out, &spark("allocated", rate.clone()))?;
    let objects = columns.iter().map(|column| column.most_objects);
    line(out, &spark("objects", objects.clone()))?;
    line(out, "")?;
    line(out, &summary(rate.max().unwrap_or(0), objects.max().unwrap_or(0), end, clock))
}

/// What the small charts' highest columns stand for.
fn summary(rate: u64, objects: u64, end: u64, clock: Clock) -> String {
    let column = match clock {
        Clock::Bytes => bytes(end / WIDTH as u64),
        clock => at(clock, end / WIDTH as u64),
    };
    let (rate, objects) = (bytes(rate), amount(objects));
    format!("  ▼ peak; allocated: up to {rate} per {column}; objects: up to {objects}")
}

/// The column that the peak is in: of those with the most bytes the one of its time, or else the first.
fn peak_column(history: &History, columns: &[Column], end: u64, clock: Clock) -> usize {
    let most = columns.iter().map(|column| column.most_bytes).max().unwrap_or(0);
    let highest = columns.iter().position(|column| column.most_bytes == most).unwrap_or(0);
    let Some(peak) = &history.peak else { return highest };
    let time = match clock {
        Clock::Time => peak.totals.ns,
        Clock::Allocations => peak.totals.number,
        Clock::Bytes => return highest,
    };
    let place = u128::from(time) * columns.len() as u128 / u128::from(end.max(1));
    let place = (place as usize).min(columns.len().saturating_sub(1));
    if columns.get(place).is_some_and(|column| column.most_bytes == most) { place } else { highest }
}

/// Blocks by their height in eighths.
const BLOCKS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// What of a column is in a row, counted from below, of so many. Something is never drawn as nothing.
fn block(value: u64, most: u64, rows: usize, row: usize) -> char {
    let eighths = (u128::from(value) * 8 * rows as u128).checked_div(u128::from(most)).unwrap_or(0) as usize;
    let eighths = if value > 0 { eighths.max(1) } else { 0 };
    BLOCKS[eighths.saturating_sub(8 * row).min(8)]
}

/// A chart in one line.
fn spark(label: &str, values: impl Iterator<Item = u64> + Clone) -> String {
    let most = values.clone().max().unwrap_or(0);
    let blocks: String = values.map(|value| block(value, most, 1, 0)).collect();
    format!("{label:>LABEL$} {blocks}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_eighths_and_something_is_never_nothing() {
        let rows = |value| [2, 1, 0].map(|row| block(value, 240, 3, row)).iter().collect::<String>();
        assert_eq!(rows(0), "   ");
        assert_eq!(rows(1), "  ▁");
        assert_eq!(rows(80), "  █");
        assert_eq!(rows(130), " ▅█");
        assert_eq!(rows(240), "███");
        assert_eq!(block(0, 0, 3, 0), ' ');
    }
}
