//! The rows that `--show` asks for.

use crate::analysis::direct::DirectRow;
use crate::analysis::graph::{Graph, Subject};
use crate::analysis::leaks::{LeakRow, Leaks};
use crate::analysis::number::Number;
use crate::analysis::pattern::Patterns;
use crate::analysis::tree::Tree;
use std::collections::HashSet;

/// Which functions and nodes are asked for.
pub(super) struct Asked {
    /// `None` where there is no pattern: then all are.
    matches: Option<Matches>,
    /// Rows are of lines, so that calls are what matches, else functions.
    by_line: bool,
}

struct Matches {
    /// By node.
    nodes: Vec<bool>,
    /// By function: one of its nodes is asked for.
    functions: Vec<bool>,
    /// Functions with the lines of nodes that are asked for.
    lines: HashSet<(u32, Option<(u32, u32)>)>,
}

impl Asked {
    pub(super) fn new<N>(tree: &Tree<N>, show: &Patterns, by_line: bool) -> Self {
        if show.is_empty() {
            return Asked { matches: None, by_line };
        }
        let nodes = show.nodes(tree);
        let mut functions = vec![false; tree.functions.len()];
        let mut lines = HashSet::new();
        for (node, _) in tree.nodes.iter().zip(&nodes).filter(|(_, asked)| **asked) {
            functions[node.function as usize] = true;
            lines.insert((node.function, node.site.known_line()));
        }
        Asked { matches: Some(Matches { nodes, functions, lines }), by_line }
    }

    /// Whether a path shows a caller that is asked for.
    pub(super) fn path<N: Number>(&self, leaks: &Leaks<'_, N>, row: &LeakRow<N>) -> bool {
        let Some(matches) = &self.matches else { return true };
        leaks.callers(row).any(|(id, node)| {
            if self.by_line { matches.nodes[id as usize] } else { matches.functions[node.function as usize] }
        })
    }

    /// Whether a function is asked for.
    pub(super) fn function(&self, function: u32) -> bool {
        self.matches.as_ref().is_none_or(|matches| matches.functions[function as usize])
    }

    /// Whether a row of the direct allocation table is asked for.
    pub(super) fn row<N: Number>(&self, row: &DirectRow<N>) -> bool {
        match &self.matches {
            Some(matches) if self.by_line => matches.lines.contains(&(row.function, row.line)),
            _ => self.function(row.function),
        }
    }

    /// Whether a function or a member of a cycle is asked for.
    pub(super) fn subject<N>(&self, graph: &Graph<N>, subject: Subject) -> bool {
        match subject {
            Subject::Function(function) => self.function(function),
            Subject::Cycle(cycle) => {
                graph.cycles[cycle as usize].members.iter().any(|&(member, _)| self.function(member))
            }
        }
    }
}
