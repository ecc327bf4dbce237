//! The tables of leaks, bins and direct allocation.

use super::{Page, bar, cell, left_out, percent, sum, text};
use crate::analysis::bins::BinRow;
use crate::analysis::direct::DirectRow;
use crate::analysis::half::Half;
use crate::analysis::leaks::Path;
use crate::analysis::tally::{CATEGORIES, Usage};
use crate::analysis::types::TypeRow;
use crate::export::number::grouped;
use crate::export::rows::{self, LeakRow};
use crate::suppress::Label;
use std::io::{self, Write};

/// Titles of a table, of its numbers first, then of its texts; numbers that are marked with `-` narrow pages leave out.
pub(super) fn head(numbers: &[&str], names: &[&str], out: &mut dyn Write) -> io::Result<()> {
    write!(out, "<div class=\"sheet\"><table><thead><tr>")?;
    for title in numbers {
        match title.strip_prefix('-') {
            Some(title) => write!(out, "<th class=\"n opt\" scope=\"col\">{title}</th>")?,
            None => write!(out, "<th class=\"n\" scope=\"col\">{title}</th>")?,
        }
    }
    names.iter().try_for_each(|name| write!(out, "<th scope=\"col\">{name}</th>"))?;
    writeln!(out, "</tr></thead><tbody>")
}

pub(super) fn foot(out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "</tbody></table></div>")
}

pub(super) fn leaks(page: &Page<'_>, out: &mut dyn Write) -> io::Result<()> {
    let (rows, notes) = rows::leaks(page.source);
    if rows.is_empty() {
        let but = match page.source.leaks.suppressed.is_empty() {
            true => "",
            false => " but those that are suppressed",
        };
        writeln!(out, "<p>No objects were kept{but}.</p>")?;
        return suppressed(page, out);
    }
    let classified = page.source.leaks.classified;
    let names: &[&str] = if classified { &["kind", "path"] } else { &["path"] };
    head(&["bytes kept", "-%", "objects", "-allocated", "-bytes"], names, out)?;
    let limit = page.limit();
    for row in rows.iter().take(limit) {
        let LeakRow { usage, .. } = row;
        let kind = match classified {
            true => format!("<td>{}</td>", row.kind.unwrap_or_default()),
            false => String::new(),
        };
        let (kept, whole) = (usage.kept_bytes(), page.total.kept_bytes());
        writeln!(
            out,
            "<tr>{}<td class=\"n pct opt\">{}</td>{}{}{}{kind}<td class=\"name\">{}</td></tr>",
            bar(kept, whole, "", " kept"),
            percent(kept, whole),
            cell(usage.kept(), "objects ", ""),
            cell(usage.allocs, "", " opt"),
            cell(usage.bytes, "", " opt"),
            path(page, &row.path, &row.functions)
        )?;
    }
    foot(out)?;
    let mut rest = Usage::default();
    rows.iter().skip(limit).for_each(|row| rest += row.usage);
    left_out(rows.len().saturating_sub(limit), "path", &sum(page, &rest), out)?;
    notes.iter().try_for_each(|note| writeln!(out, "<p class=\"note\">{}</p>", text(note)))?;
    suppressed(page, out)
}

/// What is suppressed or known, and so no row.
fn suppressed(page: &Page<'_>, out: &mut dyn Write) -> io::Result<()> {
    let leaks = page.source.leaks;
    if let Some(known) = &leaks.known {
        writeln!(out, "<p class=\"note\">Known from an earlier run: {}.</p>", sum(page, &known.usage))?;
    }
    if leaks.suppressed.is_empty() {
        return Ok(());
    }
    write!(out, "<div class=\"note\">Suppressed:<ul>")?;
    for hidden in &leaks.suppressed {
        let Label { name, origin } = &hidden.label;
        writeln!(
            out,
            "<li>{} ({}): {}</li>",
            text(name),
            text(&origin.to_string()),
            sum(page, &hidden.usage)
        )?;
    }
    writeln!(out, "</ul></div>")
}

/// A path whose functions lead to their entries.
pub(super) fn path(page: &Page<'_>, path: &Path, functions: &[u32]) -> String {
    let mut shown = text(path.beginning.text()).to_string();
    let last = path.callers.len().saturating_sub(1);
    for (place, (caller, &function)) in path.callers.iter().zip(functions).enumerate() {
        shown += " <i>&gt;</i> ";
        let link = page.link(function, caller);
        shown += &if place == last { format!("<b>{link}</b>") } else { link };
    }
    shown
}

pub(super) fn bins(page: &Page<'_>, out: &mut dyn Write) -> io::Result<()> {
    if let Some(types) = rows::types(page.source) {
        return by_type(page, &types, out);
    }
    let Some(bins) = rows::bins(page.source) else {
        let what = if page.source.options.half == Half::Lisp { "Types" } else { "Sizes" };
        return writeln!(
            out,
            "<p>{what} are recorded for whole processes only, not by thread or call chain.</p>"
        );
    };
    let numbers = ["size", "objects", "bytes", "-freed", "bytes kept"];
    head(if page.is_freed() { &numbers } else { &numbers[..3] }, &["types"], out)?;
    let limit = rows::limit(page.source);
    for row in bins.rows.iter().take(limit).chain([&bins.larger]) {
        let size = row.size.map_or_else(|| "&gt; 1,024".into(), grouped);
        bin(page, row, &size, out)?;
    }
    writeln!(out, "</tbody><tfoot>")?;
    bin(page, &BinRow { usage: bins.total, ..BinRow::default() }, "all", out)?;
    writeln!(out, "</tfoot></table></div>")?;
    let mut rest = Usage::default();
    bins.rows.iter().skip(limit).for_each(|row| rest += row.usage);
    left_out(bins.rows.len().saturating_sub(limit), "size", &sum(page, &rest), out)
}

fn bin(page: &Page<'_>, row: &BinRow, size: &str, out: &mut dyn Write) -> io::Result<()> {
    let (usage, total) = (&row.usage, &page.total);
    writeln!(
        out,
        "<tr><td class=\"n\">{size}</td>{}{}{}<td class=\"name\">{}</td></tr>",
        bar(usage.allocs, total.allocs, "objects ", ""),
        bar(usage.bytes, total.bytes, "bytes ", ""),
        if page.is_freed() {
            cell(usage.frees, "", " opt") + &bar(usage.kept_bytes(), total.kept_bytes(), "kept ", " kept")
        } else {
            String::new()
        },
        types(&row.types)
    )
}

/// The types, where these are known in place of sizes.
fn by_type(page: &Page<'_>, types: &[TypeRow], out: &mut dyn Write) -> io::Result<()> {
    head(&["bytes", "% mem", "objects", "category"], &["type"], out)?;
    let limit = rows::limit(page.source);
    for row in types.iter().take(limit) {
        type_row(page, &row.usage, row.column, &text(&row.name).to_string(), out)?;
    }
    writeln!(out, "</tbody><tfoot>")?;
    let (mut all, mut rest) = (Usage::default(), Usage::default());
    types.iter().for_each(|row| all += row.usage);
    types.iter().skip(limit).for_each(|row| rest += row.usage);
    type_row(page, &all, CATEGORIES, "all", out)?;
    writeln!(out, "</tfoot></table></div>")?;
    left_out(types.len().saturating_sub(limit), "type", &sum(page, &rest), out)
}

fn type_row(
    page: &Page<'_>,
    usage: &Usage,
    column: usize,
    name: &str,
    out: &mut dyn Write,
) -> io::Result<()> {
    writeln!(
        out,
        "<tr>{}<td class=\"n pct\" data-l=\"% \">{}</td>{}<td class=\"n\">{}</td><td class=\"name\">{name}</td></tr>",
        bar(usage.bytes, page.total.bytes, "", ""),
        percent(usage.bytes, page.total.bytes),
        bar(usage.allocs, page.total.allocs, "objects ", ""),
        page.source.options.half.letter(column)
    )
}

/// Types that are shown at once.
const TYPES: usize = 6;
/// Types that are shown when asked for.
const MORE_TYPES: usize = 200;

fn types(names: &[String]) -> String {
    let list = |names: &[String]| {
        let names: Vec<String> = names.iter().map(|name| text(name).to_string()).collect();
        names.join(", ")
    };
    let (first, others) = names.split_at(names.len().min(TYPES));
    if others.is_empty() {
        return list(first);
    }
    let shown = list(&others[..others.len().min(MORE_TYPES)]);
    let end = if others.len() > MORE_TYPES { ", …" } else { "" };
    format!("{}<details><summary>and {} more</summary>{shown}{end}</details>", list(first), others.len())
}

pub(super) fn direct(page: &Page<'_>, out: &mut dyn Write) -> io::Result<()> {
    let direct = rows::direct(page.source);
    let letters = page.source.options.half.letters().map(|letter| format!("-{}", char::from(letter)));
    let letters = letters.each_ref().map(String::as_str);
    let mut numbers = [&["bytes", "% mem"][..], &letters].concat();
    if page.is_freed() {
        numbers.extend([&["bytes kept"][..], &letters].concat());
    }
    numbers.push("objects");
    head(&numbers, &["function"], out)?;
    let limit = page.limit();
    for row in direct.rows.iter().take(limit) {
        let name = page.link(row.function, &page.source.tree().functions[row.function].shown);
        direct_row(page, row, &name, out)?;
    }
    foot(out)?;
    let mut rest = Usage::default();
    direct.rows.iter().skip(limit).for_each(|row| rest += row.own.usage);
    left_out(direct.rows.len().saturating_sub(limit), "function", &sum(page, &rest), out)
}

fn direct_row(page: &Page<'_>, row: &DirectRow, name: &str, out: &mut dyn Write) -> io::Result<()> {
    let (usage, total) = (&row.own.usage, &page.total);
    writeln!(
        out,
        "<tr>{}<td class=\"n pct\" data-l=\"% \">{}</td>{}{}{}<td class=\"name\">{name}</td></tr>",
        bar(usage.bytes, total.bytes, "", ""),
        percent(usage.bytes, total.bytes),
        shares(&row.own.bytes, total.bytes),
        if page.is_freed() {
            let kept = bar(usage.kept_bytes(), total.kept_bytes(), "kept ", " kept");
            kept + &shares(&row.kept, total.kept_bytes())
        } else {
            String::new()
        },
        cell(usage.allocs, "objects ", "")
    )
}

/// Bytes by category in percent, nothing where there are none.
fn shares(bytes: &[u64; CATEGORIES], whole: u64) -> String {
    let share = |&bytes: &u64| if bytes == 0 { String::new() } else { percent(bytes, whole) };
    bytes.iter().map(|bytes| format!("<td class=\"n pct opt\">{}</td>", share(bytes))).collect()
}
