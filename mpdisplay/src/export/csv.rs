//! One table, or all call chains, as comma-separated values (RFC 4180): a line of titles, then the rows. All of them,
//! with whole numbers only: shares can be computed from them.

use super::{CsvRows, Source, chains, rows};
use crate::analysis::functions::{Function, TRUNCATED};
use crate::analysis::graph::{Entry, Graph, Line, Subject};
use crate::analysis::half::Half;
use crate::analysis::tally::{CATEGORIES, Tally, Usage};
use crate::analysis::tree::{Count, Tree};
use crate::analysis::types::TypeRow;
use crate::report::options::Order;
use crate::report::rows::rank;
use csv::{Terminator, Writer, WriterBuilder};
use mprof_format::model::{Category, LAST_BIN};
use std::io::{self, Write};

type Out<'a> = Writer<&'a mut dyn Write>;

pub(super) fn write(source: &Source<'_>, out: &mut dyn Write) -> io::Result<Vec<String>> {
    let mut csv = WriterBuilder::new().flexible(false).terminator(Terminator::CRLF).from_writer(out);
    let notes = match source.csv_rows {
        CsvRows::Chains => contexts(source, &mut csv)?,
        CsvRows::Leaks => leaks(source, &mut csv)?,
        CsvRows::Bins => bins(source, &mut csv)?,
        CsvRows::Direct => direct(source, &mut csv)?,
        CsvRows::Graph => graph(source, &mut csv)?,
    };
    csv.flush()?;
    Ok(notes)
}

/// A row in the making.
#[derive(Default)]
struct Row(Vec<String>);

impl Row {
    fn text(mut self, text: &str) -> Self {
        self.0.push(text.to_owned());
        self
    }

    fn number(mut self, number: u64) -> Self {
        self.0.push(number.to_string());
        self
    }

    /// A number, nothing where there is none.
    fn maybe(mut self, number: Option<u64>) -> Self {
        self.0.push(number.map(|number| number.to_string()).unwrap_or_default());
        self
    }

    fn numbers(self, numbers: &[u64]) -> Self {
        numbers.iter().fold(self, |row, &number| row.number(number))
    }

    /// The columns of [`USAGE`].
    fn usage(self, usage: &Usage) -> Self {
        self.numbers(&[
            usage.allocs,
            usage.bytes,
            usage.frees,
            usage.freed_bytes,
            usage.kept(),
            usage.kept_bytes(),
        ])
    }

    /// The columns of [`FUNCTION`].
    fn function(self, function: &Function) -> Self {
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        self.text(&function.shown)
            .text(&text(&function.module))
            .text(&text(&function.file))
            .maybe(Some(function.line.into()).filter(|&line| line > 0))
    }

    fn write(self, out: &mut Out<'_>) -> io::Result<()> {
        out.write_record(&self.0).map_err(io::Error::from)
    }
}

/// Titles of a usage.
const USAGE: [&str; 6] = ["allocs", "bytes", "frees", "freed_bytes", "kept_objects", "kept_bytes"];
/// Titles of a function.
const FUNCTION: [&str; 4] = ["function", "module", "file", "line"];

fn titles(groups: &[&[&str]], out: &mut Out<'_>) -> io::Result<()> {
    out.write_record(groups.concat()).map_err(io::Error::from)
}

fn leaks(source: &Source<'_>, out: &mut Out<'_>) -> io::Result<Vec<String>> {
    let classified = source.leaks.classified;
    let kind: &[&str] = if classified { &["kind"] } else { &[] };
    titles(&[&USAGE, kind, &["path"]], out)?;
    let (rows, notes) = rows::leaks(source);
    for row in rows.iter().take(rows::limit(source)) {
        let mut line = Row::default().usage(&row.usage);
        if classified {
            line = line.text(row.kind.unwrap_or_default());
        }
        line.text(&row.path.to_string()).write(out)?;
    }
    Ok(notes)
}

/// The bins; where types are known in place of sizes, these.
fn bins(source: &Source<'_>, out: &mut Out<'_>) -> io::Result<Vec<String>> {
    if let Some(types) = rows::types(source) {
        return self::types(source, &types, out);
    }
    titles(&[&["size_from", "size_to"], &USAGE, &["types"]], out)?;
    let bins = rows::bins(source).unwrap_or_default();
    for row in bins.rows.iter().take(rows::limit(source)).chain([&bins.larger]) {
        let from = row.size.unwrap_or(LAST_BIN + 1);
        let size = Row::default().number(from).maybe(row.size);
        size.usage(&row.usage).text(&row.types.join("; ")).write(out)?;
    }
    Ok(Vec::new())
}

fn types(source: &Source<'_>, types: &[TypeRow], out: &mut Out<'_>) -> io::Result<Vec<String>> {
    titles(&[&["type", "category", "allocs", "bytes"]], out)?;
    for TypeRow { column, name, usage } in types.iter().take(rows::limit(source)) {
        let letter = source.options.half.letter(*column).to_string();
        Row::default().text(name).text(&letter).numbers(&[usage.allocs, usage.bytes]).write(out)?;
    }
    Ok(Vec::new())
}

/// Titles of bytes by category.
fn by_category(title: &str, half: Half) -> [String; CATEGORIES] {
    half.letters().map(|letter| format!("{title}_{}", char::from(letter)))
}

fn direct(source: &Source<'_>, out: &mut Out<'_>) -> io::Result<Vec<String>> {
    let [bytes, kept] = ["bytes", "kept_bytes"].map(|title| by_category(title, source.options.half));
    let [bytes, kept] = [&bytes, &kept].map(|titles| titles.each_ref().map(String::as_str));
    titles(&[&FUNCTION, &USAGE, &bytes, &kept], out)?;
    for row in rows::direct(source).rows.into_iter().take(rows::limit(source)) {
        let function = Row::default().function(&source.tree().functions[row.function]);
        function.usage(&row.own.usage).numbers(&row.own.bytes).numbers(&row.kept).write(out)?;
    }
    Ok(Vec::new())
}

/// A row for each line of the call graph. The columns say of an entry what was allocated in it and below; of an
/// ancestor and a descendent what was allocated over the call; of a cycle's member what it allocated itself.
fn graph(source: &Source<'_>, out: &mut Out<'_>) -> io::Result<Vec<String>> {
    let graph = Graph::new(source.tree(), source.options.graph);
    let bytes = by_category("bytes", source.options.half);
    let bytes = bytes.each_ref().map(String::as_str);
    let more = ["own_allocs", "own_bytes", "called", "recurring", "of_allocs", "within_cycle"];
    titles(&[&["entry", "relation", "index", "name"], &USAGE, &bytes, &more], out)?;
    for (index, entry) in rows::entries(source, &graph).into_iter().take(rows::limit(source)) {
        let rows = GraphRows { tree: source.tree(), graph: &graph, index, entry };
        rows.write(out)?;
    }
    Ok(Vec::new())
}

struct GraphRows<'a> {
    tree: &'a Tree,
    graph: &'a Graph,
    index: u32,
    entry: &'a Entry,
}

impl GraphRows<'_> {
    fn write(&self, out: &mut Out<'_>) -> io::Result<()> {
        let entry = self.entry;
        let members = match entry.subject {
            Subject::Cycle(cycle) => &self.graph.cycles[cycle as usize].members[..],
            Subject::Function(_) => &[],
        };
        for (member, own) in members {
            let index = self.graph.index_of(*member);
            let row = self.row("member", index, Subject::Function(*member), own);
            row.numbers(&[own.usage.allocs, own.usage.bytes]).maybes(4).write(out)?;
        }
        for line in &entry.ancestors.lines {
            self.call("ancestor", line, out)?;
        }
        let own = &entry.own.usage;
        let row = self.row("entry", Some(self.index), entry.subject, &entry.total);
        row.numbers(&[own.allocs, own.bytes, entry.called, entry.recurring]).maybes(2).write(out)?;
        for line in &entry.descendents.lines {
            self.call("descendent", line, out)?;
        }
        Ok(())
    }

    fn call(&self, relation: &str, line: &Line, out: &mut Out<'_>) -> io::Result<()> {
        let index = self.graph.index_of(line.function);
        let row = self.row(relation, index, Subject::Function(line.function), &line.tally).maybes(4);
        row.number(line.of_allocs).number(line.within_cycle.into()).write(out)
    }

    fn row(&self, relation: &str, index: Option<u32>, subject: Subject, tally: &Tally) -> Row {
        Row::default()
            .number(self.index.into())
            .text(relation)
            .maybe(index.map(u64::from))
            .text(&self.graph.name(self.tree, subject))
            .usage(&tally.usage)
            .numbers(&tally.bytes)
    }
}

impl Row {
    /// So many columns that mean nothing here.
    fn maybes(self, count: usize) -> Self {
        (0..count).fold(self, |row, _| row.maybe(None))
    }
}

/// Functions that the chains of all rows together may have.
const FUNCTIONS: u64 = 1 << 25;

/// A row for each call chain and size category.
fn contexts(source: &Source<'_>, out: &mut Out<'_>) -> io::Result<Vec<String>> {
    let tree = source.tree();
    titles(&[&["category"], &USAGE, &FUNCTION, &["call_file", "call_line", "depth", "chain"]], out)?;
    let lengths = chains::lengths(tree);
    let longest = chains::longest(tree.counts.iter().map(|count| lengths[count.node as usize]), FUNCTIONS);
    for count in counts(source) {
        let node = &tree.nodes[count.node as usize];
        let file = node.site.file.map(|file| tree.files[file as usize].as_str());
        let line = Some(u64::from(node.site.line)).filter(|&line| line > 0);
        let length = lengths[count.node as usize];
        Row::default()
            .text(&category(count.category))
            .usage(&count.usage)
            .function(&tree.functions[node.function])
            .text(file.unwrap_or_default())
            .maybe(line)
            .number(length.into())
            .text(&chain(source, count.node, longest.unwrap_or(u32::MAX)))
            .write(out)?;
    }
    Ok(chains::note(longest))
}

/// What was allocated, in the order asked for; by falling bytes without one. Equal ones stay in the tree's order.
fn counts(source: &Source<'_>) -> Vec<Count> {
    let mut counts = source.tree().counts.clone();
    let name = |count: &Count| {
        let function = source.tree().nodes[count.node as usize].function;
        source.tree().functions[function].shown.as_str()
    };
    if source.options.order == Some(Order::Name) {
        counts.sort_by(|a, b| name(a).cmp(name(b)));
    } else {
        counts.sort_by(|a, b| {
            let rank = |count: &Count| rank(source.options.order, &count.usage, count.usage.bytes);
            rank(a).cmp(&rank(b)).then_with(|| name(a).cmp(name(b)))
        });
    }
    counts.truncate(source.options.limit.unwrap_or(usize::MAX));
    counts
}

/// A category's letter.
pub(super) fn category(category: Category) -> String {
    match category {
        Category::Other(number) => number.to_string(),
        known => Half::of(known).letter(usize::from(known.index() % 4)).to_string(),
    }
}

/// The last `longest` functions of a chain, outermost first, with their call sites where that is asked for.
fn chain(source: &Source<'_>, node: u32, longest: u32) -> String {
    let tree = source.tree();
    let mut callers = Vec::new();
    let mut next = Some(node);
    while let Some(id) = next {
        if callers.len() == longest as usize {
            callers.push(TRUNCATED.to_owned());
            break;
        }
        let node = &tree.nodes[id as usize];
        callers.push(source.options.paths.label(tree, node));
        next = node.parent;
    }
    callers.reverse();
    callers.join(" > ")
}
