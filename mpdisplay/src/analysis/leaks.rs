//! The leak table: kept objects by the last callers of their call chains (paper, section 2.2).

use super::functions::{Function, FunctionKind, TRUNCATED, UNKNOWN};
use super::kinds::Kinds;
use super::number::Number;
use super::tally::Usage;
use super::text::base_name;
use super::tree::{Node, Site, Tree};
use crate::suppress::{Label, Suppressed};
use mprof_format::model::Class;
use std::collections::{BTreeMap, HashMap};
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
    pub fn label<N: Number>(&self, tree: &Tree<N>, node: &Node) -> String {
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
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
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
pub struct LeakRow<N = u64> {
    /// What was allocated over the path, freed objects included.
    pub usage: Usage<N>,
    /// What the program could still do with the kept objects; `None` where they were not classified.
    pub kind: Option<Class>,
    /// How it compares with an earlier run.
    pub since: Since,
    /// A node whose chain ends in the path; see [`Leaks::path`].
    node: u32,
}

/// How a path's kept objects compare with those of an earlier run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Since {
    /// There is nothing to compare with.
    Unknown,
    /// The path kept nothing in the earlier run.
    New,
    /// It kept less.
    Grown {
        /// Kept objects more than then; 0 where only the bytes are more.
        objects: u64,
        /// Kept bytes more than then; 0 where only the objects are more.
        bytes: u64,
    },
}

impl LeakRow {
    /// Kept objects and bytes that the earlier run had not; all of them where there is none.
    pub fn excess(&self) -> (u64, u64) {
        match self.since {
            Since::Unknown | Since::New => (self.usage.kept(), self.usage.kept_bytes()),
            Since::Grown { objects, bytes } => (objects, bytes),
        }
    }
}

/// Kept objects that are no rows of the table, and why not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SuppressedLeaks<N = u64> {
    /// The suppression.
    pub label: Label,
    /// What was allocated over the chains that it matches.
    pub usage: Usage<N>,
}

/// Rows that an earlier run had already.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Known {
    /// How many.
    pub paths: u64,
    /// What was allocated over them.
    pub usage: Usage,
}

/// The leak table: one row for each different shown path, in no particular order.
#[derive(Debug)]
pub struct Leaks<'t, N = u64> {
    tree: &'t Tree<N>,
    options: PathOptions,
    /// Paths with kept objects, those that are suppressed not counted.
    pub rows: Vec<LeakRow<N>>,
    /// What is suppressed: by falling kept bytes, then by label.
    pub suppressed: Vec<SuppressedLeaks<N>>,
    /// What is not new, where there is an earlier run to compare with.
    pub known: Option<Known>,
    /// Everything that was allocated.
    pub total: Usage<N>,
    /// Whether rows have kinds: then a path has one for each of its kinds.
    pub classified: bool,
}

impl<'t, N: Number> Leaks<'t, N> {
    /// Gathers the paths. Takes time in proportion to the tree, times the logarithm of the depth.
    pub fn new(tree: &'t Tree<N>, options: PathOptions) -> Self {
        Leaks::beyond(tree, options, &Suppressed::default())
    }

    /// The same for the chains that are not suppressed.
    pub fn beyond(tree: &'t Tree<N>, options: PathOptions, suppressed: &Suppressed) -> Self {
        let keys = path_keys(tree, options);
        let mut row_of: HashMap<((u32, Beginning), Option<Class>), usize> = HashMap::new();
        let mut rows: Vec<LeakRow<N>> = Vec::new();
        let mut hidden: BTreeMap<usize, Usage<N>> = BTreeMap::new();
        let mut total = Usage::default();
        for count in &tree.counts {
            total += count.usage;
            if let Some(rule) = suppressed.rule(count.node, count.kind) {
                *hidden.entry(rule).or_default() += count.usage;
                continue;
            }
            let next = rows.len();
            let (key, kind) = (keys[count.node as usize], count.kind);
            let row = *row_of.entry((key, kind)).or_insert(next);
            if row == next {
                let node = count.node;
                rows.push(LeakRow { usage: Usage::default(), kind, since: Since::Unknown, node });
            }
            rows[row].usage += count.usage;
        }
        // What was freed has no kind, and stands with the first kind of the path.
        for (&(key, kind), &row) in row_of.iter().filter(|((_, kind), _)| kind.is_none()) {
            let first = Class::ALL.iter().find_map(|&kind| row_of.get(&(key, Some(kind))));
            if let (None, Some(&first), false) = (kind, first, rows[row].usage.kept().is_some()) {
                let freed = std::mem::take(&mut rows[row].usage);
                rows[first].usage += freed;
            }
        }
        rows.retain(|row| row.usage.kept().is_some());
        // In a comparison only what has changed is told.
        let hidden = hidden
            .into_iter()
            .filter(|(_, usage)| usage.kept().weight() > 0 || usage.kept_bytes().weight() > 0);
        let mut hidden: Vec<SuppressedLeaks<N>> = hidden
            .map(|(rule, usage)| SuppressedLeaks { label: suppressed.label(rule).clone(), usage })
            .collect();
        hidden.sort_by(|a, b| {
            b.usage
                .kept_bytes()
                .weight()
                .cmp(&a.usage.kept_bytes().weight())
                .then_with(|| a.label.cmp(&b.label))
        });
        let classified = tree.classified;
        Leaks { tree, options, rows, suppressed: hidden, known: None, total, classified }
    }

    /// The same with the rows of these kinds alone, and those that have none.
    #[must_use]
    pub fn of_kinds(&self, kinds: Kinds) -> Self {
        let rows = self.rows.iter().copied().filter(|row| kinds.has(row.kind)).collect();
        Leaks { rows, suppressed: self.suppressed.clone(), ..*self }
    }

    /// The functions of a row's whole chain, innermost first, with the places of their calls. Where several chains
    /// end in the path, one of them.
    pub fn chain(&self, row: &LeakRow<N>) -> impl Iterator<Item = (&'t Function, Site)> {
        let tree = self.tree;
        ancestors(tree, row.node).map(move |node| (&tree.functions[node.function], node.site))
    }

    /// Callers that the path of a row shows.
    pub fn shown_callers(&self, row: &LeakRow<N>) -> usize {
        reach(self.tree, row.node, self.options.depth).0
    }

    /// The path of a source file that a [`Site`] names.
    pub fn file(&self, file: u32) -> &'t str {
        &self.tree.files[file as usize]
    }

    /// The shown path of a row.
    pub fn path(&self, row: &LeakRow<N>) -> Path {
        self.path_within(row, self.options.depth)
    }

    /// The path of a row with another number of callers.
    pub fn path_within(&self, row: &LeakRow<N>, depth: Depth) -> Path {
        let (_, beginning) = reach(self.tree, row.node, depth);
        let callers = self.callers_within(row, depth).map(|(_, node)| label(self.tree, node, self.options));
        let mut callers: Vec<String> = callers.collect();
        callers.reverse();
        Path { beginning, callers }
    }

    /// The callers that the path of a row shows, innermost first, with their node ids. Where several chains end in
    /// the path, those of one of them.
    pub fn callers(&self, row: &LeakRow<N>) -> impl Iterator<Item = (u32, &'t Node)> {
        self.callers_within(row, self.options.depth)
    }

    /// The callers of another number of them.
    pub fn callers_within(&self, row: &LeakRow<N>, depth: Depth) -> impl Iterator<Item = (u32, &'t Node)> {
        let nodes = &self.tree.nodes;
        let (reach, _) = reach(self.tree, row.node, depth);
        let outwards = std::iter::successors(Some(row.node), |&node| nodes[node as usize].parent);
        outwards.take(reach).map(|node| (node, &nodes[node as usize]))
    }
}

impl Leaks<'_> {
    /// Takes out the rows that `before`, the same table of an earlier run, has with at least as many kept objects
    /// and bytes, and notes at the others what is new. Paths are the same if they are shown the same; where both tables
    /// have kinds, these have to be the same too.
    pub fn compare(&mut self, before: &Leaks<'_>) {
        let by_kind = self.classified && before.classified;
        let key = |path: Path, row: &LeakRow| (path, row.kind.filter(|_| by_kind));
        let mut then: HashMap<(Path, Option<Class>), Usage> = HashMap::new();
        for row in &before.rows {
            *then.entry(key(before.path(row), row)).or_default() += row.usage;
        }
        let mut known = self.known.take().unwrap_or_default();
        let mut rows = std::mem::take(&mut self.rows);
        rows.retain_mut(|row| {
            let Some(then) = then.get(&key(self.path(row), row)) else {
                row.since = Since::New;
                return true;
            };
            let objects = row.usage.kept().saturating_sub(then.kept());
            let bytes = row.usage.kept_bytes().saturating_sub(then.kept_bytes());
            row.since = Since::Grown { objects, bytes };
            let grown = objects > 0 || bytes > 0;
            if !grown {
                known.paths += 1;
                known.usage += row.usage;
            }
            grown
        });
        (self.rows, self.known) = (rows, Some(known));
    }

    /// Rows by falling kept bytes, then by path and kind.
    pub fn sorted(&self) -> Vec<(LeakRow, Path)> {
        let mut rows: Vec<(LeakRow, Path)> = self.rows.iter().map(|row| (*row, self.path(row))).collect();
        rows.sort_by(|(a, at), (b, to)| {
            let order = b.usage.kept_bytes().cmp(&a.usage.kept_bytes());
            order.then_with(|| at.to_string().cmp(&to.to_string())).then_with(|| a.kind.cmp(&b.kind))
        });
        rows
    }
}

/// A node and its callers, innermost first.
fn ancestors<N>(tree: &Tree<N>, node: u32) -> impl Iterator<Item = &Node> {
    std::iter::successors(Some(&tree.nodes[node as usize]), |node| {
        node.parent.map(|parent| &tree.nodes[parent as usize])
    })
}

/// How many callers the path to `node` shows, and how it begins.
fn reach<N>(tree: &Tree<N>, node: u32, depth: Depth) -> (usize, Beginning) {
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
fn open_end<N>(tree: &Tree<N>, node: &Node) -> Option<Beginning> {
    match tree.functions[node.function].kind {
        FunctionKind::Unknown => Some(Beginning::Unknown),
        FunctionKind::Truncated => Some(Beginning::Cut),
        _ => None,
    }
}

/// A caller as a path shows it.
fn label<N>(tree: &Tree<N>, node: &Node, options: PathOptions) -> String {
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

/// The shown path that the chain of a node ends in.
pub(crate) fn path_to<N>(tree: &Tree<N>, node: u32, options: PathOptions) -> Path {
    let (shown, beginning) = reach(tree, node, options.depth);
    let callers = ancestors(tree, node).take(shown).map(|node| label(tree, node, options));
    let mut callers: Vec<String> = callers.collect();
    callers.reverse();
    Path { beginning, callers }
}

/// For each node a key that is the same for two nodes exactly if their shown paths are.
pub(crate) fn path_keys<N>(tree: &Tree<N>, options: PathOptions) -> Vec<(u32, Beginning)> {
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
fn label_ids<N>(tree: &Tree<N>, options: PathOptions) -> Vec<u32> {
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
fn levels<N>(tree: &Tree<N>) -> Vec<u32> {
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
fn beginnings<N>(tree: &Tree<N>) -> Vec<Beginning> {
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
fn all_labels<N>(tree: &Tree<N>, labels: &[u32]) -> Vec<u32> {
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
fn last_labels<N>(tree: &Tree<N>, labels: &[u32], limit: u32) -> Vec<u32> {
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
