//! The four tables.

use super::{UsageNumbers, list, rows};
use crate::analysis::bins::BinRow;
use crate::analysis::graph::{Entry, Graph, GraphKind, Line, Subject};
use crate::analysis::half::Half;
use crate::analysis::leaks::{Beginning, SuppressedLeaks};
use crate::analysis::tally::{CATEGORIES, Tally};
use crate::analysis::tree::Tree;
use crate::analysis::types::TypeRow;
use crate::export::Source;
use crate::suppress::Label;
use mprof_format::model::LAST_BIN;
use serde::ser::{Serialize, SerializeMap, Serializer};
use std::cell::RefCell;

/// Those of the tables that are asked for.
pub(super) struct Tables<'a> {
    pub(super) source: &'a Source<'a>,
    /// What one must know of them, once they are written.
    pub(super) notes: &'a RefCell<Vec<String>>,
}

impl Serialize for Tables<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (tables, limit) = (self.source.options.tables, rows::limit(self.source));
        let half = self.source.options.half;
        let mut map = serializer.serialize_map(None)?;
        if tables.leaks {
            let (rows, notes) = rows::leaks(self.source);
            self.notes.borrow_mut().extend(notes);
            map.serialize_entry("leaks", &list(|| rows.iter().take(limit).map(Leak::new)))?;
            let suppressed = &self.source.leaks.suppressed;
            map.serialize_entry("suppressed", &list(|| suppressed.iter().map(SuppressedLeak::new)))?;
        }
        if tables.bins {
            let bins = rows::bins(self.source);
            let rows = bins
                .as_ref()
                .map(|bins| list(|| bins.rows.iter().take(limit).chain([&bins.larger]).map(Bin::new)));
            map.serialize_entry("bins", &rows)?;
            if half == Half::Lisp {
                let types = rows::types(self.source);
                let types = types.as_ref();
                let rows = types.map(|types| list(|| types.iter().take(limit).map(Type::new)));
                map.serialize_entry("types", &rows)?;
            }
        }
        if tables.direct {
            let direct = rows::direct(self.source);
            map.serialize_entry(
                "direct",
                &list(|| direct.rows.iter().take(limit).map(|row| Direct::new(row, half))),
            )?;
        }
        if tables.graph {
            map.serialize_entry("graph", &GraphTable { source: self.source })?;
        }
        map.end()
    }
}

#[derive(serde::Serialize)]
struct Leak<'a> {
    #[serde(flatten)]
    usage: UsageNumbers,
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'static str>,
    begins: &'static str,
    path: &'a [String],
}

impl<'a> Leak<'a> {
    fn new(row: &'a rows::LeakRow) -> Self {
        let begins = match row.path.beginning {
            Beginning::Start => "start",
            Beginning::Cut => "cut",
            Beginning::Unknown => "unknown",
        };
        Leak { usage: UsageNumbers::from(&row.usage), kind: row.kind, begins, path: &row.path.callers }
    }
}

/// What is no row of the leaks, and why.
#[derive(serde::Serialize)]
struct SuppressedLeak<'a> {
    suppression: &'a str,
    origin: String,
    #[serde(flatten)]
    usage: UsageNumbers,
}

impl<'a> SuppressedLeak<'a> {
    fn new(hidden: &'a SuppressedLeaks) -> Self {
        let Label { name, origin } = &hidden.label;
        let usage = UsageNumbers::from(&hidden.usage);
        SuppressedLeak { suppression: name, origin: origin.to_string(), usage }
    }
}

#[derive(serde::Serialize)]
struct Bin<'a> {
    size_from: u64,
    size_to: Option<u64>,
    #[serde(flatten)]
    usage: UsageNumbers,
    types: &'a [String],
}

impl<'a> Bin<'a> {
    fn new(row: &'a BinRow) -> Self {
        let size_from = row.size.unwrap_or(LAST_BIN + 1);
        Bin { size_from, size_to: row.size, usage: UsageNumbers::from(&row.usage), types: &row.types }
    }
}

/// A type of objects, where these are known in place of sizes.
#[derive(serde::Serialize)]
struct Type<'a> {
    #[serde(rename = "type")]
    name: &'a str,
    category: char,
    allocs: u64,
    bytes: u64,
}

impl<'a> Type<'a> {
    fn new(row: &'a TypeRow) -> Self {
        let TypeRow { column, name, usage } = row;
        Type { name, category: Half::Lisp.letter(*column), allocs: usage.allocs, bytes: usage.bytes }
    }
}

/// Bytes by category, under the letters of the half's.
struct Categories {
    half: Half,
    bytes: [u64; CATEGORIES],
}

impl Serialize for Categories {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.half.letters().map(char::from).into_iter().zip(self.bytes))
    }
}

#[derive(serde::Serialize)]
struct Direct {
    function: u32,
    #[serde(flatten)]
    own: TallyNumbers,
    kept_bytes_by_category: Categories,
}

impl Direct {
    fn new(row: &crate::analysis::direct::DirectRow, half: Half) -> Self {
        let own = TallyNumbers::new(&row.own, half);
        Direct { function: row.function, own, kept_bytes_by_category: Categories { half, bytes: row.kept } }
    }
}

#[derive(serde::Serialize)]
struct TallyNumbers {
    #[serde(flatten)]
    usage: UsageNumbers,
    bytes_by_category: Categories,
}

impl TallyNumbers {
    fn new(tally: &Tally, half: Half) -> Self {
        let bytes_by_category = Categories { half, bytes: tally.bytes };
        TallyNumbers { usage: UsageNumbers::from(&tally.usage), bytes_by_category }
    }
}

struct GraphTable<'a> {
    source: &'a Source<'a>,
}

impl Serialize for GraphTable<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let graph = Graph::new(self.source.tree(), self.source.options.graph);
        let entries = rows::entries(self.source, &graph);
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("cycles_merged", &(self.source.options.graph == GraphKind::Merged))?;
        let (tree, half) = (self.source.tree(), self.source.options.half);
        let context = Context { tree, graph: &graph, half };
        map.serialize_entry(
            "entries",
            &list(|| {
                entries.iter().take(rows::limit(self.source)).map(|&(index, of)| context.entry(index, of))
            }),
        )?;
        map.end()
    }
}

#[derive(Clone, Copy)]
struct Context<'a> {
    tree: &'a Tree,
    graph: &'a Graph,
    half: Half,
}

#[derive(serde::Serialize)]
struct GraphEntry {
    index: u32,
    name: String,
    /// `None` for a cycle.
    function: Option<u32>,
    /// The cycle that it is or is a member of.
    cycle: Option<u32>,
    total: TallyNumbers,
    own: TallyNumbers,
    through: UsageNumbers,
    called: u64,
    recurring: u64,
    /// Of a cycle.
    #[serde(skip_serializing_if = "Option::is_none")]
    members: Option<Vec<Member>>,
    ancestors: Vec<Call>,
    descendents: Vec<Call>,
}

/// A member of a cycle with what it allocated itself.
#[derive(serde::Serialize)]
struct Member {
    function: u32,
    entry: Option<u32>,
    own: TallyNumbers,
}

/// A call from an ancestor or to a descendent.
#[derive(serde::Serialize)]
struct Call {
    function: u32,
    entry: Option<u32>,
    within_cycle: bool,
    of_allocs: u64,
    #[serde(flatten)]
    over: TallyNumbers,
}

impl Context<'_> {
    fn entry(self, index: u32, entry: &Entry) -> GraphEntry {
        let (function, cycle) = match entry.subject {
            Subject::Function(function) => (Some(function), self.graph.cycle_of(function)),
            Subject::Cycle(cycle) => (None, Some(cycle)),
        };
        let members = match entry.subject {
            Subject::Cycle(cycle) => Some(self.members(cycle)),
            Subject::Function(_) => None,
        };
        GraphEntry {
            index,
            name: self.graph.name(self.tree, entry.subject),
            function,
            cycle: cycle.map(|cycle| cycle + 1),
            total: TallyNumbers::new(&entry.total, self.half),
            own: TallyNumbers::new(&entry.own, self.half),
            through: UsageNumbers::from(&entry.through),
            called: entry.called,
            recurring: entry.recurring,
            members,
            ancestors: entry.ancestors.lines.iter().map(|line| self.call(line)).collect(),
            descendents: entry.descendents.lines.iter().map(|line| self.call(line)).collect(),
        }
    }

    fn members(self, cycle: u32) -> Vec<Member> {
        let members = &self.graph.cycles[cycle as usize].members;
        let member = |(function, own): &(u32, Tally)| Member {
            function: *function,
            entry: self.graph.index_of(*function),
            own: TallyNumbers::new(own, self.half),
        };
        members.iter().map(member).collect()
    }

    fn call(self, line: &Line) -> Call {
        Call {
            function: line.function,
            entry: self.graph.index_of(line.function),
            within_cycle: line.within_cycle,
            of_allocs: line.of_allocs,
            over: TallyNumbers::new(&line.tally, self.half),
        }
    }
}
