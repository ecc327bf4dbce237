//! The leak table: kept objects by the last callers of their call chains (paper, section 2.2).

use super::functions::{FunctionKind, TRUNCATED, UNKNOWN};
use super::tally::Usage;
use super::text::base_name;
use super::tree::{Node, Site, Tree};
use std::collections::HashMap;
use std::fmt;

/// How many callers a path shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// The last so many, counted from the function that called the allocation function; at least 1.
    Last(u32),
    /// All.
    All,
}

impl Default for Depth {
    /// The paper's five.
    fn default() -> Self {
        Depth::Last(5)
    }
}

/// What tells the callers of a path apart.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PathOptions {
    /// How many callers are shown.
    pub depth: Depth,
    /// Tell call sites in a function apart by their offset in it.
    pub offsets: bool,
    /// Tell call sites in a function apart by their source line.
    pub lines: bool,
}

impl PathOptions {
    /// What of a call site tells callers apart.
    pub fn told_apart(&self, site: Site) -> Site {
        let Site { offset, file, line } = site;
        let (file, line) = if self.lines { (file, line) } else { (None, 0) };
        Site { offset: offset.filter(|_| self.offsets), file, line }
    }

    /// What a caller is called.
    pub fn label(&self, tree: &Tree, node: &Node) -> String {
        label(tree, node, *self)
    }
}

/// How a path begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Beginning {
    /// At the start of the program or a thread: `||`.
    Start,
    /// Callers were left out: `...`.
    Cut,
    /// It could not be followed further: `[unknown]`.
    Unknown,
}

/// A partial call path.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Path {
    /// How it begins.
    pub beginning: Beginning,
    /// Callers as shown, outermost first.
    pub callers: Vec<String>,
}

impl Beginning {
    /// How a path shows it.
    pub fn text(self) -> &'static str {
        match self {
            Beginning::Start => "||",
            Beginning::Cut => TRUNCATED,
            Beginning::Unknown => UNKNOWN,
        }
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.beginning.text())?;
        self.callers.iter().try_for_each(|caller| write!(f, " > {caller}"))
    }
}

/// One path with kept objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeakRow {
    /// What was allocated over the path, freed objects included.
    pub usage: Usage,
    /// A node whose chain ends in the path; see [`Leaks::path`].
    node: u32,
}

/// The leak table: one row for each different shown path, in no particular order.
#[derive(Debug)]
pub struct Leaks<'t> {
    tree: &'t Tree,
    options: PathOptions,
    /// Paths with kept objects.
    pub rows: Vec<LeakRow>,
    /// Everything that was allocated.
    pub total: Usage,
}

impl<'t> Leaks<'t> {
    /// Gathers the paths. Takes time in proportion to the tree, times the logarithm of the depth.
    pub fn new(tree: &'t Tree, options: PathOptions) -> Self {
        let keys = path_keys(tree, options);
        let mut row_of: HashMap<(u32, Beginning), usize> = HashMap::new();
        let mut rows: Vec<LeakRow> = Vec::new();
        let mut total = Usage::default();
        for count in &tree.counts {
            let next = rows.len();
            let row = *row_of.entry(keys[count.node as usize]).or_insert(next);
            if row == next {
                rows.push(LeakRow { usage: Usage::default(), node: count.node });
            }
            rows[row].usage += count.usage;
            total += count.usage;
        }
        rows.retain(|row| row.usage.kept() > 0);
        Leaks { tree, options, rows, total }
    }

    /// The shown path of a row.
    pub fn path(&self, row: &LeakRow) -> Path {
        let (reach, beginning) = reach(self.tree, row.node, self.options.depth);
        let mut callers: Vec<String> = ancestors(self.tree, row.node)
            .take(reach)
            .map(|node| label(self.tree, node, self.options))
            .collect();
        callers.reverse();
        Path { beginning, callers }
    }

    /// The functions of a row's shown callers, outermost first.
    pub fn functions(&self, row: &LeakRow) -> Vec<u32> {
        let (reach, _) = reach(self.tree, row.node, self.options.depth);
        let mut functions: Vec<u32> =
            ancestors(self.tree, row.node).take(reach).map(|node| node.function).collect();
        functions.reverse();
        functions
    }
}

/// A node and its callers, innermost first.
fn ancestors(tree: &Tree, node: u32) -> impl Iterator<Item = &Node> {
    std::iter::successors(Some(&tree.nodes[node as usize]), |node| {
        node.parent.map(|parent| &tree.nodes[parent as usize])
    })
}

/// How many callers the path to `node` shows, and how it begins.
fn reach(tree: &Tree, node: u32, depth: Depth) -> (usize, Beginning) {
    let limit = match depth {
        Depth::Last(limit) => limit.max(1) as usize,
        Depth::All => usize::MAX,
    };
    for (shown, ancestor) in ancestors(tree, node).enumerate() {
        if let (None, Some(beginning)) = (ancestor.parent, open_end(tree, ancestor)) {
            return (shown, beginning);
        }
        if shown == limit {
            return (shown, Beginning::Cut);
        }
        if ancestor.parent.is_none() {
            return (shown + 1, Beginning::Start);
        }
    }
    (0, Beginning::Start)
}

/// The beginning that an outermost node stands for, where it stands for callers that are not there.
fn open_end(tree: &Tree, node: &Node) -> Option<Beginning> {
    match tree.functions[node.function].kind {
        FunctionKind::Unknown => Some(Beginning::Unknown),
        FunctionKind::Truncated => Some(Beginning::Cut),
        _ => None,
    }
}

/// A caller as a path shows it.
fn label(tree: &Tree, node: &Node, options: PathOptions) -> String {
    let function = &tree.functions[node.function];
    let Site { offset, file, line } = node.site;
    let mut text = function.name.clone();
    if let (true, Some(offset)) = (options.offsets, offset) {
        text += &format!("+{offset}");
    }
    // A line says more than the file that tells two functions of one name apart.
    if let Some(file) = file.filter(|_| options.lines && line > 0) {
        text += &format!(" ({}:{line})", base_name(&tree.files[file as usize]));
    } else if let Some(apart) = &function.apart {
        text += &format!(" ({apart})");
    }
    text
}

/// For each node a key that is the same for two nodes exactly if their shown paths are.
fn path_keys(tree: &Tree, options: PathOptions) -> Vec<(u32, Beginning)> {
    let labels = label_ids(tree, options);
    let levels = levels(tree);
    let deepest = levels.iter().copied().max().unwrap_or(0);
    let windows = match options.depth {
        Depth::Last(limit) if limit.max(1) < deepest => last_labels(tree, &labels, limit.max(1)),
        _ => all_labels(tree, &labels),
    };
    let ends = beginnings(tree);
    let limit = match options.depth {
        Depth::Last(limit) => limit.max(1),
        Depth::All => u32::MAX,
    };
    let beginning = |id: usize| if levels[id] > limit { Beginning::Cut } else { ends[id] };
    windows.into_iter().enumerate().map(|(id, window)| (window, beginning(id))).collect()
}

/// Ids of the labels, from 1; 0 for an outermost node that stands for callers that are not there.
fn label_ids(tree: &Tree, options: PathOptions) -> Vec<u32> {
    let mut by_function: Vec<Option<u32>> = vec![None; tree.functions.len()];
    let mut by_site: HashMap<(u32, Site), u32> = HashMap::new();
    let mut by_text: HashMap<String, u32> = HashMap::new();
    let mut id_of_text = |node: &Node| {
        let next = by_text.len() as u32 + 1;
        *by_text.entry(label(tree, node, options)).or_insert(next)
    };
    let mut id = |node: &Node| {
        if node.parent.is_none() && open_end(tree, node).is_some() {
            return 0;
        }
        if !options.offsets && !options.lines {
            return *by_function[node.function as usize].get_or_insert_with(|| id_of_text(node));
        }
        *by_site.entry((node.function, node.site)).or_insert_with(|| id_of_text(node))
    };
    tree.nodes.iter().map(&mut id).collect()
}

/// Callers in the chain of each node, itself included, missing ones not.
fn levels(tree: &Tree) -> Vec<u32> {
    let mut levels: Vec<u32> = Vec::with_capacity(tree.nodes.len());
    for node in &tree.nodes {
        levels.push(match node.parent {
            Some(parent) => levels[parent as usize] + 1,
            None => u32::from(open_end(tree, node).is_none()),
        });
    }
    levels
}

/// How the whole chain of each node begins.
fn beginnings(tree: &Tree) -> Vec<Beginning> {
    let mut beginnings: Vec<Beginning> = Vec::with_capacity(tree.nodes.len());
    for node in &tree.nodes {
        beginnings.push(match node.parent {
            Some(parent) => beginnings[parent as usize],
            None => open_end(tree, node).unwrap_or(Beginning::Start),
        });
    }
    beginnings
}

/// Numbers pairs in the order of their appearance, from 1.
struct Pairs(HashMap<(u32, u32), u32>);

impl Pairs {
    fn with_room_for(count: usize) -> Self {
        Pairs(HashMap::with_capacity(count))
    }

    fn number(&mut self, first: u32, second: u32) -> u32 {
        let next = self.0.len() as u32 + 1;
        *self.0.entry((first, second)).or_insert(next)
    }
}

/// Numbers the whole chains of labels.
fn all_labels(tree: &Tree, labels: &[u32]) -> Vec<u32> {
    let mut pairs = Pairs::with_room_for(labels.len());
    let mut numbers: Vec<u32> = Vec::with_capacity(labels.len());
    for (node, &label) in tree.nodes.iter().zip(labels) {
        let outer = node.parent.map_or(0, |parent| numbers[parent as usize]);
        // An end that stands for missing callers has label 0 and no part in the path.
        numbers.push(if label == 0 { 0 } else { pairs.number(outer, label) });
    }
    numbers
}

/// Numbers the chains of the last `limit` labels by prefix doubling: the number of 2^k labels comes from the
/// numbers of two halves, and `limit` is a sum of powers of two. So the time does not grow with the depth but
/// with its logarithm.
fn last_labels(tree: &Tree, labels: &[u32], limit: u32) -> Vec<u32> {
    const NONE: u32 = u32::MAX;
    let count = labels.len();
    let mut numbers = labels.to_vec();
    let mut jumps: Vec<u32> = tree.nodes.iter().map(|node| node.parent.unwrap_or(NONE)).collect();
    let mut windows = vec![0; count];
    let mut positions: Vec<u32> = (0..count as u32).collect();
    let at = |numbers: &[u32], position: u32| if position == NONE { 0 } else { numbers[position as usize] };
    let jump = |jumps: &[u32], position: u32| if position == NONE { NONE } else { jumps[position as usize] };
    let last_bit = limit.ilog2();
    for bit in 0..=last_bit {
        if limit >> bit & 1 == 1 {
            let mut pairs = Pairs::with_room_for(count);
            for (window, position) in windows.iter_mut().zip(&mut positions) {
                *window = pairs.number(*window, at(&numbers, *position));
                *position = jump(&jumps, *position);
            }
        }
        if bit == last_bit {
            break;
        }
        let mut pairs = Pairs::with_room_for(count);
        numbers = (0..count).map(|id| pairs.number(numbers[id], at(&numbers, jumps[id]))).collect();
        jumps = jumps.iter().map(|&position| jump(&jumps, position)).collect();
    }
    windows
}
