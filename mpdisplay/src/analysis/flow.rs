//! How many bytes were allocated under each function and over each call, every allocation counted once.
//!
//! A function, or a call from one function to another, may be on a chain several times (recursion). One walk
//! over the tree credits only the outermost time: what is below it is already counted there.

use super::number::Number;
use super::tally::Tally;
use super::tree::{Node, Tree};
use super::walk::{self, Visit};
use std::collections::HashMap;

/// What was allocated over calls from one function to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edge<N = u64> {
    /// Function that called.
    pub caller: u32,
    /// Function that was called; never the caller itself.
    pub callee: u32,
    /// Allocations whose chain has such a call.
    pub tally: Tally<N>,
}

/// Sums over functions and the calls between them.
#[derive(Debug, Clone, Default)]
pub struct Flow<N = u64> {
    /// By function: allocations whose chain has it.
    pub inclusive: Vec<Tally<N>>,
    /// By function: allocations whose chain has a call to it from another function.
    pub entering: Vec<Tally<N>>,
    /// By function: allocations whose chain has a call from it to another function.
    pub leaving: Vec<Tally<N>>,
    /// By function: allocations (objects) whose chain has it calling itself.
    pub recurring: Vec<N>,
    /// Calls between functions, in the order of their appearance in the tree.
    pub edges: Vec<Edge<N>>,
}

impl<N: Number> Flow<N> {
    /// Sums over the tree, whose subtrees hold `tallies`.
    pub fn new(tree: &Tree<N>, tallies: &[Tally<N>]) -> Self {
        let functions = tree.functions.len();
        let (edges, edge_of) = edges(tree);
        let none = || vec![Tally::default(); functions];
        let flow = Flow {
            inclusive: none(),
            entering: none(),
            leaving: none(),
            recurring: vec![N::default(); functions],
            edges,
        };
        let marks = Marks::new(functions, flow.edges.len());
        let mut walk = Walk { tree, tallies, edge_of, flow, marks };
        walk.run();
        walk.flow
    }
}

/// No edge: the node is outermost, or its function was called by itself.
const NO_EDGE: u32 = u32::MAX;

/// The different edges, without sums, and for each node the one that leads to it.
fn edges<N: Number>(tree: &Tree<N>) -> (Vec<Edge<N>>, Vec<u32>) {
    let mut known: HashMap<(u32, u32), u32> = HashMap::with_capacity(tree.nodes.len());
    let mut edges: Vec<Edge<N>> = Vec::new();
    let mut edge_to = |node: &Node| {
        let callee = node.function;
        match node.parent.map(|parent| tree.nodes[parent as usize].function) {
            Some(caller) if caller != callee => *known.entry((caller, callee)).or_insert_with(|| {
                edges.push(Edge { caller, callee, tally: Tally::default() });
                edges.len() as u32 - 1
            }),
            _ => NO_EDGE,
        }
    };
    let edge_of = tree.nodes.iter().map(&mut edge_to).collect();
    (edges, edge_of)
}

/// How often each thing is on the current chain.
struct Marks {
    function: Vec<u32>,
    entering: Vec<u32>,
    leaving: Vec<u32>,
    recurring: Vec<u32>,
    edge: Vec<u32>,
}

impl Marks {
    fn new(functions: usize, edges: usize) -> Self {
        let none = || vec![0; functions];
        Marks { function: none(), entering: none(), leaving: none(), recurring: none(), edge: vec![0; edges] }
    }
}

/// Notes one more, and says whether it is the first on the chain.
fn first(marks: &mut [u32], index: u32) -> bool {
    let mark = &mut marks[index as usize];
    *mark += 1;
    *mark == 1
}

struct Walk<'a, N> {
    tree: &'a Tree<N>,
    tallies: &'a [Tally<N>],
    /// By node.
    edge_of: Vec<u32>,
    flow: Flow<N>,
    marks: Marks,
}

impl<N: Number> Walk<'_, N> {
    /// Visits all nodes, callers before callees, with the marks of exactly their chain set.
    fn run(&mut self) {
        let nodes = &self.tree.nodes;
        for visit in walk::Walk::new(nodes.iter().map(|node| node.parent)) {
            match visit {
                Visit::Enter(node) => self.enter(node, nodes[node as usize].parent),
                Visit::Leave(node) => self.leave(node, nodes[node as usize].parent),
            }
        }
    }

    fn enter(&mut self, node: u32, parent: Option<u32>) {
        let (function, tally) = (self.tree.nodes[node as usize].function, &self.tallies[node as usize]);
        let (flow, marks) = (&mut self.flow, &mut self.marks);
        if first(&mut marks.function, function) {
            flow.inclusive[function as usize] += *tally;
        }
        let edge = self.edge_of[node as usize];
        if edge != NO_EDGE {
            let caller = flow.edges[edge as usize].caller;
            if first(&mut marks.edge, edge) {
                flow.edges[edge as usize].tally += *tally;
            }
            if first(&mut marks.entering, function) {
                flow.entering[function as usize] += *tally;
            }
            if first(&mut marks.leaving, caller) {
                flow.leaving[caller as usize] += *tally;
            }
        } else if parent.is_some() && first(&mut marks.recurring, function) {
            flow.recurring[function as usize].add(tally.usage.allocs);
        }
    }

    fn leave(&mut self, node: u32, parent: Option<u32>) {
        let function = self.tree.nodes[node as usize].function as usize;
        let marks = &mut self.marks;
        marks.function[function] -= 1;
        let edge = self.edge_of[node as usize];
        if edge != NO_EDGE {
            marks.edge[edge as usize] -= 1;
            marks.entering[function] -= 1;
            marks.leaving[self.flow.edges[edge as usize].caller as usize] -= 1;
        } else if parent.is_some() {
            marks.recurring[function] -= 1;
        }
    }
}
