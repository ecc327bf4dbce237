//! What the lines of the source allocated: gprof's annotated source (`gprof -A`), for memory.

use super::glob::Glob;
use super::number::Number;
use super::pattern::means_path;
use super::tally::Usage;
use super::tree::Tree;
use super::walk::{Visit, Walk};
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

/// What a line allocated.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LineUsage<N = u64> {
    /// By the calls in it, however deep below: each allocation once, however often the line is on its chain.
    pub through: Usage<N>,
    /// By calls in it of the allocation functions, or of functions whose lines are not known.
    pub own: Usage<N>,
}

/// A source file with lines that allocated.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct File<N = u64> {
    /// Its path, printable.
    pub path: String,
    /// What its lines allocated themselves: the sum of [`LineUsage::own`].
    pub own: Usage<N>,
    /// The allocations of whose chain the innermost line in a preferred file is in this one.
    pub weight: Usage<N>,
    /// The lines that are on call chains, by number.
    pub lines: BTreeMap<u32, LineUsage<N>>,
}

/// The source of a program, as far as it is on call chains.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Annotation<N = u64> {
    /// Files by falling bytes of their weight, then of their own, then by path.
    pub files: Vec<File<N>>,
}

impl<N: Number> Annotation<N> {
    /// Sums over the calls of the tree. `preferred` says of paths whether people want to see the file: libraries'
    /// headers would else take most of what a program allocates.
    pub fn new(tree: &Tree<N>, preferred: impl Fn(&str) -> bool) -> Self {
        let mut files: HashMap<u32, File<N>> = HashMap::new();
        for ((file, line), through) in through_lines(tree) {
            let path = || tree.files[file as usize].clone();
            let file = files.entry(file).or_insert_with(|| File { path: path(), ..File::default() });
            file.lines.insert(line, LineUsage { through, own: Usage::default() });
        }
        let preferred: Vec<bool> = tree.files.iter().map(|path| preferred(path)).collect();
        let innermost = innermost_lines(tree, |_| true);
        let innermost_preferred = innermost_lines(tree, |file| preferred[file as usize]);
        for count in &tree.counts {
            if let Some((file, line)) = innermost[count.node as usize]
                && let Some(file) = files.get_mut(&file)
            {
                file.own += count.usage;
                if let Some(line) = file.lines.get_mut(&line) {
                    line.own += count.usage;
                }
            }
            if let Some((file, _)) = innermost_preferred[count.node as usize]
                && let Some(file) = files.get_mut(&file)
            {
                file.weight += count.usage;
            }
        }
        let mut files: Vec<File<N>> = files.into_values().collect();
        files.sort_by(|a, b| {
            let rank = |file: &File<N>| Reverse((file.weight.bytes.weight(), file.own.bytes.weight()));
            rank(a).cmp(&rank(b)).then_with(|| a.path.cmp(&b.path))
        });
        Annotation { files }
    }

    /// The files that `name` means: a whole path, its last components or a glob of them.
    pub fn named(&self, name: &str) -> impl Iterator<Item = &File<N>> {
        let glob = Glob::new(name);
        self.files.iter().filter(move |file| means_path(&glob, &file.path))
    }
}

/// What was allocated over calls in each line, by file id and number, each allocation once.
fn through_lines<N: Number>(tree: &Tree<N>) -> HashMap<(u32, u32), Usage<N>> {
    let mut lines: HashMap<(u32, u32), Usage<N>> = HashMap::new();
    let mut on_chain: HashMap<(u32, u32), u32> = HashMap::new();
    let tallies = tree.subtree_tallies();
    for visit in Walk::new(tree.nodes.iter().map(|node| node.parent)) {
        let (Visit::Enter(id) | Visit::Leave(id)) = visit;
        let usage = tallies[id as usize].usage;
        let Some(line) = tree.nodes[id as usize].site.known_line().filter(|_| usage.allocs.is_some()) else {
            continue;
        };
        let times = on_chain.entry(line).or_default();
        match visit {
            Visit::Enter(_) => {
                *times += 1;
                if *times == 1 {
                    *lines.entry(line).or_default() += usage;
                }
            }
            Visit::Leave(_) => *times -= 1,
        }
    }
    lines
}

/// For each node the innermost line of its chain that is known and in a file that `counts`.
fn innermost_lines<N>(tree: &Tree<N>, counts: impl Fn(u32) -> bool) -> Vec<Option<(u32, u32)>> {
    let mut lines: Vec<Option<(u32, u32)>> = Vec::with_capacity(tree.nodes.len());
    for node in &tree.nodes {
        let own = node.site.known_line().filter(|&(file, _)| counts(file));
        lines.push(own.or_else(|| node.parent.and_then(|parent| lines[parent as usize])));
    }
    lines
}
