//! Everything as JSON: `docs/JSON.md` describes it. The version steps when a reader of the one before would go wrong;
//! members may be added without that.
//!
//! Lists are written as they are made: only one entry at a time is in memory.

mod tables;

use super::csv::category;
use super::{Source, rows};
use crate::analysis::functions::FunctionKind;
use crate::analysis::tally::Usage;
use crate::analysis::text::printable;
use mprof_format::model::{Profile, Reason};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Serializer as Json;
use std::cell::RefCell;
use std::io::{self, Write};

/// The name of the format.
const FORMAT: &str = "mprof-json";
/// Its version.
const VERSION: u32 = 1;

pub(super) fn write(source: &Source<'_>, out: &mut dyn Write) -> io::Result<Vec<String>> {
    let notes = RefCell::new(Vec::new());
    let mut json = Json::new(&mut *out);
    Document { source, notes: &notes }.serialize(&mut json).map_err(io::Error::from)?;
    writeln!(out)?;
    Ok(notes.into_inner())
}

/// The whole.
struct Document<'a> {
    source: &'a Source<'a>,
    /// What one must know of the tables, once they are written.
    notes: &'a RefCell<Vec<String>>,
}

impl Serialize for Document<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (source, tree, measure) = (self.source, self.source.tree(), self.source.measure);
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("format", FORMAT)?;
        map.serialize_entry("version", &VERSION)?;
        map.serialize_entry("generator", concat!("mpdisplay ", env!("CARGO_PKG_VERSION")))?;
        map.serialize_entry("measure", measure.name())?;
        map.serialize_entry("half", source.options.half.option())?;
        map.serialize_entry("processes", &list(|| source.profiles().map(Process::new)))?;
        map.serialize_entry("totals", &UsageNumbers::from(&source.view.total))?;
        map.serialize_entry("modules", &list(|| tree.modules.iter().map(Module::new)))?;
        map.serialize_entry("files", &tree.files)?;
        map.serialize_entry("functions", &list(|| tree.functions.iter().map(Function::new)))?;
        map.serialize_entry("tables", &tables::Tables { source: self.source, notes: self.notes })?;
        map.serialize_entry("nodes", &list(|| tree.nodes.iter().map(|node| Node::new(source, node))))?;
        map.serialize_entry("allocations", &list(|| tree.counts.iter().map(Allocation::new)))?;
        map.end()
    }
}

/// A list whose entries are made one at a time.
struct List<F>(F);

fn list<F, I>(entries: F) -> List<F>
where
    F: Fn() -> I,
    I: Iterator,
{
    List(entries)
}

impl<F, I> Serialize for List<F>
where
    F: Fn() -> I,
    I: Iterator,
    I::Item: Serialize,
{
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq((self.0)())
    }
}

/// What was allocated.
#[derive(serde::Serialize)]
struct UsageNumbers {
    allocs: u64,
    bytes: u64,
    frees: u64,
    freed_bytes: u64,
    kept_objects: u64,
    kept_bytes: u64,
}

impl From<&Usage> for UsageNumbers {
    fn from(usage: &Usage) -> Self {
        UsageNumbers {
            allocs: usage.allocs,
            bytes: usage.bytes,
            frees: usage.frees,
            freed_bytes: usage.freed_bytes,
            kept_objects: usage.kept(),
            kept_bytes: usage.kept_bytes(),
        }
    }
}

#[derive(serde::Serialize)]
struct Process {
    pid: u32,
    parent_pid: u32,
    program: String,
    arguments: Vec<String>,
    start_unix_us: u64,
    elapsed_us: u64,
    end: &'static str,
    signal: Option<u32>,
    depth_limit: Option<u32>,
    reentrant_events: u64,
    unrecorded: u64,
    incomplete: bool,
}

impl Process {
    fn new(profile: &Profile) -> Process {
        let process = &profile.process;
        let some = |number: u32| Some(number).filter(|&number| number > 0);
        Process {
            pid: process.pid,
            parent_pid: process.parent_pid,
            program: printable(&process.program),
            arguments: process.arguments.iter().map(|argument| printable(argument)).collect(),
            start_unix_us: process.start_unix_ns / 1000,
            elapsed_us: process.elapsed_ns / 1000,
            end: end(process.reason),
            signal: some(process.signal),
            depth_limit: some(process.depth_limit),
            reentrant_events: process.reentrant_events,
            unrecorded: process.unrecorded,
            incomplete: profile.incomplete,
        }
    }
}

/// Why a profile was written.
fn end(reason: Reason) -> &'static str {
    match reason {
        Reason::Exit => "exit",
        Reason::ImmediateExit => "_exit",
        Reason::QuickExit => "quick_exit",
        Reason::Exec => "exec",
        Reason::Abort => "abort",
        Reason::Signal => "signal",
        Reason::Snapshot => "snapshot",
        Reason::Autosave => "autosave",
        Reason::Stop => "stop",
        _ => "unknown",
    }
}

#[derive(serde::Serialize)]
struct Module<'a> {
    path: &'a str,
    build_id: String,
}

impl<'a> Module<'a> {
    fn new(module: &'a crate::analysis::code::Module) -> Self {
        Module { path: &module.path, build_id: super::hexadecimal(&module.build_id) }
    }
}

#[derive(serde::Serialize)]
struct Function<'a> {
    name: &'a str,
    shown: &'a str,
    kind: &'static str,
    linkage_name: Option<&'a str>,
    module: Option<&'a str>,
    file: Option<&'a str>,
    line: Option<u32>,
}

impl<'a> Function<'a> {
    fn new(function: &'a crate::analysis::functions::Function) -> Self {
        Function {
            name: &function.name,
            shown: &function.shown,
            kind: match function.kind {
                FunctionKind::Named => "named",
                FunctionKind::Unnamed => "unnamed",
                FunctionKind::Anonymous => "anonymous",
                FunctionKind::Unknown => "unknown",
                FunctionKind::Truncated => "truncated",
                FunctionKind::Module => "module",
                FunctionKind::Hidden => "hidden",
            },
            linkage_name: Some(function.linkage_name.as_str()).filter(|name| !name.is_empty()),
            module: function.module.as_deref(),
            file: function.file.as_deref(),
            line: Some(function.line).filter(|&line| line > 0),
        }
    }
}

/// A function on a chain. There are many, so they lack members that there is nothing to say of.
#[derive(serde::Serialize)]
struct Node {
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<u32>,
    function: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    offset: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    module: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    address: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    inlined: bool,
}

impl Node {
    fn new(source: &Source<'_>, node: &crate::analysis::tree::Node) -> Self {
        let code = node.code.map(|code| source.tree().places[code as usize]);
        Node {
            parent: node.parent,
            function: node.function,
            file: node.site.file,
            line: Some(node.site.line).filter(|&line| line > 0),
            offset: node.site.offset,
            module: node.module,
            address: code.map(|code| format!("{:#x}", code.address)),
            inlined: node.inlined,
        }
    }
}

/// What was allocated at the end of a chain in a category.
#[derive(serde::Serialize)]
struct Allocation {
    node: u32,
    category: String,
    #[serde(flatten)]
    usage: UsageNumbers,
}

impl Allocation {
    fn new(count: &crate::analysis::tree::Count) -> Self {
        let usage = UsageNumbers::from(&count.usage);
        Allocation { node: count.node, category: category(count.category), usage }
    }
}
