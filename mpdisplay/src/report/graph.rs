//! Draws the call graph (paper, figure 5).

use super::asked::Asked;
use super::fold::fold_name;
use super::layout::{breakdown, breakdown_columns, column, digits, heading, line, no_breakdown, rule};
use super::number::{Shown, counted, graph_bracket, one_decimal, self_bracket};
use super::options::Options;
use super::rows::{Rows, rank};
use super::style::Style;
use crate::analysis::graph::{Entry, Graph, Line, Lines, Subject};
use crate::analysis::tally::{Tally, Usage};
use crate::analysis::tree::Tree;
use std::io::{self, Write};

pub(super) fn write<N: Shown>(
    tree: &Tree<N>,
    graph: &Graph<N>,
    total: &Usage<N>,
    asked: &Asked,
    options: &Options,
    out: &mut impl Write,
) -> io::Result<()> {
    heading(out, options.styles, "Allocation call graph")?;
    // What functions call upon each other's account adds up to nothing, so their own allocations are summed.
    let own = |(_, entry): &(u32, &Entry<N>)| match entry.subject {
        Subject::Function(_) => entry.own.usage,
        Subject::Cycle(_) => Default::default(),
    };
    let entries = (0..).zip(&graph.entries);
    let mut rows = Rows::select(entries, options, total, |(_, entry)| entry.through, own);
    rows.keep(|(_, entry)| asked.subject(graph, entry.subject), own);
    let drawing = Drawing { tree, graph, total, options, widths: Widths::new(graph, &rows.shown) };
    if options.order.is_some() {
        rows.shown.sort_by_cached_key(|(index, entry)| {
            (rank(options.order, &entry.through, N::default()), drawing.name(entry.subject), *index)
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
    fn new<N: Shown>(graph: &Graph<N>, shown: &[(u32, &Entry<N>)]) -> Self {
        let (mut bytes, mut called, mut of) = (9, 8, 9);
        for (_, entry) in shown {
            bytes = column(bytes, [entry.total.usage.bytes, entry.ancestors.all.usage.bytes]);
            bytes = column(bytes, [entry.descendents.all.usage.bytes, entry.own.usage.bytes]);
            called = column(called, [entry.called]);
            of = of.max(entry.recurring.text().len() + 3);
            for line in entry.ancestors.lines.iter().chain(&entry.descendents.lines) {
                bytes = column(bytes, [line.tally.usage.bytes]);
                called = column(called, [line.tally.usage.allocs]);
                of = of.max(line.of_allocs.text().len() + 3);
            }
        }
        let last = graph.entries.len().saturating_sub(1) as u64;
        Widths { index: (digits(last) + 2).max(5), bytes, called, total: of }
    }
}

/// Columns of a share in brackets, without sign.
const BRACKET: usize = 5;

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

struct Drawing<'a, N> {
    tree: &'a Tree<N>,
    graph: &'a Graph<N>,
    total: &'a Usage<N>,
    options: &'a Options,
    widths: Widths,
}

impl<N: Shown> Drawing<'_, N> {
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
        let (bracket, breakdown) = (BRACKET + N::SIGN, breakdown_columns::<N>());
        [
            format!("{:<index$}{:>SHARE$}{:>bytes$} ", fields.index, fields.share, fields.bytes),
            format!("{:<bracket$} |{:<breakdown$} |", fields.bracket, fields.sizes),
            format!("{:<breakdown$} |{:>called$}", fields.fractions, fields.called),
            format!("{:<total$}{}", fields.total, fields.name),
        ]
        .concat()
    }

    /// Ends the titles or an entry.
    fn rule(&self, out: &mut impl Write) -> io::Result<()> {
        let Widths { index, bytes, called, .. } = self.widths;
        let breakdown = breakdown_columns::<N>();
        let sizes = index + SHARE + bytes + 1 + BRACKET + N::SIGN + 2;
        let fractions = sizes + breakdown + 2;
        let length = fractions + breakdown + 2 + called;
        line(out, "")?;
        line(
            out,
            &self
                .options
                .styles
                .paint(Style::Faint, &rule::<N>(0, length, &[sizes, fractions], self.options.half)),
        )
    }

    /// The name of a function or cycle, without index.
    fn name(&self, subject: Subject) -> String {
        match subject {
            Subject::Cycle(cycle) => format!("<cycle {}>", cycle + 1),
            Subject::Function(function) => {
                let name = &self.tree.functions[function].shown;
                let name = fold_name(name, self.used(), &self.options.page);
                match self.graph.cycle_of(function) {
                    Some(cycle) => format!("{name} <cycle {}>", cycle + 1),
                    None => name,
                }
            }
        }
    }

    /// Columns that a name does not have: those before it, its indent and its index.
    fn used(&self) -> usize {
        self.line(&Fields::default()).len() + 4 + 1 + self.widths.index
    }

    /// The name that an entry is about.
    fn subject(&self, name: &str) -> String {
        self.options.styles.paint(Style::Subject, name)
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
    fn entry(&self, index: u32, entry: &Entry<N>, out: &mut impl Write) -> io::Result<()> {
        line(out, "")?;
        let summable = |lines: &Lines<N>| lines.lines.iter().filter(|line| !line.within_cycle).count();
        if summable(&entry.ancestors) > 1 {
            self.all(&entry.ancestors.all, out)?;
        }
        self.lines(&entry.ancestors, &entry.through, out)?;
        let own = &entry.own;
        let recurring = match entry.recurring.is_some() {
            // A change has a sign of its own.
            true if N::SIGN > 0 => format!("/{}", entry.recurring.text()),
            true => format!("+{}", entry.recurring.text()),
            false => String::new(),
        };
        let fields = Fields {
            index: format!("[{index}]"),
            share: &one_decimal(entry.total.usage.bytes, self.total.bytes),
            bytes: own.usage.bytes.text(),
            bracket: self_bracket(own.usage.bytes, entry.total.usage.bytes),
            sizes: breakdown(&own.bytes, own.usage.bytes, self.options.marks),
            fractions: long_rule::<N>(),
            called: entry.called.text(),
            total: recurring,
            name: self.subject(&format!("{} [{index}]", self.name(entry.subject))),
        };
        line(out, &self.line(&fields))?;
        self.lines(&entry.descendents, &entry.through, out)?;
        if summable(&entry.descendents) > 1 {
            self.all(&entry.descendents.all, out)?;
        }
        self.rule(out)
    }

    /// The sum of ancestors or descendents.
    fn all(&self, all: &Tally<N>, out: &mut impl Write) -> io::Result<()> {
        let fields = Fields {
            share: "all",
            bytes: all.usage.bytes.text(),
            sizes: breakdown(&all.bytes, all.usage.bytes, self.options.marks),
            ..Fields::default()
        };
        line(out, &self.line(&fields))
    }

    /// Ancestors or descendents of an entry; `whole` is what was allocated on chains that it is on.
    fn lines(&self, lines: &Lines<N>, whole: &Usage<N>, out: &mut impl Write) -> io::Result<()> {
        let shows =
            |line: &&Line<N>| line.within_cycle || self.options.detail.shows(&line.tally.usage, whole);
        let (mut shown, mut hidden): (Vec<&Line<N>>, Vec<&Line<N>>) = lines.lines.iter().partition(shows);
        if hidden.len() == 1 {
            // It takes no more room than the line that would stand for it.
            (shown, hidden) = (lines.lines.iter().collect(), Vec::new());
        }
        for other in shown {
            let mut fields = self.call(&other.tally, lines);
            if other.within_cycle {
                fields.bytes = "*".into();
                fields.bracket.clear();
                fields.sizes = no_breakdown::<N>();
                fields.fractions = no_breakdown::<N>();
            }
            fields.total = format!("/{}", other.of_allocs.text());
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
    fn call(&self, tally: &Tally<N>, lines: &Lines<N>) -> Fields<'static> {
        let marks = self.options.marks;
        let usage = &tally.usage;
        Fields {
            bytes: usage.bytes.text(),
            bracket: graph_bracket(usage.bytes, lines.whole),
            sizes: breakdown(&tally.bytes, usage.bytes, marks),
            fractions: breakdown(&tally.bytes, lines.all.usage.bytes, marks),
            called: usage.allocs.text(),
            ..Fields::default()
        }
    }

    /// A cycle as a whole: its members with what each allocated itself.
    fn members(&self, index: u32, entry: &Entry<N>, cycle: u32, out: &mut impl Write) -> io::Result<()> {
        line(out, "")?;
        let marks = self.options.marks;
        let whole = entry.own.usage.bytes;
        let fields = Fields {
            index: format!("[{index}]"),
            share: &one_decimal(entry.total.usage.bytes, self.total.bytes),
            bytes: whole.text(),
            bracket: self_bracket(whole, entry.total.usage.bytes),
            sizes: breakdown(&entry.own.bytes, whole, marks),
            fractions: long_rule::<N>(),
            name: self.subject(&format!("{} as a whole [{index}]", self.name(entry.subject))),
            ..Fields::default()
        };
        line(out, &self.line(&fields))?;
        let members = &self.graph.cycles[cycle as usize].members;
        let shows = |&&(member, _): &&(u32, Tally<N>)| {
            let index = self.graph.index_of(member);
            let through = index.map(|index| self.graph.entries[index as usize].through);
            through.is_some_and(|through| self.options.detail.shows(&through, &entry.through))
        };
        let (shown, hidden): (Vec<_>, Vec<_>) = members.iter().partition(shows);
        for &(member, own) in shown {
            let fields = Fields {
                bytes: own.usage.bytes.text(),
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
                bytes: rest.usage.bytes.text(),
                bracket: self_bracket(rest.usage.bytes, whole),
                name: self.left_out(hidden.len()),
                ..Fields::default()
            };
            line(out, &self.line(&fields))?;
        }
        self.rule(out)
    }
}

/// The rule in the field of fractions that marks the line of an entry's own.
fn long_rule<N: Shown>() -> String {
    format!(" {}", "-".repeat(breakdown_columns::<N>() - 1))
}
