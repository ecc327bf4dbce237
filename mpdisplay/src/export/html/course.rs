//! The heap in the course of time: its curve with the peak marked, and what was alive at the peak and at the snapshots.
//! The marks are links to tables, which the page shows when it is at them.

use super::{Page, bar, cell, left_out, linked_path, percent, text};
use crate::analysis::curve::{Clock, Column, columns, thinned};
use crate::analysis::leaks::{path_keys, path_to};
use crate::analysis::past::pasts;
use crate::export::number::{bytes, grouped, short};
use crate::report::peak::describe;
use crate::report::time;
use mprof_format::model::{History, Point, Profile};
use std::cmp::Reverse;
use std::collections::HashMap;
use std::io::{self, Write};

/// Points of the curve.
const POINTS: usize = 600;
/// Width and height of the picture, in units of its own.
const WIDTH: u64 = 1000;
const HEIGHT: u64 = 240;
/// Columns of the small pictures.
const COLUMNS: usize = 100;
/// Curves on a page.
const CURVES: usize = 8;
/// Snapshots that can be chosen, and their rows.
const SNAPSHOTS: usize = 100;
const ROWS: usize = 12;

pub(super) fn write(page: &Page<'_>, out: &mut dyn Write) -> io::Result<()> {
    let profiles: Vec<&Profile> =
        page.source.profiles().filter(|profile| !profile.history.curve.is_empty()).collect();
    if profiles.is_empty() {
        return writeln!(out, "<p>Not recorded.</p>");
    }
    let alone = page.source.parts.len() == 1;
    for profile in profiles.iter().take(CURVES) {
        if !alone {
            writeln!(out, "<h3>Process {}</h3>", profile.process.pid)?;
        }
        let course = Course::new(&profile.history, page.source.options.clock);
        course.curve(alone, out)?;
        if alone {
            snapshots(page, &profile.history, out)?;
        }
    }
    left_out(profiles.len().saturating_sub(CURVES), "curve", "those of the last processes", out)
}

/// A curve and its scales.
struct Course<'h> {
    history: &'h History,
    clock: Clock,
    points: Vec<Point>,
    /// Time of the end.
    end: u64,
    most: u64,
}

impl<'h> Course<'h> {
    fn new(history: &'h History, clock: Clock) -> Self {
        let points = thinned(&history.curve, POINTS);
        let end = points.last().map_or(0, |point| clock.of(point)).max(1);
        let peak = history.peak.as_ref().map_or(0, |peak| peak.totals.bytes);
        let most = points.iter().map(|point| point.most_bytes).chain([peak]).max().unwrap_or(0).max(1);
        Course { history, clock, points, end, most }
    }

    /// A time's place, in percent of the width.
    fn left(&self, time: u64) -> String {
        percent(time.min(self.end), self.end)
    }

    fn curve(&self, with_snapshots: bool, out: &mut dyn Write) -> io::Result<()> {
        let end = time::at(self.clock, self.end);
        writeln!(
            out,
            "<div class=\"plot\"><h3>Bytes alive</h3><div class=\"curve\"><svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
             preserveAspectRatio=\"none\" role=\"img\" aria-label=\"Bytes alive over time, {} at most\">\
             <path class=\"area\" d=\"{}\"/></svg>",
            bytes(self.most),
            self.path()
        )?;
        for (part, place) in [(self.most, "100"), (self.most / 2, "50")] {
            writeln!(out, "<span class=\"level\" style=\"bottom:{place}%\">{}</span>", bytes(part))?;
        }
        if with_snapshots {
            self.snapshot_marks(out)?;
        }
        self.peak_mark(out)?;
        writeln!(
            out,
            "</div><div class=\"axis\"><span class=\"first\">0</span><span style=\"left:50%\">{}</span>\
             <span class=\"last\">{end}</span></div></div>",
            time::at(self.clock, self.end / 2)
        )?;
        let columns = columns(&self.history.curve, self.clock, COLUMNS);
        let width = time::at(self.clock, self.end / COLUMNS as u64);
        writeln!(out, "<div class=\"plots\">")?;
        small("Objects alive", &columns, |column| column.most_objects, short, out)?;
        small(&format!("Allocated per {width}"), &columns, |column| column.bytes, bytes, out)?;
        writeln!(out, "</div>")
    }

    /// The outline of the area below the curve.
    fn path(&self) -> String {
        let place =
            |value: u64, whole: u64, size: u64| u128::from(value) * u128::from(size) / u128::from(whole);
        let mut path = format!("M0 {HEIGHT}");
        for point in &self.points {
            let x = place(self.clock.of(point).min(self.end), self.end, WIDTH);
            let y = u128::from(HEIGHT) - place(point.most_bytes, self.most, HEIGHT);
            path += &format!("L{x} {y}");
        }
        path + &format!("V{HEIGHT}Z")
    }

    fn peak_mark(&self, out: &mut dyn Write) -> io::Result<()> {
        let Some(peak) = &self.history.peak else { return Ok(()) };
        let totals = &peak.totals;
        let time = match self.clock {
            Clock::Time => totals.ns,
            Clock::Allocations => totals.number,
            Clock::Bytes => {
                let next = self.history.curve.iter().find(|point| point.objects >= totals.number);
                next.map_or(self.end, |point| point.bytes)
            }
        };
        writeln!(
            out,
            "<a class=\"mark peak\" href=\"#peak\" style=\"left:{}%;bottom:{}%\" title=\"Peak: {}\">peak</a>",
            self.left(time),
            percent(totals.bytes, self.most),
            text(&describe(totals))
        )
    }

    fn snapshot_marks(&self, out: &mut dyn Write) -> io::Result<()> {
        for (number, snapshot) in self.history.snapshots.iter().take(SNAPSHOTS).enumerate() {
            let totals = &snapshot.totals;
            let time = match self.clock {
                Clock::Time => totals.ns,
                Clock::Bytes => totals.bytes,
                Clock::Allocations => totals.objects,
            };
            writeln!(
                out,
                "<a class=\"mark\" href=\"#snapshot{number}\" style=\"left:{}%;bottom:{}%\" \
                 title=\"{}: {} bytes in {} objects\">{}</a>",
                self.left(time),
                percent(totals.live_bytes, self.most),
                time::at(self.clock, time),
                grouped(totals.live_bytes),
                grouped(totals.live_objects),
                number + 1
            )?;
        }
        Ok(())
    }
}

/// A small picture: a bar for each column.
fn small(
    title: &str,
    columns: &[Column],
    value: impl Fn(&Column) -> u64,
    number: impl Fn(u64) -> String,
    out: &mut dyn Write,
) -> io::Result<()> {
    let most = columns.iter().map(&value).max().unwrap_or(0);
    writeln!(
        out,
        "<div class=\"plot small\"><h3>{}<span class=\"key\">at most {}</span></h3><div class=\"bars\">",
        text(title),
        number(most)
    )?;
    for column in columns {
        let value = value(column);
        write!(out, "<div title=\"{}\">", number(value))?;
        if value > 0 {
            write!(out, "<i style=\"height:{}%\"></i>", percent(value, most))?;
        }
        writeln!(out, "</div>")?;
    }
    writeln!(out, "</div></div>")
}

/// What was alive at each of the snapshots, by path.
fn snapshots(page: &Page<'_>, history: &History, out: &mut dyn Write) -> io::Result<()> {
    if history.snapshots.is_empty() {
        return Ok(());
    }
    let (tree, options) = (page.source.tree(), page.source.options.paths);
    let keys = path_keys(tree, options);
    writeln!(
        out,
        "<p class=\"note\">The points of the curve are snapshots: click one to see what was alive.</p>"
    )?;
    for (number, snapshot) in history.snapshots.iter().take(SNAPSHOTS).enumerate() {
        let mut sums: HashMap<_, (u32, u64, u64)> = HashMap::new();
        for (node, past) in pasts(tree) {
            let (objects, bytes) = past.at(number as u32);
            if objects > 0 {
                let sum = sums.entry(keys[node as usize]).or_insert((node, 0, 0));
                (sum.1, sum.2) = (sum.1.saturating_add(objects), sum.2.saturating_add(bytes));
            }
        }
        let mut rows: Vec<(u32, u64, u64)> = sums.into_values().collect();
        rows.sort_by_key(|&(node, objects, bytes)| (Reverse(bytes), Reverse(objects), node));
        let totals = &snapshot.totals;
        writeln!(
            out,
            "<div class=\"moment\" id=\"snapshot{number}\"><h3>Snapshot {}, after {} and {} allocations: {} bytes \
             in {} objects</h3><table><thead><tr><th class=\"n\">bytes</th><th class=\"n\">objects</th>\
             <th>path</th></tr></thead><tbody>",
            number + 1,
            time::seconds(totals.ns),
            grouped(totals.objects),
            grouped(totals.live_bytes),
            grouped(totals.live_objects)
        )?;
        for &(node, objects, bytes) in rows.iter().take(ROWS) {
            writeln!(
                out,
                "<tr>{}{}<td class=\"name\">{}</td></tr>",
                bar(bytes, totals.live_bytes, "", " kept"),
                cell(objects, "objects ", ""),
                linked_path(page, &path_to(tree, node, options), node)
            )?;
        }
        writeln!(out, "</tbody></table>")?;
        let rest = rows.iter().skip(ROWS).fold(0, |sum: u64, row| sum.saturating_add(row.2));
        left_out(rows.len().saturating_sub(ROWS), "path", &format!("{} bytes", grouped(rest)), out)?;
        writeln!(out, "</div>")?;
    }
    let more = history.snapshots.len().saturating_sub(SNAPSHOTS);
    left_out(more, "snapshot", "the last ones", out)
}

/// The table of what was alive at the peak.
pub(super) fn peak(page: &Page<'_>, out: &mut dyn Write) -> io::Result<()> {
    let tree = page.source.tree();
    let keys = path_keys(tree, page.source.options.paths);
    let mut sums: HashMap<_, (u32, u64, u64)> = HashMap::new();
    for count in tree.counts.iter().filter(|count| count.usage.peak > 0) {
        let sum = sums.entry(keys[count.node as usize]).or_insert((count.node, 0, 0));
        sum.1 = sum.1.saturating_add(count.usage.peak);
        sum.2 = sum.2.saturating_add(count.usage.peak_bytes);
    }
    if sums.is_empty() {
        return writeln!(out, "<p>Not recorded.</p>");
    }
    let mut rows: Vec<(u32, u64, u64)> = sums.into_values().collect();
    rows.sort_by_key(|&(node, objects, bytes)| (Reverse(bytes), Reverse(objects), node));
    let whole = page.total.peak_bytes;
    super::tables::head(&["bytes", "-%", "objects"], &["path"], out)?;
    let limit = page.limit();
    for &(node, objects, bytes) in rows.iter().take(limit) {
        let path = path_to(tree, node, page.source.options.paths);
        writeln!(
            out,
            "<tr>{}<td class=\"n pct opt\">{}</td>{}<td class=\"name\">{}</td></tr>",
            bar(bytes, whole, "", " kept"),
            percent(bytes, whole),
            cell(objects, "objects ", ""),
            linked_path(page, &path, node)
        )?;
    }
    super::tables::foot(out)?;
    let rest = rows.iter().skip(limit).fold(0, |sum: u64, row| sum.saturating_add(row.2));
    left_out(rows.len().saturating_sub(limit), "path", &format!("{} bytes", grouped(rest)), out)
}
