//! The allocation call graph (paper, sections 2.5 and 3.3).
//!
//! Functions that call each other in a cycle are merged into one node, as gprof does: between members of a cycle
//! it cannot be said who allocated for whom without counting bytes twice (paper, figure 7). A chain that leaves a
//! cycle never comes back to it, so calls into a cycle and out of it carry true numbers.
//! Without merging ([`GraphKind::Exact`]) each function's sum counts a byte once, and so does each call.

use super::cycles::components;
use super::direct::own_tallies;
use super::flow::Flow;
use super::number::Number;
use super::tally::{Tally, Usage};
use super::tree::{Node, Tree};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Whether cycles are merged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum GraphKind {
    /// Cycles are merged, as the paper does.
    #[default]
    Merged,
    /// Nothing is merged; calls within cycles carry their true numbers.
    Exact,
}

/// What an entry is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    /// A function, by id.
    Function(u32),
    /// A cycle, by its index in [`Graph::cycles`].
    Cycle(u32),
}

/// A caller or a callee of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line<N = u64> {
    /// The other function's id.
    pub function: u32,
    /// What was allocated over this call.
    pub tally: Tally<N>,
    /// For an ancestor: objects allocated over all calls that leave it. For a descendent: over all calls that
    /// enter it. Each object once.
    pub of_allocs: N,
    /// Both are members of one cycle of a merged graph: bytes mean nothing here.
    pub within_cycle: bool,
}

/// The callers or the callees of an entry.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lines<N = u64> {
    /// By falling bytes, those within a cycle last.
    pub lines: Vec<Line<N>>,
    /// Allocations over any of the lines, each once; lines within a cycle left out.
    pub all: Tally<N>,
    /// What the lines' percentages are of, bytes.
    pub whole: N,
}

/// One entry of the graph: a function or a cycle with its callers and callees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry<N = u64> {
    /// What it is about.
    pub subject: Subject,
    /// Allocated in it and its descendents. For a member of a cycle: in itself and over its calls out of the
    /// cycle, so that the members add up to the cycle.
    pub total: Tally<N>,
    /// Allocated in it directly.
    pub own: Tally<N>,
    /// Allocations whose chain has it: as `total`, but for a member of a cycle.
    pub through: Usage<N>,
    /// Objects that were allocated over calls to it from others.
    pub called: N,
    /// Objects whose chain has it calling itself.
    pub recurring: N,
    /// Its callers.
    pub ancestors: Lines<N>,
    /// Its callees.
    pub descendents: Lines<N>,
}

/// Functions that call each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cycle<N = u64> {
    /// Members with what each allocated itself, by falling bytes.
    pub members: Vec<(u32, Tally<N>)>,
    /// Index of its entry.
    pub entry: u32,
}

/// The call graph.
#[derive(Debug, Clone, Default)]
pub struct Graph<N = u64> {
    /// By falling bytes of `total`, then by name. The position is the index that the table shows.
    pub entries: Vec<Entry<N>>,
    /// Cycles, in the order of their entries: the first is `<cycle 1>`.
    pub cycles: Vec<Cycle<N>>,
    /// By function: the index of its entry.
    entry_of: Vec<Option<u32>>,
    /// By function: the index of its cycle.
    cycle_of: Vec<Option<u32>>,
}

impl<N: Number> Graph<N> {
    /// Makes the graph of a tree.
    pub fn new(tree: &Tree<N>, kind: GraphKind) -> Self {
        let parts = Parts::new(tree, kind);
        let functions = 0..tree.functions.len() as u32;
        let on_a_chain = |&function: &u32| parts.flow.inclusive[function as usize].usage.allocs.is_some();
        let mut entries: Vec<Entry<N>> =
            functions.filter(on_a_chain).map(|function| parts.function_entry(function)).collect();
        let cycles = 0..parts.members.len() as u32;
        entries.extend(cycles.map(|cycle| parts.cycle_entry(cycle)));
        entries.sort_by_cached_key(|entry| {
            let bytes = Reverse(entry.total.usage.bytes.weight());
            match entry.subject {
                Subject::Function(function) => (bytes, parts.name(function), ""),
                // A cycle is called by the number that it is about to get: its members tell it apart.
                Subject::Cycle(cycle) => (bytes, "<cycle", parts.first_name(cycle)),
            }
        });
        parts.into_graph(entries)
    }

    /// The name of a function or cycle; that of a cycle's member says so.
    pub fn name(&self, tree: &Tree, subject: Subject) -> String {
        match subject {
            Subject::Cycle(cycle) => format!("<cycle {}>", cycle + 1),
            Subject::Function(function) => match self.cycle_of(function) {
                Some(cycle) => format!("{} <cycle {}>", tree.functions[function].shown, cycle + 1),
                None => tree.functions[function].shown.clone(),
            },
        }
    }

    /// The index that the table shows for a function, if it has an entry.
    pub fn index_of(&self, function: u32) -> Option<u32> {
        self.entry_of[function as usize]
    }

    /// The cycle that a function is a member of, by its index in [`Graph::cycles`].
    pub fn cycle_of(&self, function: u32) -> Option<u32> {
        self.cycle_of[function as usize]
    }
}

/// What entries are made of.
struct Parts<'t, N> {
    tree: &'t Tree<N>,
    /// By function.
    own: Vec<Tally<N>>,
    /// Between functions.
    flow: Flow<N>,
    /// By function: its cycle.
    cycle_of: Vec<Option<u32>>,
    /// By cycle: its members.
    members: Vec<Vec<u32>>,
    /// By cycle: its sums.
    merged: Vec<CycleFlow<N>>,
    /// By function: edges of `flow` that lead to it.
    incoming: Vec<Vec<u32>>,
    /// By function: edges of `flow` that lead from it.
    outgoing: Vec<Vec<u32>>,
}

/// Sums of a cycle, each allocation counted once.
#[derive(Debug, Clone, Copy, Default)]
struct CycleFlow<N> {
    /// Allocations whose chain has a member.
    inclusive: Tally<N>,
    /// Allocations whose chain comes to the cycle from outside.
    entering: Tally<N>,
    /// Allocations whose chain leaves the cycle.
    leaving: Tally<N>,
    /// Objects whose chain has a call from a member to a member.
    recurring: N,
}

impl<'t, N: Number> Parts<'t, N> {
    fn new(tree: &'t Tree<N>, kind: GraphKind) -> Self {
        let count = tree.functions.len();
        let tallies = tree.subtree_tallies();
        let flow = Flow::new(tree, &tallies);
        let (mut incoming, mut outgoing) = (vec![Vec::new(); count], vec![Vec::new(); count]);
        for (id, edge) in (0..).zip(&flow.edges) {
            if edge.tally.usage.allocs.is_some() {
                incoming[edge.callee as usize].push(id);
                outgoing[edge.caller as usize].push(id);
            }
        }
        let mut parts = Parts {
            tree,
            own: own_tallies(tree),
            flow,
            cycle_of: vec![None; count],
            members: Vec::new(),
            merged: Vec::new(),
            incoming,
            outgoing,
        };
        if kind == GraphKind::Merged {
            parts.find_cycles();
            parts.sum_cycles(&tallies);
        }
        parts
    }

    fn find_cycles(&mut self) {
        let count = self.tree.functions.len();
        let used = self.outgoing.iter().flatten().map(|&id| &self.flow.edges[id as usize]);
        let edges: Vec<(u32, u32)> = used.map(|edge| (edge.caller, edge.callee)).collect();
        let groups = components(count, &edges);
        let mut members: Vec<Vec<u32>> = vec![Vec::new(); count];
        for (function, &group) in (0..).zip(&groups) {
            members[group as usize].push(function);
        }
        for members in members.into_iter().filter(|members| members.len() > 1) {
            for &member in &members {
                self.cycle_of[member as usize] = Some(self.members.len() as u32);
            }
            self.members.push(members);
        }
    }

    /// A chain comes into a cycle and leaves it at most once, so the functions that it has of a cycle stand side
    /// by side: the first of them, the second and what follows the last each count the chain once.
    fn sum_cycles(&mut self, tallies: &[Tally<N>]) {
        self.merged = vec![CycleFlow::default(); self.members.len()];
        if self.members.is_empty() {
            return;
        }
        let cycle_of = |node: &Node| self.cycle_of[node.function as usize];
        for (node, tally) in self.tree.nodes.iter().zip(tallies) {
            let parent = node.parent.map(|parent| &self.tree.nodes[parent as usize]);
            let (cycle, outer) = (cycle_of(node), parent.and_then(cycle_of));
            if let (Some(cycle), true) = (cycle, cycle != outer) {
                let flow = &mut self.merged[cycle as usize];
                flow.inclusive += *tally;
                if parent.is_some() {
                    flow.entering += *tally;
                }
            }
            if let (Some(outer), true) = (outer, cycle != outer) {
                self.merged[outer as usize].leaving += *tally;
            }
            if let (Some(cycle), true, Some(parent)) = (cycle, cycle == outer, parent) {
                let before = parent.parent.and_then(|before| cycle_of(&self.tree.nodes[before as usize]));
                if before != Some(cycle) {
                    self.merged[cycle as usize].recurring.add(tally.usage.allocs);
                }
            }
        }
    }

    fn name(&self, function: u32) -> &'t str {
        &self.tree.functions[function].shown
    }

    fn first_name(&self, cycle: u32) -> &'t str {
        self.members[cycle as usize].iter().map(|&member| self.name(member)).min().unwrap_or_default()
    }

    fn function_entry(&self, function: u32) -> Entry<N> {
        let id = function as usize;
        let callers = self.incoming[id].iter().map(|&edge| {
            let edge = &self.flow.edges[edge as usize];
            self.line(edge.caller, function, edge.tally, &self.flow.leaving)
        });
        let callees = self.outgoing[id].iter().map(|&edge| {
            let edge = &self.flow.edges[edge as usize];
            self.line(edge.callee, function, edge.tally, &self.flow.entering)
        });
        let (callers, callees) = (callers.collect(), callees.collect());
        let own = self.own[id];
        let (total, ancestors, descendents) = match self.cycle_of[id] {
            None => {
                let total = self.flow.inclusive[id];
                let (entering, leaving) = (self.flow.entering[id], self.flow.leaving[id]);
                let ancestors = self.lines(callers, entering, total.usage.bytes);
                (total, ancestors, self.lines(callees, leaving, leaving.usage.bytes))
            }
            Some(cycle) => {
                let leaving = sum_outside(&callees);
                let mut total = own;
                total += leaving;
                let whole = self.merged[cycle as usize].inclusive.usage.bytes;
                let entering = sum_outside(&callers);
                let ancestors = self.lines(callers, entering, whole);
                (total, ancestors, self.lines(callees, leaving, leaving.usage.bytes))
            }
        };
        let called = self.flow.entering[id].usage.allocs;
        let recurring = self.flow.recurring[id];
        let (subject, through) = (Subject::Function(function), self.flow.inclusive[id].usage);
        Entry { subject, total, own, through, called, recurring, ancestors, descendents }
    }

    fn cycle_entry(&self, cycle: u32) -> Entry<N> {
        let members = &self.members[cycle as usize];
        let CycleFlow { inclusive: total, entering, leaving, recurring } = self.merged[cycle as usize];
        let mut own = Tally::default();
        // A chain goes into a cycle and out of it at most once, so calls of different members add up.
        let (mut callers, mut callees) = (BTreeMap::<u32, Tally<N>>::new(), BTreeMap::<u32, Tally<N>>::new());
        for &member in members {
            own += self.own[member as usize];
            for &edge in &self.incoming[member as usize] {
                let edge = &self.flow.edges[edge as usize];
                *callers.entry(edge.caller).or_default() += edge.tally;
            }
            for &edge in &self.outgoing[member as usize] {
                let edge = &self.flow.edges[edge as usize];
                *callees.entry(edge.callee).or_default() += edge.tally;
            }
        }
        let outside = |function: &u32| self.cycle_of[*function as usize] != Some(cycle);
        let lines = |others: BTreeMap<u32, Tally<N>>, of: &[Tally<N>]| {
            let others = others.into_iter().filter(|(function, _)| outside(function));
            others.map(|(function, tally)| self.line(function, members[0], tally, of)).collect()
        };
        Entry {
            subject: Subject::Cycle(cycle),
            total,
            own,
            through: total.usage,
            called: entering.usage.allocs,
            recurring,
            ancestors: self.lines(lines(callers, &self.flow.leaving), entering, total.usage.bytes),
            descendents: self.lines(lines(callees, &self.flow.entering), leaving, leaving.usage.bytes),
        }
    }

    /// The line of `function` in the entry of `subject`; `of` has the sums that its allocations are part of.
    fn line(&self, function: u32, subject: u32, tally: Tally<N>, of: &[Tally<N>]) -> Line<N> {
        let cycle = self.cycle_of[function as usize];
        let within_cycle = cycle.is_some() && cycle == self.cycle_of[subject as usize];
        Line { function, tally, of_allocs: of[function as usize].usage.allocs, within_cycle }
    }

    fn lines(&self, mut lines: Vec<Line<N>>, all: Tally<N>, whole: N) -> Lines<N> {
        let rank = |line: &Line<N>| {
            let bytes = if line.within_cycle { 0 } else { line.tally.usage.bytes.weight() };
            (line.within_cycle, Reverse(bytes))
        };
        lines.sort_by(|a, b| {
            rank(a).cmp(&rank(b)).then_with(|| self.name(a.function).cmp(self.name(b.function)))
        });
        Lines { lines, all, whole }
    }

    /// Numbers the entries and, in their order, the cycles.
    fn into_graph(self, mut entries: Vec<Entry<N>>) -> Graph<N> {
        let mut entry_of = vec![None; self.tree.functions.len()];
        let mut numbers = vec![0; self.members.len()];
        let mut cycles: Vec<Cycle<N>> = Vec::new();
        for (index, entry) in (0..).zip(&mut entries) {
            match &mut entry.subject {
                Subject::Function(function) => entry_of[*function as usize] = Some(index),
                Subject::Cycle(cycle) => {
                    let mut members: Vec<(u32, Tally<N>)> = self.members[*cycle as usize]
                        .iter()
                        .map(|&member| (member, self.own[member as usize]))
                        .collect();
                    members
                        .sort_by_key(|(member, own)| (Reverse(own.usage.bytes.weight()), self.name(*member)));
                    numbers[*cycle as usize] = cycles.len() as u32;
                    *cycle = cycles.len() as u32;
                    cycles.push(Cycle { members, entry: index });
                }
            }
        }
        let cycle_of = self.cycle_of.iter().map(|cycle| cycle.map(|cycle| numbers[cycle as usize])).collect();
        Graph { entries, cycles, entry_of, cycle_of }
    }
}

/// The sum of the lines that are not within a cycle.
fn sum_outside<N: Number>(lines: &[Line<N>]) -> Tally<N> {
    let mut sum = Tally::default();
    lines.iter().filter(|line| !line.within_cycle).for_each(|line| sum += line.tally);
    sum
}
