//! How long objects lived, and the paths over which those were allocated that died young.

use super::{Page, bar, cell, left_out, linked_path, percent};
use crate::analysis::past::{Lifetimes, by_path, pasts};
use crate::export::number::grouped;
use crate::report::lifetime::{lower_bytes, mean_kib};
use std::cmp::Reverse;
use std::io::{self, Write};

pub(super) fn write(page: &Page<'_>, out: &mut dyn Write) -> io::Result<()> {
    let tree = page.source.tree();
    let mut all = Lifetimes::default();
    pasts(tree).filter_map(|(_, past)| past.lifetimes.as_deref()).for_each(|more| all += more);
    if all.objects() == 0 {
        return writeln!(out, "<p>No objects were freed whose ages are recorded.</p>");
    }
    writeln!(
        out,
        "<p>{} objects died young: without them {} % of all allocations and {} % of all bytes would be saved. \
         {} of them were temporary: freed before their thread’s next allocation.</p>",
        grouped(all.young()),
        percent(all.young(), page.total.allocs),
        percent(all.young_bytes, page.total.bytes),
        grouped(all.temporary.min(all.young()))
    )?;
    histogram(&all, out)?;
    let mut rows = by_path(tree, page.source.options.paths, |past| past.lifetimes.as_deref());
    rows.sort_by_key(|row| (Reverse(row.sum.young_bytes), Reverse(row.sum.objects()), row.node));
    super::tables::head(
        &["bytes died young", "-%", "objects", "-temporary", "all freed", "-mean age"],
        &["path"],
        out,
    )?;
    let limit = page.limit();
    for row in rows.iter().take(limit) {
        let sum = &row.sum;
        writeln!(
            out,
            "<tr>{}<td class=\"n pct opt\">{}</td>{}{}{}<td class=\"n opt\">{}</td><td class=\"name\">{}</td></tr>",
            bar(sum.young_bytes, page.total.bytes, "", ""),
            percent(sum.young_bytes, page.total.bytes),
            cell(sum.young(), "young ", ""),
            cell(sum.temporary, "", " opt"),
            cell(sum.objects(), "freed ", ""),
            mean_kib(sum).replace('<', "&lt;"),
            linked_path(page, &row.path, row.node)
        )?;
    }
    super::tables::foot(out)?;
    let rest = rows.iter().skip(limit).fold(0, |sum: u64, row| sum.saturating_add(row.sum.young_bytes));
    left_out(rows.len().saturating_sub(limit), "path", &format!("{} bytes", grouped(rest)), out)
}

/// A bar for each class of ages.
fn histogram(all: &Lifetimes, out: &mut dyn Write) -> io::Result<()> {
    let last = all.classes.iter().rposition(|count| *count > 0).unwrap_or(0);
    let most = all.classes.iter().copied().max().unwrap_or(0);
    writeln!(
        out,
        "<div class=\"plot small ages\"><h3>Freed objects by age: what was allocated while they lived</h3>\
         <div class=\"bars\">"
    )?;
    let classes = || all.classes.iter().enumerate().take(last + 1);
    for (class, &count) in classes() {
        write!(out, "<div title=\"{}: {} objects\">", lower_bytes(class), grouped(count))?;
        if count > 0 {
            write!(out, "<i style=\"height:{}%\"></i>", percent(count, most))?;
        }
        writeln!(out, "</div>")?;
    }
    write!(out, "</div><div class=\"axis\">")?;
    let labelled = [1, 11, 21].into_iter().filter(|class| *class <= last);
    for class in labelled {
        let place = percent(2 * class as u64, 2 * (last as u64 + 1));
        let age = lower_bytes(class);
        let age = age.trim_start_matches("from ").replace(".00", "");
        write!(out, "<span style=\"left:{place}%\">{age}</span>")?;
    }
    writeln!(out, "</div></div>")
}
