//! Call chains as stacks: chains through the same functions are one, whatever place in them, thread or process they
//! come from.

use crate::analysis::leaks::PathOptions;
use crate::analysis::tally::Usage;
use crate::analysis::tree::{Node, Site, Tree};
use crate::analysis::walk::{Visit, Walk};
use std::collections::HashMap;

/// A function on a stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stack {
    /// Functions above it on the stack.
    pub(super) depth: u32,
    /// Index in [`Stacks::labels`].
    pub(super) label: u32,
    /// Allocated by the function itself.
    pub(super) own: Usage,
    /// Allocated by it and the functions it called.
    pub(super) total: Usage,
}

/// What a function is called on stacks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Label {
    /// Its name, with the call site where that is wanted.
    pub(super) text: String,
    /// Function id.
    pub(super) function: u32,
}

/// All stacks, in preorder: behind each function stand those that it called, by label.
#[derive(Debug, Default)]
pub(super) struct Stacks {
    pub(super) list: Vec<Stack>,
    pub(super) labels: Vec<Label>,
}

impl Stacks {
    /// Joins the chains of a tree. Of `options` it is only asked whether call sites are told apart.
    pub(super) fn new(tree: &Tree, options: PathOptions) -> Stacks {
        let (label_of, labels) = labels(tree, options);
        let (joined, parents) = join(tree, &label_of);
        let mut own = vec![Usage::default(); parents.len()];
        for count in &tree.counts {
            own[joined[count.node as usize] as usize] += count.usage;
        }
        let mut total = own.clone();
        for id in (0..parents.len()).rev() {
            if let Some(parent) = parents[id].0 {
                let usage = total[id];
                total[parent as usize] += usage;
            }
        }
        let mut list = Vec::with_capacity(parents.len());
        let mut depth = 0;
        for visit in walk_by_label(&parents, &labels) {
            match visit {
                (Visit::Enter(_), id) => {
                    let id = id as usize;
                    // What was opened and never allocated in is of no use to anybody.
                    if total[id].allocs > 0 {
                        list.push(Stack { depth, label: parents[id].1, own: own[id], total: total[id] });
                    }
                    depth += 1;
                }
                (Visit::Leave(_), _) => depth -= 1,
            }
        }
        Stacks { list, labels }
    }
}

impl Stacks {
    /// The functions that are at most `deepest` above the outermost one and that `keep` is true of; it must be false
    /// of whatever is above one that it is false of.
    pub(super) fn thin(&self, deepest: u32, keep: impl Fn(&Usage) -> bool) -> Vec<Stack> {
        self.list.iter().filter(|stack| stack.depth <= deepest && keep(&stack.total)).copied().collect()
    }
}

/// The label of each node.
fn labels(tree: &Tree, options: PathOptions) -> (Vec<u32>, Vec<Label>) {
    let mut by_place: HashMap<(u32, Site), u32> = HashMap::new();
    let mut by_text: HashMap<(String, u32), u32> = HashMap::new();
    let mut labels: Vec<Label> = Vec::new();
    let mut label_of = |node: &Node| {
        let place = (node.function, options.told_apart(node.site));
        *by_place.entry(place).or_insert_with(|| {
            let (text, function, next) = (options.label(tree, node), node.function, labels.len() as u32);
            *by_text.entry((text.clone(), function)).or_insert_with(|| {
                labels.push(Label { text, function });
                next
            })
        })
    };
    let of_nodes = tree.nodes.iter().map(&mut label_of).collect();
    (of_nodes, labels)
}

/// The stack of each node, and the stacks' parents and labels.
fn join(tree: &Tree, label_of: &[u32]) -> (Vec<u32>, Vec<(Option<u32>, u32)>) {
    let mut known: HashMap<(Option<u32>, u32), u32> = HashMap::with_capacity(tree.nodes.len());
    let mut parents = Vec::new();
    let mut joined: Vec<u32> = Vec::with_capacity(tree.nodes.len());
    for (node, &label) in tree.nodes.iter().zip(label_of) {
        let key = (node.parent.map(|parent| joined[parent as usize]), label);
        let next = parents.len() as u32;
        let id = *known.entry(key).or_insert(next);
        if id == next {
            parents.push(key);
        }
        joined.push(id);
    }
    (joined, parents)
}

/// Visits stacks, those with the same parent by their labels' text; with each visit comes the stack's id.
fn walk_by_label(parents: &[(Option<u32>, u32)], labels: &[Label]) -> impl Iterator<Item = (Visit, u32)> {
    let mut by_text: Vec<u32> = (0..labels.len() as u32).collect();
    by_text.sort_by(|&a, &b| {
        let label = |id: u32| &labels[id as usize];
        (&label(a).text, label(a).function).cmp(&(&label(b).text, label(b).function))
    });
    let mut rank = vec![0; labels.len()];
    for (place, &label) in (0u32..).zip(&by_text) {
        rank[label as usize] = place;
    }
    // Numbered by level and label, a parent still comes before its children and they come in the right order.
    let mut level: Vec<u32> = Vec::with_capacity(parents.len());
    for (parent, _) in parents {
        level.push(parent.map_or(0, |parent| level[parent as usize] + 1));
    }
    let mut order: Vec<u32> = (0..parents.len() as u32).collect();
    order.sort_unstable_by_key(|&id| (level[id as usize], rank[parents[id as usize].1 as usize], id));
    let mut place = vec![0; parents.len()];
    for (at, &id) in (0u32..).zip(&order) {
        place[id as usize] = at;
    }
    let moved: Vec<Option<u32>> =
        order.iter().map(|&id| parents[id as usize].0.map(|parent| place[parent as usize])).collect();
    Walk::new(moved.into_iter()).map(move |visit| match visit {
        Visit::Enter(at) | Visit::Leave(at) => (visit, order[at as usize]),
    })
}
