//! Draws the call graph (paper, figure 5).

use super::fold::fold_name;
use super::layout::{BREAKDOWN, breakdown, column, digits, heading, line, no_breakdown, rule};
use super::number::{counted, graph_bracket, one_decimal, self_bracket};
use super::options::Options;
use super::rows::{Rows, rank};
use crate::analysis::graph::{Entry, Graph, Line, Lines, Subject};
use crate::analysis::tally::{Tally, Usage};
use crate::analysis::tree::Tree;
use std::io::{self, Write};

pub(super) fn write(
    tree: &Tree,
    graph: &Graph,
    total: &Tally,
    options: &Options,
    out: &mut impl Write,
) -> io::Result<()> {
    heading(out, "Allocation call graph")?;
    // What functions call upon each other's account adds up to nothing, so their own allocations are summed.
    let own = |(_, entry): &(u32, &Entry)| match entry.subject {
        Subject::Function(_) => entry.own.usage,
        Subject::Cycle(_) => Default::default(),
    };
    let entries = (0..).zip(&graph.entries);
    let mut rows = Rows::select(entries, options, &total.usage, |(_, entry)| entry.through, own);
    let drawing = Drawing { tree, graph, total, options, widths: Widths::new(graph, &rows.shown) };
    if options.order.is_some() {
        rows.shown.sort_by_cached_key(|(index, entry)| {
            (rank(options.order, &entry.through, 0), drawing.name(entry.subject), *index)
        });
    }
    rows.limit(options, own);
    drawing.titles(out)?;
    for &(index, entry) in &rows.shown {
        if let Subject::Cycle(cycle) = entry.subject {
            drawing.members(index, entry, cycle, out)?;
        }
        drawing.entry(index, entry, out)?;
    }
    rows.note(out, options, "function", |rest| {
        let (objects, bytes) = (counted(rest.allocs, "object"), counted(rest.bytes, "byte"));
        format!("{objects} and {bytes} allocated directly")
    })
}

/// Columns whose width depends on the numbers in them.
struct Widths {
    index: usize,
    bytes: usize,
    called: usize,
    total: usize,
}

/// Columns of the first percentage.
const SHARE: usize = 7;

impl Widths {
    fn new(graph: &Graph, shown: &[(u32, &Entry)]) -> Self {
        let lines = |entry: &'_ Entry| -> Vec<Line> {
            entry.ancestors.lines.iter().chain(&entry.descendents.lines).copied().collect()
        };
        let (mut bytes, mut called, mut of) = (0, 0, 0);
        for (_, entry) in shown {
            bytes = bytes.max(entry.total.usage.bytes).max(entry.ancestors.all.usage.bytes);
            called = called.max(entry.called);
            of = of.max(entry.recurring);
            for line in lines(entry) {
                bytes = bytes.max(line.tally.usage.bytes);
                called = called.max(line.tally.usage.allocs);
                of = of.max(line.of_allocs);
            }
        }
        let last = graph.entries.len().saturating_sub(1) as u64;
        Widths {
            index: (digits(last) + 2).max(5),
            bytes: column(9, bytes),
            called: column(8, called),
            total: (digits(of) + 3).max(9),
        }
    }
}

/// One line of the table, field by field.
#[derive(Default)]
struct Fields<'a> {
    index: String,
    share: &'a str,
    bytes: String,
    bracket: String,
    sizes: String,
    fractions: String,
    called: String,
    total: String,
    name: String,
}

struct Drawing<'a> {
    tree: &'a Tree,
    graph: &'a Graph,
    total: &'a Tally,
    options: &'a Options,
    widths: Widths,
}

impl Drawing<'_> {
    fn titles(&self, out: &mut impl Write) -> io::Result<()> {
        let rows = [
            ["", "self", "", "", "     /ances", "     /ances", "called", "/total", "    ancestors"],
            ["index", "+  ", "self", "(%)", " size-func", " frac", "called", "/recur", "name [index]"],
            ["", "desc", "", "", "     \\desc", "     \\desc", "called", "/total", "    descendents"],
        ];
        for [index, share, bytes, bracket, sizes, fractions, called, total, name] in rows {
            let [index, bytes, bracket, sizes, fractions, called, total, name] =
                [index, bytes, bracket, sizes, fractions, called, total, name].map(String::from);
            let fields = Fields { index, share, bytes, bracket, sizes, fractions, called, total, name };
            line(out, &self.line(&fields))?;
        }
        self.rule(out)
    }

    fn line(&self, fields: &Fields<'_>) -> String {
        let Widths { index, bytes, called, total } = self.widths;
        [
            format!("{:<index$}{:>SHARE$}{:>bytes$} ", fields.index, fields.share, fields.bytes),
            format!("{:<5} |{:<BREAKDOWN$} |", fields.bracket, fields.sizes),
            format!("{:<BREAKDOWN$} |{:>called$}", fields.fractions, fields.called),
            format!("{:<total$}{}", fields.total, fields.name),
        ]
        .concat()
    }

    /// Ends the titles or an entry.
    fn rule(&self, out: &mut impl Write) -> io::Result<()> {
        let Widths { index, bytes, called, .. } = self.widths;
        let sizes = index + SHARE + bytes + 1 + 5 + 2;
        let fractions = sizes + BREAKDOWN + 2;
        let length = fractions + BREAKDOWN + 2 + called;
        line(out, "")?;
        line(out, &rule(0, length, [sizes, fractions]))
    }

    /// The name of a function or cycle, without index.
    fn name(&self, subject: Subject) -> String {
        match subject {
            Subject::Cycle(cycle) => format!("<cycle {}>", cycle + 1),
            Subject::Function(function) => {
                let name = &self.tree.functions[function].shown;
                let name = if self.options.page.fold { fold_name(name, self.room()) } else { name.clone() };
                match self.graph.cycle_of(function) {
                    Some(cycle) => format!("{name} <cycle {}>", cycle + 1),
                    None => name,
                }
            }
        }
    }

    /// Columns for a name without its indent and index.
    fn room(&self) -> usize {
        let used = self.line(&Fields::default()).len() + 4 + 1 + self.widths.index;
        self.options.page.room(used)
    }

    /// A caller's, callee's or member's name, with its index.
    fn indented(&self, function: u32) -> String {
        let name = self.name(Subject::Function(function));
        match self.graph.index_of(function) {
            Some(index) => format!("    {name} [{index}]"),
            None => format!("    {name}"),
        }
    }

    /// The name of a line that stands for others.
    fn left_out(&self, count: usize) -> String {
        format!("    {count} left out, each under {}", self.options.detail.limit().unwrap_or_default())
    }

    /// An entry: ancestors, the line of the function itself, descendents.
    fn entry(&self, index: u32, entry: &Entry, out: &mut impl Write) -> io::Result<()> {
        line(out, "")?;
        let summable = |lines: &Lines| lines.lines.iter().filter(|line| !line.within_cycle).count();
        if summable(&entry.ancestors) > 1 {
            self.all(&entry.ancestors.all, out)?;
        }
        self.lines(&entry.ancestors, &entry.through, out)?;
        let own = &entry.own;
        let recurring = if entry.recurring > 0 { format!("+{}", entry.recurring) } else { String::new() };
        let fields = Fields {
            index: format!("[{index}]"),
            share: &one_decimal(entry.total.usage.bytes, self.total.usage.bytes),
            bytes: own.usage.bytes.to_string(),
            bracket: self_bracket(own.usage.bytes, entry.total.usage.bytes),
            sizes: breakdown(&own.bytes, own.usage.bytes, self.options.marks),
            fractions: format!(" {}", "-".repeat(BREAKDOWN - 1)),
            called: entry.called.to_string(),
            total: recurring,
            name: format!("{} [{index}]", self.name(entry.subject)),
        };
        line(out, &self.line(&fields))?;
        self.lines(&entry.descendents, &entry.through, out)?;
        if summable(&entry.descendents) > 1 {
            self.all(&entry.descendents.all, out)?;
        }
        self.rule(out)
    }

    /// The sum of ancestors or descendents.
    fn all(&self, all: &Tally, out: &mut impl Write) -> io::Result<()> {
        let fields = Fields {
            share: "all",
            bytes: all.usage.bytes.to_string(),
            sizes: breakdown(&all.bytes, all.usage.bytes, self.options.marks),
            ..Fields::default()
        };
        line(out, &self.line(&fields))
    }

    /// Ancestors or descendents of an entry; `whole` is what was allocated on chains that it is on.
    fn lines(&self, lines: &Lines, whole: &Usage, out: &mut impl Write) -> io::Result<()> {
        let shows = |line: &&Line| line.within_cycle || self.options.detail.shows(&line.tally.usage, whole);
        let (mut shown, mut hidden): (Vec<&Line>, Vec<&Line>) = lines.lines.iter().partition(shows);
        if hidden.len() == 1 {
            // It takes no more room than the line that would stand for it.
            (shown, hidden) = (lines.lines.iter().collect(), Vec::new());
        }
        for other in shown {
            let mut fields = self.call(&other.tally, lines);
            if other.within_cycle {
                fields.bytes = "*".into();
                fields.bracket.clear();
                fields.sizes = no_breakdown();
                fields.fractions = no_breakdown();
            }
            fields.total = format!("/{}", other.of_allocs);
            fields.name = self.indented(other.function);
            line(out, &self.line(&fields))?;
        }
        if hidden.is_empty() {
            return Ok(());
        }
        let mut rest = Tally::default();
        hidden.iter().for_each(|line| rest += line.tally);
        let name = self.left_out(hidden.len());
        line(out, &self.line(&Fields { name, ..self.call(&rest, lines) }))
    }

    /// The numbers of calls over which `tally` was allocated.
    fn call(&self, tally: &Tally, lines: &Lines) -> Fields<'static> {
        let marks = self.options.marks;
        let usage = &tally.usage;
        Fields {
            bytes: usage.bytes.to_string(),
            bracket: graph_bracket(usage.bytes, lines.whole),
            sizes: breakdown(&tally.bytes, usage.bytes, marks),
            fractions: breakdown(&tally.bytes, lines.all.usage.bytes, marks),
            called: usage.allocs.to_string(),
            ..Fields::default()
        }
    }

    /// A cycle as a whole: its members with what each allocated itself.
    fn members(&self, index: u32, entry: &Entry, cycle: u32, out: &mut impl Write) -> io::Result<()> {
        line(out, "")?;
        let marks = self.options.marks;
        let whole = entry.own.usage.bytes;
        let fields = Fields {
            index: format!("[{index}]"),
            share: &one_decimal(entry.total.usage.bytes, self.total.usage.bytes),
            bytes: whole.to_string(),
            bracket: self_bracket(whole, entry.total.usage.bytes),
            sizes: breakdown(&entry.own.bytes, whole, marks),
            fractions: format!(" {}", "-".repeat(BREAKDOWN - 1)),
            name: format!("{} as a whole [{index}]", self.name(entry.subject)),
            ..Fields::default()
        };
        line(out, &self.line(&fields))?;
        let members = &self.graph.cycles[cycle as usize].members;
        let shows = |&&(member, _): &&(u32, Tally)| {
            let index = self.graph.index_of(member);
            let through = index.map(|index| self.graph.entries[index as usize].through);
            through.is_some_and(|through| self.options.detail.shows(&through, &entry.through))
        };
        let (shown, hidden): (Vec<_>, Vec<_>) = members.iter().partition(shows);
        for &(member, own) in shown {
            let fields = Fields {
                bytes: own.usage.bytes.to_string(),
                bracket: self_bracket(own.usage.bytes, whole),
                sizes: breakdown(&own.bytes, own.usage.bytes, marks),
                fractions: breakdown(&own.bytes, whole, marks),
                name: self.indented(member),
                ..Fields::default()
            };
            line(out, &self.line(&fields))?;
        }
        if !hidden.is_empty() {
            let mut rest = Tally::default();
            hidden.iter().for_each(|(_, own)| rest += *own);
            let fields = Fields {
                bytes: rest.usage.bytes.to_string(),
                bracket: self_bracket(rest.usage.bytes, whole),
                name: self.left_out(hidden.len()),
                ..Fields::default()
            };
            line(out, &self.line(&fields))?;
        }
        self.rule(out)
    }
}
