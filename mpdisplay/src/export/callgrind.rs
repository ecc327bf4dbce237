//! Callgrind's profile format, version 1 (Valgrind's manual, "Callgrind Format Specification"), for KCachegrind,
//! QCachegrind and callgrind_annotate.
//!
//! The events are the measures; the one asked for comes first, for that is what readers sort by. What the format
//! calls the number of calls is the number of objects that were allocated over them.
//!
//! Readers take the sum of the calls to a function for what was allocated in it and below. So that this sum counts
//! nothing twice when a function is on a chain several times, only the first call to each function on a chain counts:
//! the sum is exactly what was allocated on chains that it is on. A function that stands for what starts programs and
//! threads calls the outermost functions.

use super::{Measure, Source};
use crate::analysis::part::Part;
use crate::analysis::tally::Usage;
use crate::analysis::tree::{Node, Site, Tree};
use crate::analysis::walk::{Visit, Walk};
use crate::report::process::command_line;
use mprof_format::model::Profile;
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};

pub(super) fn write(source: &Source<'_>, out: &mut dyn Write) -> io::Result<Vec<String>> {
    let mut measures = Measure::ALL.to_vec();
    // Where the peak is asked for, nothing else is known.
    measures.retain(|measure| measure.is_peak() == source.measure.is_peak());
    measures.sort_by_key(|&measure| measure != source.measure);
    header(source, &measures, out)?;
    let costs = AllCosts::new(source.tree());
    let mut writer =
        Writer { tree: source.tree(), measures: &measures, numbers: HashMap::new(), out: &mut *out };
    writer.root(&costs.roots)?;
    for (function, costs) in (0..).zip(&costs.functions) {
        if !costs.own.is_empty() || !costs.calls.is_empty() {
            writer.function(function, costs)?;
        }
    }
    writeln!(out, "\ntotals: {}", numbers(&source.view.total, &measures))?;
    Ok(Vec::new())
}

fn header(source: &Source<'_>, measures: &[Measure], out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "# callgrind format\nversion: 1\ncreator: mprof {}", env!("CARGO_PKG_VERSION"))?;
    if let [Part { profile: Profile { process, .. }, .. }] = source.parts {
        writeln!(out, "pid: {}\ncmd: {}", process.pid, command_line(process))?;
    } else {
        writeln!(out, "cmd: {}", source.programs())?;
    }
    writeln!(out, "positions: line")?;
    for measure in measures {
        writeln!(out, "event: {} : {}", event(*measure), measure.title())?;
    }
    let events: Vec<&str> = measures.iter().map(|&measure| event(measure)).collect();
    writeln!(out, "events: {}", events.join(" "))?;
    writeln!(out, "summary: {}", numbers(&source.view.total, measures))
}

/// The name of a measure as an event.
fn event(measure: Measure) -> &'static str {
    match measure {
        Measure::Bytes => "Bytes",
        Measure::Allocs => "Objects",
        Measure::Kept => "KeptBytes",
        Measure::KeptObjects => "KeptObjects",
        Measure::Peak => "PeakBytes",
        Measure::PeakObjects => "PeakObjects",
    }
}

fn numbers(usage: &Usage, measures: &[Measure]) -> String {
    let numbers: Vec<String> = measures.iter().map(|measure| measure.of(usage).to_string()).collect();
    numbers.join(" ")
}

/// What a function allocated.
#[derive(Debug, Default)]
struct Costs {
    /// Itself, by line.
    own: BTreeMap<u32, Usage>,
    /// Over its calls, by line and function called.
    calls: BTreeMap<(u32, u32), Usage>,
}

/// What was allocated in each function and over each call.
struct AllCosts {
    /// By function.
    functions: Vec<Costs>,
    /// By outermost function.
    roots: BTreeMap<u32, Usage>,
}

impl AllCosts {
    fn new(tree: &Tree) -> AllCosts {
        let mut functions: Vec<Costs> = Vec::new();
        functions.resize_with(tree.functions.len(), Costs::default);
        for count in &tree.counts {
            let node = &tree.nodes[count.node as usize];
            *functions[node.function as usize].own.entry(line(tree, node)).or_default() += count.usage;
        }
        let mut costs = AllCosts { functions, roots: BTreeMap::new() };
        costs.add_calls(tree);
        costs
    }

    fn add_calls(&mut self, tree: &Tree) {
        let tallies = tree.subtree_tallies();
        // How often each function is on the current chain.
        let mut times = vec![0u32; tree.functions.len()];
        for visit in Walk::new(tree.nodes.iter().map(|node| node.parent)) {
            match visit {
                Visit::Enter(id) => {
                    let (node, usage) = (&tree.nodes[id as usize], tallies[id as usize].usage);
                    let times = &mut times[node.function as usize];
                    *times += 1;
                    if *times == 1 && usage.allocs > 0 {
                        *self.call(tree, node) += usage;
                    }
                }
                Visit::Leave(id) => times[tree.nodes[id as usize].function as usize] -= 1,
            }
        }
    }

    /// The sum of the calls like the one to a node.
    fn call(&mut self, tree: &Tree, node: &Node) -> &mut Usage {
        let Some(parent) = node.parent else { return self.roots.entry(node.function).or_default() };
        let caller = &tree.nodes[parent as usize];
        let calls = &mut self.functions[caller.function as usize].calls;
        calls.entry((line(tree, caller), node.function)).or_default()
    }
}

/// The line of a node's call or allocation, if it is one of its function's file: what a macro or an included file
/// brought counts for the function's first line, since readers take a function in two files for two functions.
fn line(tree: &Tree, node: &Node) -> u32 {
    let Site { file, line, .. } = node.site;
    let function = &tree.functions[node.function];
    let same = file.map(|file| tree.files[file as usize].as_str()) == function.file.as_deref();
    if same { line } else { function.line }
}

/// What names are of; each kind has numbers of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Kind {
    Object,
    File,
    Function,
}

/// Written where a file or object is not known, as callgrind does.
const UNKNOWN: &str = "???";
/// The function that calls the outermost ones.
const ROOT: &str = "(start)";

struct Writer<'a> {
    tree: &'a Tree,
    measures: &'a [Measure],
    /// Numbers of the names that were written.
    numbers: HashMap<(Kind, String), usize>,
    out: &'a mut dyn Write,
}

impl Writer<'_> {
    fn root(&mut self, calls: &BTreeMap<u32, Usage>) -> io::Result<()> {
        self.begin(UNKNOWN, UNKNOWN, ROOT)?;
        calls.iter().try_for_each(|(&callee, usage)| self.call(0, callee, usage))
    }

    fn function(&mut self, id: u32, costs: &Costs) -> io::Result<()> {
        let function = &self.tree.functions[id];
        let (object, file) = (or_unknown(&function.module), or_unknown(&function.file));
        self.begin(object, file, &function.shown)?;
        for (line, usage) in &costs.own {
            writeln!(self.out, "{line} {}", numbers(usage, self.measures))?;
        }
        costs.calls.iter().try_for_each(|(&(line, callee), usage)| self.call(line, callee, usage))
    }

    fn begin(&mut self, object: &str, file: &str, name: &str) -> io::Result<()> {
        let object = self.name(Kind::Object, object);
        let file = self.name(Kind::File, file);
        let name = self.name(Kind::Function, name);
        writeln!(self.out, "\nob={object}\nfl={file}\nfn={name}")
    }

    fn call(&mut self, line: u32, callee: u32, usage: &Usage) -> io::Result<()> {
        let function = &self.tree.functions[callee];
        let object = self.name(Kind::Object, or_unknown(&function.module));
        let file = self.name(Kind::File, or_unknown(&function.file));
        let name = self.name(Kind::Function, &function.shown);
        writeln!(self.out, "cob={object}\ncfi={file}\ncfn={name}")?;
        writeln!(
            self.out,
            "calls={} {}\n{line} {}",
            usage.allocs,
            function.line,
            numbers(usage, self.measures)
        )
    }

    /// A name behind its number; the second time the number alone. So no name can be taken for a number.
    fn name(&mut self, kind: Kind, name: &str) -> String {
        let next = self.numbers.len() + 1;
        match self.numbers.entry((kind, name.to_owned())) {
            Entry::Occupied(known) => format!("({})", known.get()),
            Entry::Vacant(new) => {
                new.insert(next);
                format!("({next}) {name}")
            }
        }
    }
}

fn or_unknown(name: &Option<String>) -> &str {
    name.as_deref().unwrap_or(UNKNOWN)
}
