//! The call graph in graphviz's language: `dot -Tsvg`. Each function with what was allocated in it and below, and in
//! it alone; each call with what was allocated over it. Nothing is merged: whole call chains are known, so cycles can
//! be drawn as they are, each allocation counted once.

use super::{Source, number};
use crate::analysis::graph::{Graph, GraphKind, Subject};
use crate::analysis::share::Detail;
use crate::analysis::tally::Usage;
use crate::report::fold::fold;
use std::cmp::Reverse;
use std::fmt::Write as _;
use std::io::{self, Write};

/// Functions drawn, where no other limit is asked for: more than that nobody can read, and graphviz takes long.
const FUNCTIONS: usize = 120;
/// Columns of a name in a box.
const COLUMNS: usize = 48;

pub(super) fn write(source: &Source<'_>, out: &mut dyn Write) -> io::Result<Vec<String>> {
    let graph = Graph::new(source.tree(), GraphKind::Exact);
    let picture = Picture::new(source, &graph);
    let title = format!(
        "{}: {}, {} {}",
        source.programs(),
        source.measure.title().to_lowercase(),
        number::grouped(picture.whole),
        source.measure.unit()
    );
    writeln!(out, "digraph mprof {{")?;
    writeln!(out, "  graph [label={}, labelloc=t, fontname=\"Helvetica\", fontsize=16];", quoted(&title))?;
    writeln!(
        out,
        "  node [shape=box, style=\"filled,rounded\", fontname=\"Helvetica\", fontsize=11, margin=\"0.12,0.06\"];"
    )?;
    writeln!(out, "  edge [fontname=\"Helvetica\", fontsize=9, color=\"#55606b\", fontcolor=\"#333333\"];")?;
    for &function in &picture.shown {
        picture.node(function, out)?;
    }
    for &function in &picture.shown {
        picture.edges(function, out)?;
    }
    writeln!(out, "}}")?;
    let left_out = picture.left_out;
    let note = || format!("{} are not drawn: small, or over the limit", super::counted(left_out, "function"));
    Ok(if left_out > 0 { vec![note()] } else { Vec::new() })
}

struct Picture<'a> {
    source: &'a Source<'a>,
    graph: &'a Graph,
    /// All that was measured.
    whole: u64,
    /// Functions drawn, by falling measure.
    shown: Vec<u32>,
    /// By function: whether it is drawn.
    is_shown: Vec<bool>,
    left_out: usize,
}

impl<'a> Picture<'a> {
    fn new(source: &'a Source<'a>, graph: &'a Graph) -> Self {
        let measure = source.measure;
        let whole = measure.of(&source.view.total);
        let mut functions: Vec<(u64, u32)> = graph
            .entries
            .iter()
            .filter_map(|entry| match entry.subject {
                Subject::Function(function) => Some((measure.of(&entry.total.usage), function)),
                Subject::Cycle(_) => None,
            })
            .filter(|&(value, _)| value > 0)
            .collect();
        let all = functions.len();
        functions.retain(|&(value, _)| reaches(source.options.detail, value, whole));
        functions.sort_by_key(|&(value, function)| {
            (Reverse(value), &source.tree().functions[function].shown, function)
        });
        functions.truncate(source.options.limit.unwrap_or(FUNCTIONS));
        let shown: Vec<u32> = functions.into_iter().map(|(_, function)| function).collect();
        let mut is_shown = vec![false; source.tree().functions.len()];
        shown.iter().for_each(|&function| is_shown[function as usize] = true);
        let left_out = all - shown.len();
        Picture { source, graph, whole, shown, is_shown, left_out }
    }

    fn value(&self, usage: &Usage) -> u64 {
        self.source.measure.of(usage)
    }

    /// A share of all, from 0 to 1.
    fn share(&self, value: u64) -> f64 {
        if self.whole == 0 { 0.0 } else { value as f64 / self.whole as f64 }
    }

    /// A number with its share of all.
    fn number(&self, value: u64) -> String {
        let text = match self.source.measure.unit() {
            "bytes" => number::bytes(value),
            _ => number::short(value),
        };
        format!("{text} ({:.1}%)", 100.0 * self.share(value))
    }

    fn node(&self, function: u32, out: &mut dyn Write) -> io::Result<()> {
        let Some(index) = self.graph.index_of(function) else { return Ok(()) };
        let entry = &self.graph.entries[index as usize];
        let (total, own) = (self.value(&entry.total.usage), self.value(&entry.own.usage));
        let name = &self.source.tree().functions[function].shown;
        let mut label = fold(name, COLUMNS);
        label += &format!("\n{}", self.number(total));
        if own > 0 && own < total {
            label += &format!("\nitself {}", self.number(own));
        }
        let (fill, line) = colours(self.share(total), self.share(own));
        writeln!(
            out,
            "  n{index} [label={}, tooltip={}, fillcolor=\"{fill}\", color=\"{line}\", fontsize={:.0}];",
            quoted(&label),
            quoted(name),
            10.0 + 10.0 * self.share(own).sqrt()
        )
    }

    fn edges(&self, function: u32, out: &mut dyn Write) -> io::Result<()> {
        let Some(index) = self.graph.index_of(function) else { return Ok(()) };
        let entry = &self.graph.entries[index as usize];
        for line in entry.descendents.lines.iter().filter(|line| self.is_shown[line.function as usize]) {
            let value = self.value(&line.tally.usage);
            let Some(to) = self.graph.index_of(line.function).filter(|_| value > 0) else { continue };
            let share = self.share(value);
            let (weight, width) = (1.0 + 99.0 * share, 0.6 + 4.4 * share);
            let label = quoted(&self.number(value));
            writeln!(out, "  n{index} -> n{to} [label={label}, weight={weight:.0}, penwidth={width:.1}];")?;
        }
        if entry.recurring > 0 {
            writeln!(out, "  n{index} -> n{index} [style=dashed];")?;
        }
        Ok(())
    }
}

/// Whether a value is worth drawing.
fn reaches(detail: Detail, value: u64, whole: u64) -> bool {
    let usage = |bytes| Usage::new(0, bytes, 0, 0);
    detail.shows(&usage(value), &usage(whole))
}

/// A box's colours: the redder, the more the function allocated itself; the darker, the more below it.
fn colours(total: f64, own: f64) -> (String, String) {
    let hue = 0.13 - 0.13 * own.sqrt();
    let saturation = 0.06 + 0.54 * own.sqrt().max(0.4 * total);
    let fill = format!("{hue:.3} {saturation:.3} 1.000");
    (fill, format!("{hue:.3} {:.3} 0.650", (saturation + 0.2).min(1.0)))
}

/// A string as graphviz reads it: entities and escapes are none.
fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for character in text.chars() {
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '&' => quoted.push_str("&amp;"),
            // What XML cannot hold, for pictures in SVG.
            '\u{fffe}' | '\u{ffff}' => quoted.push('\u{fffd}'),
            character if character.is_control() => {
                // Writing to a string cannot fail.
                let _ = write!(quoted, "\\\\u{{{:x}}}", u32::from(character));
            }
            character => quoted.push(character),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_quoted() {
        assert_eq!(quoted("operator\"\" _km"), r#""operator\"\" _km""#);
        assert_eq!(quoted("a\\N&lt;"), r#""a\\N&amp;lt;""#);
        assert_eq!(quoted("two\nlines"), r#""two\nlines""#);
    }
}
