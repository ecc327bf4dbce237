//! Massif's output, as ms_print and massif-visualizer read it: the heap over time, and what it was made of at the peak and at
//! the snapshots.
//!
//! A point's number of bytes is the most that it stands for, so that the peak is in the curve. Times are those of `--time-unit`;
//! `i` counts allocations, where massif counts instructions. Addresses are those in the modules' files.

use super::Source;
use crate::analysis::curve::{Clock, thinned};
use crate::analysis::text::{base_name, printable};
use crate::analysis::tree::Tree;
use mprof_format::model::{History, PeakTotals, Point, Profile};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// Points of the curve, where no other limit is asked for.
const POINTS: usize = 100;
/// Callers that are shown at most, as massif does by default.
const DEPTH: usize = 30;
/// What is less than so many parts of a thousand of the heap is taken together.
const THRESHOLD: u128 = 10;

pub(super) fn write(source: &Source<'_>, out: &mut dyn Write) -> io::Result<Vec<String>> {
    let Some(part) = source.parts.first() else { return Ok(Vec::new()) };
    let clock = source.options.clock;
    header(part.profile, clock, out)?;
    let limit = source.options.limit.unwrap_or(POINTS);
    let moments = moments(&part.profile.history, clock, limit);
    for (number, moment) in moments.iter().enumerate() {
        let rule = "#-----------";
        writeln!(out, "{rule}\nsnapshot={number}\n{rule}\ntime={}", moment.time)?;
        writeln!(out, "mem_heap_B={}\nmem_heap_extra_B=0\nmem_stacks_B=0", moment.bytes)?;
        match moment.detail {
            None => writeln!(out, "heap_tree=empty")?,
            Some(detail) => {
                writeln!(out, "heap_tree={}", if detail == Detail::Peak { "peak" } else { "detailed" })?;
                Drawing { tree: source.tree(), whole: moment.bytes, out }
                    .write(&alive(source.tree(), detail))?;
            }
        }
    }
    Ok(match part.profile.history.curve.is_empty() {
        true => vec!["the heap's curve was not recorded".into()],
        false => Vec::new(),
    })
}

fn header(profile: &Profile, clock: Clock, out: &mut dyn Write) -> io::Result<()> {
    let arguments: Vec<String> =
        profile.process.arguments.iter().map(|argument| printable(argument)).collect();
    let program = printable(&profile.process.program);
    let command = if arguments.is_empty() { program } else { arguments.join(" ") };
    let unit = match clock {
        Clock::Time => "ms",
        Clock::Bytes => "B",
        Clock::Allocations => "i",
    };
    writeln!(out, "desc: recorded by mprof\ncmd: {command}\ntime_unit: {unit}")
}

/// What a moment is shown with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Detail {
    Peak,
    /// The snapshot of this number.
    Snapshot(u32),
}

/// One of massif's snapshots.
struct Moment {
    time: u64,
    bytes: u64,
    detail: Option<Detail>,
}

/// Points, peak and snapshots by rising time.
fn moments(history: &History, clock: Clock, limit: usize) -> Vec<Moment> {
    let points = thinned(&history.curve, limit);
    let time = |time: u64| if clock == Clock::Time { time / 1_000_000 } else { time };
    let last = points.len().saturating_sub(1);
    let mut moments: Vec<(u64, Moment)> = Vec::new();
    for (index, point) in points.iter().enumerate() {
        // The last one is the end, of which nothing is merged.
        let bytes = if index == last { point.live_bytes } else { point.most_bytes };
        moments.push((point.objects, Moment { time: time(clock.of(point)), bytes, detail: None }));
    }
    for (number, snapshot) in (0..).zip(&history.snapshots) {
        let totals = &snapshot.totals;
        let point = Point { ns: totals.ns, bytes: totals.bytes, objects: totals.objects, ..Point::default() };
        let detail = Some(Detail::Snapshot(number));
        moments.push((
            totals.objects,
            Moment { time: time(clock.of(&point)), bytes: totals.live_bytes, detail },
        ));
    }
    if let Some(peak) = &history.peak {
        let totals = &peak.totals;
        let moment = Moment {
            time: time(peak_time(history, totals, clock)),
            bytes: totals.bytes,
            detail: Some(Detail::Peak),
        };
        moments.push((totals.number, moment));
    }
    // Allocations made are the finest clock.
    moments.sort_by_key(|(objects, moment)| (*objects, moment.detail.is_none()));
    let mut moments: Vec<Moment> = moments.into_iter().map(|(_, moment)| moment).collect();
    let mut latest = 0;
    for moment in &mut moments {
        latest = moment.time.max(latest);
        moment.time = latest;
    }
    moments
}

/// When the peak was; by bytes allocated no later than at the next point of the curve.
fn peak_time(history: &History, totals: &PeakTotals, clock: Clock) -> u64 {
    match clock {
        Clock::Time => totals.ns,
        Clock::Allocations => totals.number,
        Clock::Bytes => {
            let next = history.curve.iter().find(|point| point.objects >= totals.number);
            next.or(history.curve.last()).map_or(0, |point| point.bytes)
        }
    }
}

/// Nodes with the bytes that were alive of what they allocated.
fn alive(tree: &Tree, detail: Detail) -> Vec<(u32, u64)> {
    let bytes = |count: &crate::analysis::tree::Count| match detail {
        Detail::Peak => count.usage.peak_bytes,
        Detail::Snapshot(number) => {
            let past = count.past.and_then(|past| tree.pasts.get(past as usize));
            past.map_or(0, |past| past.bytes_at(number))
        }
    };
    tree.counts.iter().map(|count| (count.node, bytes(count))).filter(|&(_, bytes)| bytes > 0).collect()
}

/// Draws what was alive, from the innermost callers outwards.
struct Drawing<'a> {
    tree: &'a Tree,
    /// Bytes that were alive.
    whole: u64,
    out: &'a mut dyn Write,
}

/// Callers of one label: bytes, and where their chains go on.
type Group = (u64, Vec<(u32, u64)>);

impl Drawing<'_> {
    fn write(&mut self, alive: &[(u32, u64)]) -> io::Result<()> {
        let all: Vec<(Option<u32>, u64)> = alive.iter().map(|&(node, bytes)| (Some(node), bytes)).collect();
        self.level(0, self.whole, "(heap allocation functions) malloc/new/new[], --alloc-fns, etc.", &all)
    }

    /// A line, and those of the callers, no more than [`DEPTH`] deep.
    fn level(
        &mut self,
        depth: usize,
        bytes: u64,
        name: &str,
        callers: &[(Option<u32>, u64)],
    ) -> io::Result<()> {
        let mut groups: BTreeMap<String, Group> = BTreeMap::new();
        for &(node, bytes) in callers {
            if let Some(node) = node.filter(|_| depth < DEPTH) {
                let group = groups.entry(label(self.tree, node)).or_default();
                group.0 = group.0.saturating_add(bytes);
                group.1.push((node, bytes));
            }
        }
        let large = |group: &Group| u128::from(group.0) * 1000 >= u128::from(self.whole) * THRESHOLD;
        let (mut shown, small): (Vec<_>, Vec<_>) = groups.into_iter().partition(|(_, group)| large(group));
        shown.sort_by_key(|(_, group)| Reverse(group.0));
        let lines = shown.len() + usize::from(!small.is_empty());
        writeln!(self.out, "{:depth$}n{lines}: {bytes} {name}", "")?;
        for (name, (bytes, nodes)) in &shown {
            let callers: Vec<(Option<u32>, u64)> =
                nodes.iter().map(|&(node, bytes)| (self.tree.nodes[node as usize].parent, bytes)).collect();
            self.level(depth + 1, *bytes, name, &callers)?;
        }
        if small.is_empty() {
            return Ok(());
        }
        let sum = small.iter().fold(0, |sum: u64, (_, group)| sum.saturating_add(group.0));
        let places = match small.len() {
            1 => "1 place".to_owned(),
            count => format!("{count} places, all"),
        };
        let depth = depth + 1;
        writeln!(self.out, "{:depth$}n0: {sum} in {places} below massif's threshold (1.00%)", "")
    }
}

/// A caller as massif writes it.
fn label(tree: &Tree, node: u32) -> String {
    let node = &tree.nodes[node as usize];
    let function = &tree.functions[node.function];
    let place = match node.site.known_line() {
        Some((file, line)) => format!("{}:{line}", base_name(&tree.files[file as usize])),
        None => match node.module {
            Some(module) => format!("in {}", tree.modules[module as usize].path),
            None => "in ???".into(),
        },
    };
    let address = node.code.map_or(0, |code| tree.places[code as usize].address);
    format!("0x{address:X}: {} ({place})", function.name)
}
