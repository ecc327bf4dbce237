//! One page for a browser that needs nothing but itself: the four tables, to be sorted and searched, flame graphs of
//! all measures, a histogram of sizes, and a link from every function to its entry of the call graph.
//!
//! The page is `templates/page.html` with the parts that its `<!--@marks-->` name; what stands between the marks `if freed`
//! and `end` is left out where a garbage collector frees. Names are text of the page or
//! strings of its data, and escaped for that; the script makes text of them and nothing else. What grows with the
//! profile has a limit, and a line of the page says what was left out.

mod course;
mod escape;
mod graph;
mod histogram;
mod lifetimes;
mod overview;
mod stacks;
mod tables;

use super::{Source, number};
use crate::analysis::graph::Graph;
use crate::analysis::half::Half;
use crate::analysis::leaks::Path;
use crate::analysis::tally::Usage;
use escape::text;
use std::io::{self, Write};

const PAGE: &str = include_str!("../../templates/page.html");
const STYLE: &str = include_str!("../../templates/style.css");
const SCRIPT: &str = include_str!("../../templates/script.js");
const MARK: &str = "<!--@";
const MARK_END: &str = "-->";

/// Rows of a table and entries of the call graph, where no other limit is asked for.
const ROWS: usize = 1000;

pub(super) fn write(source: &Source<'_>, out: &mut dyn Write) -> io::Result<Vec<String>> {
    let page = Page::new(source);
    let mut parts = PAGE.split(MARK);
    out.write_all(parts.next().unwrap_or_default().as_bytes())?;
    let mut is_left_out = false;
    for part in parts {
        let (mark, rest) = part.split_once(MARK_END).unwrap_or((part, ""));
        match mark {
            "if freed" => is_left_out = !page.is_freed(),
            "end" => is_left_out = false,
            _ if is_left_out => continue,
            _ => page.part(mark, out)?,
        }
        if !is_left_out {
            out.write_all(rest.as_bytes())?;
        }
    }
    Ok(Vec::new())
}

/// What the parts of the page have in common.
struct Page<'a> {
    source: &'a Source<'a>,
    graph: Graph,
    /// All that was allocated.
    total: Usage,
    /// Entries of the call graph on the page; they are its first ones.
    entries: usize,
}

impl<'a> Page<'a> {
    fn new(source: &'a Source<'a>) -> Page<'a> {
        let graph = Graph::new(source.tree(), source.options.graph);
        let entries = graph.entries.len().min(source.options.limit.unwrap_or(ROWS));
        Page { source, graph, total: source.view.total, entries }
    }

    fn part(&self, mark: &str, out: &mut dyn Write) -> io::Result<()> {
        match mark {
            "title" => write!(out, "{} — mprof", text(&self.source.programs())),
            "style" => out.write_all(STYLE.as_bytes()),
            "script" => out.write_all(SCRIPT.as_bytes()),
            "overview" => overview::write(self, out),
            "course" => course::write(self, out),
            "peak" => course::peak(self, out),
            "lifetimes" => lifetimes::write(self, out),
            "leaks" => tables::leaks(self, out),
            "about bins" => out.write_all(self.about_bins().as_bytes()),
            "about categories" => out.write_all(self.about_categories().as_bytes()),
            "histogram" => histogram::write(self, out),
            "bins" => tables::bins(self, out),
            "direct" => tables::direct(self, out),
            "graph" => graph::write(self, out),
            "stacks" => stacks::write(self, out),
            "footer" => write!(
                out,
                "Made by mpdisplay {} from {}. The method is that of Zorn and Hilfinger’s mprof (1988).",
                env!("CARGO_PKG_VERSION"),
                super::counted(self.source.parts.len(), "profile")
            ),
            _ => Ok(()),
        }
    }

    /// Whether the program frees its objects, so that what it keeps means something.
    fn is_freed(&self) -> bool {
        self.source.options.half.is_freed()
    }

    fn about_bins(&self) -> &'static str {
        match self.source.options.half {
            Half::Lisp => "Objects by type.",
            Half::C | Half::Collected => {
                "Objects by the size that the program asked for, with the user types of that size."
            }
        }
    }

    fn about_categories(&self) -> &'static str {
        match self.source.options.half {
            Half::Lisp => {
                "Types: c conses, f floating point numbers, s structures, vectors and strings, o others; in percent of \
                 all bytes."
            }
            Half::Collected => {
                "Sizes: s up to 32 bytes, m up to 256, l up to 2048, x larger; in percent of all bytes."
            }
            Half::C => {
                "Sizes: s up to 32 bytes, m up to 256, l up to 2048, x larger; in percent of all bytes, and of all kept \
                 bytes."
            }
        }
    }

    /// Rows of a table at most.
    fn limit(&self) -> usize {
        self.source.options.limit.unwrap_or(ROWS)
    }

    /// The index of a function's entry, if it is on the page.
    fn entry_of(&self, function: u32) -> Option<u32> {
        self.graph.index_of(function).filter(|&index| (index as usize) < self.entries)
    }

    /// A name that leads to the function's entry.
    fn link(&self, function: u32, name: &str) -> String {
        match self.entry_of(function) {
            Some(index) => format!("<a href=\"#g{index}\">{}</a>", text(name)),
            None => text(name).to_string(),
        }
    }
}

/// A path whose functions lead to their entries; its chain ends in `node`.
fn linked_path(page: &Page<'_>, path: &Path, node: u32) -> String {
    let nodes = &page.source.tree().nodes;
    let outwards = std::iter::successors(Some(node), |&node| nodes[node as usize].parent);
    let mut functions: Vec<u32> =
        outwards.take(path.callers.len()).map(|node| nodes[node as usize].function).collect();
    functions.reverse();
    tables::path(page, path, &functions)
}

/// A cell with a number; `label` is what narrow pages say of it.
fn cell(value: u64, label: &str, class: &str) -> String {
    let zero = if value == 0 { " z" } else { "" };
    format!("<td class=\"n{class}{zero}\" data-l=\"{label}\">{}</td>", number::grouped(value))
}

/// A cell with a number and a bar of its share.
fn bar(value: u64, whole: u64, label: &str, class: &str) -> String {
    if value == 0 {
        return cell(value, label, class);
    }
    let percent = percent(value, whole);
    format!(
        "<td class=\"n b{class}\" data-l=\"{label}\" style=\"--p:{percent}\">{}</td>",
        number::grouped(value)
    )
}

/// A share in percent with one decimal.
fn percent(value: u64, whole: u64) -> String {
    crate::report::number::one_decimal(value, whole)
}

/// What was left out of a table.
fn left_out(count: usize, one: &str, rest: &str, out: &mut dyn Write) -> io::Result<()> {
    if count == 0 {
        return Ok(());
    }
    writeln!(out, "<p class=\"note\">Left out: {}, {rest}.</p>", super::counted(count, one))
}

/// A usage as a note says it.
fn sum(page: &Page<'_>, usage: &Usage) -> String {
    let kept = match page.is_freed() {
        true => format!(", {} of these kept", number::grouped(usage.kept_bytes())),
        false => String::new(),
    };
    let counted = |count: u64, one: &str| {
        let more = if count == 1 { "" } else { "s" };
        format!("{} {one}{more}", number::grouped(count))
    };
    format!("{} and {}{kept}", counted(usage.allocs, "object"), counted(usage.bytes, "byte"))
}
