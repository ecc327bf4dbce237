//! Finds the rule for each call chain.

use super::pattern::{Frame, Matcher, Step};
use super::read::MAX_STEPS;
use super::{Origin, Rule, Suppressions};
use crate::analysis::functions::FunctionKind;
use crate::analysis::number::Number;
use crate::analysis::tree::{Node, Tree};
use mprof_format::model::{CLASSES, Class};
use std::collections::HashMap;

/// The rule that each chain of a tree falls under.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Suppressed {
    /// By node id, for chains with kept objects: for each kind, and for those that have none, the first rule that
    /// matches.
    rules: HashMap<u32, [Option<u32>; CLASSES + 1]>,
    /// Index = rule.
    labels: Vec<Label>,
}

/// What a rule is called and where it is written.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Label {
    /// Its name.
    pub name: String,
    /// Where it is written.
    pub origin: Origin,
}

impl Suppressed {
    /// The rule (its index) for kept objects of a kind at the chain that ends at a node.
    pub fn rule(&self, node: u32, kind: Option<Class>) -> Option<usize> {
        self.rules.get(&node)?[place(kind)].map(|rule| rule as usize)
    }

    /// The label of a rule that [`Suppressed::rule`] gave.
    pub(crate) fn label(&self, rule: usize) -> &Label {
        &self.labels[rule]
    }
}

/// Where the rule for a kind stands.
fn place(kind: Option<Class>) -> usize {
    kind.map_or(CLASSES, Class::index)
}

/// Finds for each chain the first rule that matches it. Takes time in proportion to the tree times the rules that
/// name something in it, however deep the chains are.
pub fn apply<N: Number>(suppressions: &Suppressions, tree: &Tree<N>) -> Suppressed {
    let kinds: Vec<Option<Class>> = Class::ALL.into_iter().map(Some).chain([None]).collect();
    let mut rules: HashMap<u32, [Option<u32>; CLASSES + 1]> = HashMap::new();
    let kept = chains_with_kept_objects(tree);
    for (index, rule) in suppressions.rules.iter().enumerate() {
        let Some(matches) = Matches::of(rule, tree) else { continue };
        let starts = starts(&rule.steps);
        let suffixes = suffixes(&rule.steps, tree, &matches);
        for &node in &kept {
            if suffixes[node as usize] & starts == 0 {
                continue;
            }
            let found = rules.entry(node).or_default();
            for &kind in kinds.iter().filter(|&&kind| rule.kinds.has(kind)) {
                found[place(kind)].get_or_insert(index as u32);
            }
        }
    }
    let label = |rule: &Rule| Label { name: rule.name.clone(), origin: rule.origin.clone() };
    Suppressed { rules, labels: suppressions.rules.iter().map(label).collect() }
}

/// Nodes with kept objects of their own, each once.
fn chains_with_kept_objects<N: Number>(tree: &Tree<N>) -> Vec<u32> {
    let kept = tree.counts.iter().filter(|count| count.usage.kept().is_some());
    let mut nodes: Vec<u32> = kept.map(|count| count.node).collect();
    nodes.sort_unstable();
    nodes.dedup();
    nodes
}

/// Positions in a rule, as bits.
type Positions = u64;
const _: () =
    assert!(MAX_STEPS < Positions::BITS as usize, "the position behind the last step needs a bit too");

/// Positions where the innermost frame of a chain may stand: at the first step, behind wildcards, and behind a step
/// that is the allocation function, which is not on the chain.
fn starts(steps: &[Step]) -> Positions {
    let mut starts = 1;
    for (position, step) in steps.iter().enumerate() {
        match step {
            Step::Any => starts |= 2 << position,
            Step::Frame(matcher) => {
                if matcher.is_allocation() {
                    starts |= 2 << position;
                }
                break;
            }
        }
    }
    starts
}

/// For each node the positions from which the rest of the rule matches its chain, from the node outwards.
///
/// A node is handled after its caller, so each needs one pass over the steps: behind the last step everything
/// matches; a wildcard matches if the rest does without it or if it does at the caller; a frame matches if it is the
/// node's and the rest matches at the caller.
fn suffixes<N>(steps: &[Step], tree: &Tree<N>, matches: &Matches) -> Vec<Positions> {
    let beyond_start = beyond(steps, Matcher::is_start);
    let beyond_constructors = beyond(steps, Matcher::is_loader);
    let mut suffixes: Vec<Positions> = Vec::with_capacity(tree.nodes.len());
    for (id, node) in tree.nodes.iter().enumerate() {
        let outer = match node.parent {
            Some(parent) => suffixes[parent as usize],
            None if node.called_by_loader => beyond_constructors,
            None => beyond_start,
        };
        let here = matches.of_node(id, node);
        let mut positions: Positions = 1 << steps.len();
        for (position, step) in steps.iter().enumerate().rev() {
            let (bit, next) = (1 << position, 2 << position);
            let holds = match step {
                Step::Any => positions & next != 0 || outer & bit != 0,
                Step::Frame(_) => here & bit != 0 && outer & next != 0,
            };
            if holds {
                positions |= bit;
            }
        }
        suffixes.push(positions);
    }
    suffixes
}

/// The positions from which only steps follow that a chain's outer end may lack.
fn beyond(steps: &[Step], may_lack: fn(&Matcher) -> bool) -> Positions {
    let mut positions = 1 << steps.len();
    for (position, step) in steps.iter().enumerate().rev() {
        match step {
            Step::Frame(matcher) if !may_lack(matcher) => break,
            _ => positions |= 1 << position,
        }
    }
    positions
}

/// Which steps of a rule match which frames.
struct Matches {
    /// By function, for matchers that look at the function alone.
    of_functions: Vec<Positions>,
    /// By node, for matchers that look at the source line too; empty where the rule has none.
    of_nodes: Vec<Positions>,
}

impl Matches {
    /// Compares the rule with the tree; `None` where one of its frames is not in it, so that it cannot match.
    fn of<N>(rule: &Rule, tree: &Tree<N>) -> Option<Matches> {
        let mut of_functions = vec![0; tree.functions.len()];
        let mut of_nodes = Vec::new();
        for (position, step) in rule.steps.iter().enumerate() {
            let Step::Frame(matcher) = step else { continue };
            let bit: Positions = 1 << position;
            let mut found = (matcher.is_allocation() && starts(&rule.steps) & (bit << 1) != 0)
                || matcher.is_start()
                || matcher.is_loader();
            if matcher.looks_at_source() {
                of_nodes.resize(tree.nodes.len(), 0);
                found |= compare_nodes(matcher, tree, bit, &mut of_nodes);
            } else {
                for (function, positions) in of_functions.iter_mut().enumerate() {
                    if matcher.matches(&frame(tree, function as u32, None)) {
                        *positions |= bit;
                        found = true;
                    }
                }
            }
            if !found {
                return None;
            }
        }
        Some(Matches { of_functions, of_nodes })
    }

    fn of_node(&self, id: usize, node: &Node) -> Positions {
        self.of_functions[node.function as usize] | self.of_nodes.get(id).copied().unwrap_or(0)
    }
}

/// Sets `bit` at the nodes that match; says whether there are any.
fn compare_nodes<N>(matcher: &Matcher, tree: &Tree<N>, bit: Positions, of_nodes: &mut [Positions]) -> bool {
    let mut known = HashMap::new();
    let mut found = false;
    for (node, positions) in tree.nodes.iter().zip(of_nodes) {
        let place = (node.function, node.site.file, node.site.line);
        let matches =
            *known.entry(place).or_insert_with(|| matcher.matches(&frame(tree, node.function, Some(node))));
        if matches {
            *positions |= bit;
            found = true;
        }
    }
    found
}

fn frame<'t, N>(tree: &'t Tree<N>, function: u32, node: Option<&Node>) -> Frame<'t> {
    let function = &tree.functions[function];
    if matches!(function.kind, FunctionKind::Unknown | FunctionKind::Truncated) {
        return Frame::default();
    }
    let file = node.and_then(|node| node.site.file).map(|file| tree.files[file as usize].as_str());
    Frame {
        name: if function.kind == FunctionKind::Named { &function.name } else { "" },
        linkage_name: &function.linkage_name,
        module: &function.module_path,
        file: file.unwrap_or_default(),
        line: node.map_or(0, |node| node.site.line),
    }
}
