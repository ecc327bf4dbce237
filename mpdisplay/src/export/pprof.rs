//! pprof's profile.proto, gzipped, for `go tool pprof`, pprof and whatever else reads heap profiles of Go programs:
//! sample types alloc_objects, alloc_space, inuse_objects and inuse_space, where in use means kept to the end.

mod proto;

use super::csv::category;
use super::{Measure, Source, chains};
use crate::analysis::code::Module;
use crate::analysis::functions;
use crate::analysis::text::printable;
use crate::analysis::tree::{Node, Tree};
use flate2::Compression;
use flate2::write::GzEncoder;
use prost::Message;
use proto::{Function, Label, Line, Location, Mapping, Profile, Sample, ValueType};
use std::collections::HashMap;
use std::io::{self, Write};

/// Functions that the stacks of all samples together may have.
const FUNCTIONS: u64 = 1 << 25;
/// Samples that are encoded at once: messages written one after the other are one message, so there is no need for
/// all of them at the same time.
const CHUNK: usize = 1024;

pub(super) fn write(source: &Source<'_>, out: &mut dyn Write) -> io::Result<Vec<String>> {
    let mut encoder = Encoder { out: GzEncoder::new(out, Compression::default()), buffer: Vec::new() };
    let mut strings = Strings::new();
    let stacks = Stacks::new(source.tree());
    encoder.put(&header(source, &mut strings))?;
    encoder.put(&Profile { mapping: mappings(source, &mut strings), ..Profile::default() })?;
    let longest = samples(source, &stacks, &mut strings, &mut encoder)?;
    encoder.put(&Profile { location: locations(source.tree(), &stacks), ..Profile::default() })?;
    encoder.put(&Profile { function: functions(source.tree(), &mut strings), ..Profile::default() })?;
    encoder.put(&Profile { string_table: strings.list, ..Profile::default() })?;
    encoder.out.finish()?;
    Ok(chains::note(longest))
}

/// Encodes parts of a profile.
struct Encoder<'a> {
    out: GzEncoder<&'a mut dyn Write>,
    buffer: Vec<u8>,
}

impl Encoder<'_> {
    fn put(&mut self, part: &Profile) -> io::Result<()> {
        self.buffer.clear();
        part.encode(&mut self.buffer).map_err(io::Error::other)?;
        self.out.write_all(&self.buffer)
    }
}

/// The profile's strings; number 0 is the empty one.
struct Strings {
    list: Vec<String>,
    numbers: HashMap<String, i64>,
}

impl Strings {
    fn new() -> Self {
        let mut strings = Strings { list: Vec::new(), numbers: HashMap::new() };
        strings.number("");
        strings
    }

    fn number(&mut self, text: &str) -> i64 {
        if let Some(known) = self.numbers.get(text) {
            return *known;
        }
        let next = self.list.len() as i64;
        self.list.push(text.to_owned());
        self.numbers.insert(text.to_owned(), next);
        next
    }
}

/// The measures in the order of Go's heap profiles, with the names of their sample types.
const SAMPLE_TYPES: [(&str, Measure); 4] = [
    ("alloc_objects", Measure::Allocs),
    ("alloc_space", Measure::Bytes),
    ("inuse_objects", Measure::KeptObjects),
    ("inuse_space", Measure::Kept),
];

/// What is no list.
fn header(source: &Source<'_>, strings: &mut Strings) -> Profile {
    let unit = |measure: Measure| if measure.unit() == "bytes" { "bytes" } else { "count" };
    let mut value_type =
        |name: &str, unit: &str| ValueType { r#type: strings.number(name), unit: strings.number(unit) };
    let sample_type = SAMPLE_TYPES.map(|(name, measure)| value_type(name, unit(measure))).to_vec();
    // Every byte is counted, so the period between samples is 1 byte.
    let period_type = Some(value_type("space", "bytes"));
    let shown = SAMPLE_TYPES.iter().find(|(_, measure)| *measure == source.measure);
    let processes = || source.profiles().map(|profile| &profile.process);
    let start = processes().map(|process| process.start_unix_ns).min().unwrap_or(0);
    let end = processes()
        .map(|process| process.start_unix_ns.saturating_add(process.elapsed_ns))
        .max()
        .unwrap_or(0);
    let command = |arguments: &[Vec<u8>]| -> String {
        let arguments: Vec<String> = arguments.iter().map(|argument| printable(argument)).collect();
        arguments.join(" ")
    };
    Profile {
        sample_type,
        period_type,
        period: 1,
        time_nanos: i64::try_from(start).unwrap_or(0),
        duration_nanos: i64::try_from(end - start).unwrap_or(0),
        default_sample_type: shown.map_or(0, |(name, _)| strings.number(name)),
        comment: processes()
            .map(|process| {
                strings.number(&format!("process {}: {}", process.pid, command(&process.arguments)))
            })
            .collect(),
        ..Profile::default()
    }
}

/// The program comes first, for pprof takes the first mapping for it.
fn mappings(source: &Source<'_>, strings: &mut Strings) -> Vec<Mapping> {
    let mapping = |(id, module): (u64, &Module)| Mapping {
        id,
        memory_start: module.start,
        memory_limit: module.start.saturating_add(module.length),
        file_offset: 0,
        filename: strings.number(&module.path),
        build_id: strings.number(&super::hexadecimal(&module.build_id)),
        has_functions: true,
        has_filenames: true,
        has_line_numbers: true,
        has_inline_frames: true,
    };
    let mut modules: Vec<(u64, &Module)> = (1..).zip(&source.tree().modules).collect();
    let programs: Vec<String> =
        source.profiles().map(|profile| printable(&profile.process.program)).collect();
    modules.sort_by_key(|(_, module)| !programs.contains(&module.path));
    modules.into_iter().map(mapping).collect()
}

/// Call chains in terms of locations, which are places in machine code with all functions inlined there.
struct Stacks {
    /// By node: the location that ends with its function, counted from 1.
    location: Vec<u32>,
    /// By node: the innermost node of the location before.
    outer: Vec<Option<u32>>,
    /// By location: a node that it ends with.
    node: Vec<u32>,
}

impl Stacks {
    fn new(tree: &Tree) -> Stacks {
        let count = tree.nodes.len();
        let mut stacks = Stacks {
            location: Vec::with_capacity(count),
            outer: Vec::with_capacity(count),
            node: Vec::new(),
        };
        // A place alone does not say how many of the functions inlined there are on the chain.
        let mut known: HashMap<(Option<u32>, u32, u32), u32> = HashMap::new();
        let mut inlined: Vec<u32> = Vec::with_capacity(count);
        for (id, node) in (0..).zip(&tree.nodes) {
            let into = node.parent.filter(|&parent| is_inlined(tree, node, parent));
            inlined.push(into.map_or(0, |parent| inlined[parent as usize] + 1));
            stacks.outer.push(into.map_or(node.parent, |parent| stacks.outer[parent as usize]));
            let key = (node.code, node.function, inlined[id as usize]);
            let next = stacks.node.len() as u32 + 1;
            let location = *known.entry(key).or_insert(next);
            if location == next {
                stacks.node.push(id);
            }
            stacks.location.push(location);
        }
        stacks
    }

    /// The locations of a chain, innermost first.
    fn chain(&self, node: u32) -> impl Iterator<Item = u64> {
        let nodes = std::iter::successors(Some(node), |&node| self.outer[node as usize]);
        nodes.map(|node| self.location[node as usize].into())
    }
}

/// Whether a node's function is inlined into its parent's, and not another call at the same place.
fn is_inlined(tree: &Tree, node: &Node, parent: u32) -> bool {
    node.inlined && tree.nodes[parent as usize].code == node.code
}

/// Writes the samples; where chains had to be cut it returns to which length.
fn samples(
    source: &Source<'_>,
    stacks: &Stacks,
    strings: &mut Strings,
    encoder: &mut Encoder<'_>,
) -> io::Result<Option<u32>> {
    let tree = source.tree();
    let lengths = chains::lengths(tree);
    let longest = chains::longest(tree.counts.iter().map(|count| lengths[count.node as usize]), FUNCTIONS);
    let key = strings.number("category");
    for counts in tree.counts.chunks(CHUNK) {
        let mut part = Profile::default();
        for count in counts {
            let stack = stacks.chain(count.node).take(longest.unwrap_or(u32::MAX) as usize);
            let value =
                SAMPLE_TYPES.map(|(_, measure)| i64::try_from(measure.of(&count.usage)).unwrap_or(i64::MAX));
            let label = Label { key, str: strings.number(&category(count.category)) };
            part.sample.push(Sample {
                location_id: stack.collect(),
                value: value.to_vec(),
                label: vec![label],
            });
        }
        encoder.put(&part)?;
    }
    Ok(longest)
}

fn locations(tree: &Tree, stacks: &Stacks) -> Vec<Location> {
    let location = |(id, &innermost): (u64, &u32)| {
        let node = &tree.nodes[innermost as usize];
        let code = node.code.map(|code| tree.places[code as usize]);
        let bias = code.and_then(|code| code.module).map_or(0, |module| tree.modules[module as usize].bias);
        // A return address is that of the next instruction.
        let address =
            code.map_or(0, |code| code.address.wrapping_add(bias).wrapping_sub((!code.interrupted).into()));
        let mapping_id = node.module.map_or(0, |module| u64::from(module) + 1);
        Location { id, mapping_id, address, line: lines(tree, innermost), is_folded: false }
    };
    (1..).zip(&stacks.node).map(location).collect()
}

/// The functions at a location, innermost first.
fn lines(tree: &Tree, innermost: u32) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut next = Some(innermost);
    while let Some(id) = next {
        let node = &tree.nodes[id as usize];
        lines.push(Line { function_id: u64::from(node.function) + 1, line: node.site.line.into() });
        next = node.parent.filter(|&parent| is_inlined(tree, node, parent));
    }
    lines
}

fn functions(tree: &Tree, strings: &mut Strings) -> Vec<Function> {
    let function = |(id, function): (u64, &functions::Function)| Function {
        id,
        name: strings.number(&function.shown),
        system_name: strings.number(if function.linkage_name.is_empty() {
            &function.name
        } else {
            &function.linkage_name
        }),
        filename: strings.number(function.file.as_deref().unwrap_or_default()),
        start_line: function.line.into(),
    };
    (1..).zip(tree.functions.iter()).map(function).collect()
}
