//! The call graph: an entry for each function, with its callers and what it called.
//!
//! Most of a page are lines of these entries, so they are written short: cells have no end tags, which HTML allows, and
//! their look comes from their place in the line (`templates/style.css`).

use super::{Page, left_out, percent, sum, text};
use crate::analysis::graph::{Entry, Line, Lines, Subject};
use crate::analysis::half::Half;
use crate::analysis::tally::{Tally, Usage};
use crate::export::number::grouped;
use crate::export::rows;
use std::io::{self, Write};

/// Callers of an entry, and callees, that have a line of their own.
const LINES: usize = 24;

pub(super) fn write(page: &Page<'_>, out: &mut dyn Write) -> io::Result<()> {
    let half = page.source.options.half;
    let letters = half.letters().map(|letter| char::from(letter).to_string()).join(" ");
    writeln!(
        out,
        "<div class=\"entries{}\"><table class=\"head\"><thead><tr><th>bytes</th><th>%</th>\
         <th>{} {letters}</th><th>kept</th><th>objects</th><th>function [index]</th></tr></thead></table>",
        if page.is_freed() { "" } else { " unkept" },
        if half == Half::Lisp { "types" } else { "sizes" }
    )?;
    let (mut shown, mut rest) = (0, Usage::default());
    for (index, entry) in rows::entries(page.source, &page.graph) {
        if (index as usize) < page.entries {
            self::entry(page, index, entry, out)?;
            shown += 1;
        } else {
            rest += entry.own.usage;
        }
    }
    writeln!(out, "</div>")?;
    let count = page.graph.entries.len() - shown;
    left_out(count, "function", &format!("which allocated {} themselves", sum(page, &rest)), out)
}

fn entry(page: &Page<'_>, index: u32, entry: &Entry, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "<section class=e id=g{index}><table><tbody>")?;
    if let Subject::Cycle(cycle) = entry.subject {
        members(page, cycle, &entry.own, out)?;
    }
    lines(page, &entry.ancestors, out)?;
    let (total, own) = (&entry.total, &entry.own.usage);
    let recurring =
        if entry.recurring > 0 { format!("+{}", grouped(entry.recurring)) } else { String::new() };
    let itself = match own.bytes {
        0 => String::new(),
        bytes => format!(", itself {} ({} %)", grouped(bytes), percent(bytes, total.usage.bytes)),
    };
    writeln!(
        out,
        "<tr class=self><td class=b style=--p:{}>{}<td>{}<td>{}{}<td>{}{recurring}<td class=name>{} <i>[{index}]{itself}</i>",
        percent(total.usage.bytes, page.total.bytes),
        grouped(total.usage.bytes),
        percent(total.usage.bytes, page.total.bytes),
        sizes(page, total),
        number(total.usage.kept_bytes()),
        grouped(entry.called),
        text(&page.graph.name(page.source.tree(), entry.subject))
    )?;
    lines(page, &entry.descendents, out)?;
    writeln!(out, "</table></section>")
}

/// A bar of the shares of the categories.
fn sizes(page: &Page<'_>, tally: &Tally) -> String {
    let whole = tally.usage.bytes;
    if whole == 0 {
        return String::new();
    }
    let [s, m, l, _] = tally.bytes;
    let upto = |bytes: u64| percent(bytes.min(whole), whole);
    let [first, second, third] = [s, s.saturating_add(m), s.saturating_add(m).saturating_add(l)].map(upto);
    let letters = page.source.options.half.letters().map(char::from);
    let shares: Vec<String> = letters
        .into_iter()
        .zip(tally.bytes)
        .filter(|&(_, bytes)| bytes > 0)
        .map(|(category, bytes)| format!("{category} {} %", percent(bytes, whole)))
        .collect();
    format!("<s style=--a:{first};--b:{second};--d:{third} title=\"{}\"></s>", shares.join(", "))
}

/// Callers or callees.
fn lines(page: &Page<'_>, lines: &Lines, out: &mut dyn Write) -> io::Result<()> {
    let (shown, others) = lines.lines.split_at(lines.lines.len().min(LINES));
    for line in shown {
        self::line(page, line, lines, out)?;
    }
    if others.is_empty() {
        return Ok(());
    }
    let mut rest = Tally::default();
    others.iter().for_each(|line| rest += line.tally);
    let objects = grouped(rest.usage.allocs);
    let name = format!("{} more", others.len());
    row(page, &rest, lines.whole, &objects, &name, out)
}

fn line(page: &Page<'_>, line: &Line, lines: &Lines, out: &mut dyn Write) -> io::Result<()> {
    let objects = format!("{}/{}", grouped(line.tally.usage.allocs), grouped(line.of_allocs));
    let name = function(page, line.function);
    if line.within_cycle {
        return writeln!(out, "<tr><td>*<td>*<td><td>*<td>{objects}<td class=name>{name}");
    }
    row(page, &line.tally, lines.whole, &objects, &name, out)
}

fn row(
    page: &Page<'_>,
    tally: &Tally,
    whole: u64,
    objects: &str,
    name: &str,
    out: &mut dyn Write,
) -> io::Result<()> {
    writeln!(
        out,
        "<tr>{}<td>{}<td>{}{}<td>{objects}<td class=name>{name}",
        number(tally.usage.bytes),
        percent(tally.usage.bytes, whole),
        sizes(page, tally),
        number(tally.usage.kept_bytes())
    )
}

/// A cell with a number.
fn number(value: u64) -> String {
    if value == 0 { "<td class=z>0".into() } else { format!("<td>{}", grouped(value)) }
}

/// A function that leads to its entry, with its index.
fn function(page: &Page<'_>, function: u32) -> String {
    let name = page.graph.name(page.source.tree(), Subject::Function(function));
    let index = page.entry_of(function).map_or(String::new(), |index| format!(" <i>[{index}]</i>"));
    format!("{}{index}", page.link(function, &name))
}

/// The members of a cycle with what each allocated itself. Of most there are many that allocated nothing: they are summed
/// up, as what is over the limit is.
fn members(page: &Page<'_>, cycle: u32, own: &Tally, out: &mut dyn Write) -> io::Result<()> {
    let members = &page.graph.cycles[cycle as usize].members;
    let allocating = members.iter().filter(|(_, tally)| tally.usage.bytes > 0).count();
    let (shown, others) =
        members.split_at(if members.len() > LINES { allocating.min(LINES) } else { members.len() });
    for (member, tally) in shown {
        let name = format!("{} <i>member</i>", function(page, *member));
        row(page, tally, own.usage.bytes, &grouped(tally.usage.allocs), &name, out)?;
    }
    if !others.is_empty() {
        let mut rest = Tally::default();
        others.iter().for_each(|(_, tally)| rest += *tally);
        let name = format!("{} more members", others.len());
        row(page, &rest, own.usage.bytes, &grouped(rest.usage.allocs), &name, out)?;
    }
    Ok(())
}
