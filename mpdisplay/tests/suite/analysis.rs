//! The analysis against its definition: what the tables say of random programs, computed again from their chains.

use crate::builder::ProfileBuilder;
use mpdisplay::analysis::bins::Bins;
use mpdisplay::analysis::direct::Direct;
use mpdisplay::analysis::graph::{Entry, Graph, GraphKind, Line, Subject};
use mpdisplay::analysis::leaks::{Depth, Leaks, PathOptions};
use mpdisplay::analysis::totals::Totals;
use mpdisplay::analysis::tree::Tree;
use mprof_format::model::Profile;
use std::collections::{BTreeMap, BTreeSet};

/// A small generator (SplitMix64, public domain by its authors), so that each test sees the same programs.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % end
    }
}

/// Allocations at the end of one chain.
struct Chain {
    functions: Vec<String>,
    size: u64,
    allocs: u64,
    frees: u64,
}

impl Chain {
    fn bytes(&self) -> u64 {
        self.size * self.allocs
    }

    /// Calls from one function to another.
    fn calls(&self) -> BTreeSet<(&str, &str)> {
        let pairs = self.functions.windows(2).map(|pair| (pair[0].as_str(), pair[1].as_str()));
        pairs.filter(|(caller, callee)| caller != callee).collect()
    }
}

/// A program of few functions, so that there is much recursion.
fn program(seed: u64) -> (Vec<Chain>, Profile) {
    let mut random = Random(seed);
    let functions = 3 + random.below(9);
    let mut chains = Vec::new();
    for _ in 0..1 + random.below(60) {
        let length = 1 + random.below(12);
        let functions = (0..length).map(|_| format!("f{}", random.below(functions))).collect();
        let (size, allocs) = (random.below(3000), random.below(100));
        let frees = if allocs == 0 { 0 } else { random.below(allocs + 1) };
        chains.push(Chain { functions, size, allocs, frees });
    }
    let mut builder = ProfileBuilder::new("random");
    for chain in &chains {
        builder.add(&chain.functions.join(" > "), chain.size, chain.allocs, chain.frees);
    }
    (chains, builder.build())
}

/// Objects and bytes over the chains that `wanted` chooses.
fn sum(chains: &[Chain], wanted: impl Fn(&Chain) -> bool) -> (u64, u64) {
    let chosen = chains.iter().filter(|chain| wanted(chain));
    chosen.fold((0, 0), |(allocs, bytes), chain| (allocs + chain.allocs, bytes + chain.bytes()))
}

fn name(tree: &Tree, function: u32) -> &str {
    &tree.functions[function].name
}

/// The entries about functions, by name.
fn functions<'g>(tree: &'g Tree, graph: &'g Graph) -> BTreeMap<&'g str, &'g Entry> {
    let entries = graph.entries.iter().filter_map(|entry| match entry.subject {
        Subject::Function(function) => Some((name(tree, function), entry)),
        Subject::Cycle(_) => None,
    });
    entries.collect()
}

const SEEDS: std::ops::Range<u64> = 0..100;

#[test]
fn the_tables_agree() {
    for seed in SEEDS {
        let (chains, profile) = program(seed);
        let tree = Tree::new([&profile]);
        for kind in [GraphKind::Merged, GraphKind::Exact] {
            let graph = Graph::new(&tree, kind);
            let totals = Totals::new(&tree, &Bins::new([&profile]), &Direct::new(&tree), &graph);
            assert!(totals.agree(), "seed {seed}: {totals:?}");
            assert_eq!((totals.direct.allocs, totals.direct.bytes), sum(&chains, |_| true), "seed {seed}");
        }
    }
}

#[test]
fn exact_graphs_count_each_allocation_once() {
    for seed in SEEDS {
        let (chains, profile) = program(seed);
        let tree = Tree::new([&profile]);
        let graph = Graph::new(&tree, GraphKind::Exact);
        for (function, entry) in functions(&tree, &graph) {
            let on = |chain: &Chain| chain.functions.iter().any(|on| on == function);
            let usage = entry.total.usage;
            assert_eq!((usage.allocs, usage.bytes), sum(&chains, on), "seed {seed}, {function}");
            let own = |chain: &Chain| chain.functions.last().is_some_and(|last| last == function);
            assert_eq!((entry.own.usage.allocs, entry.own.usage.bytes), sum(&chains, own));
            let entered = |chain: &Chain| chain.calls().iter().any(|call| call.1 == function);
            let left = |chain: &Chain| chain.calls().iter().any(|call| call.0 == function);
            assert_eq!(entry.called, sum(&chains, entered).0, "seed {seed}, {function}");
            assert_eq!(entry.ancestors.all.usage.bytes, sum(&chains, entered).1);
            assert_eq!(entry.descendents.all.usage.bytes, sum(&chains, left).1);
            let recurring = |chain: &Chain| {
                chain.functions.windows(2).any(|pair| pair[0] == function && pair[1] == function)
            };
            assert_eq!(entry.recurring, sum(&chains, recurring).0, "seed {seed}, {function}");
            check_calls(seed, &tree, &chains, function, entry);
        }
    }
}

/// Checks each line of an entry whose calls carry true numbers.
fn check_calls(seed: u64, tree: &Tree, chains: &[Chain], function: &str, entry: &Entry) {
    let check = |line: &Line, call: (&str, &str), of: (u64, u64)| {
        let usage = line.tally.usage;
        let over = sum(chains, |chain| chain.calls().contains(&call));
        if !line.within_cycle {
            assert_eq!((usage.allocs, usage.bytes), over, "seed {seed}, {call:?}");
        }
        assert_eq!((usage.allocs, line.of_allocs), (over.0, of.0), "seed {seed}, {call:?}");
    };
    for line in &entry.ancestors.lines {
        let caller = name(tree, line.function);
        let leaving = sum(chains, |chain| chain.calls().iter().any(|call| call.0 == caller));
        check(line, (caller, function), leaving);
    }
    for line in &entry.descendents.lines {
        let callee = name(tree, line.function);
        let entering = sum(chains, |chain| chain.calls().iter().any(|call| call.1 == callee));
        check(line, (function, callee), entering);
    }
}

#[test]
fn merged_graphs_have_no_byte_twice() {
    for seed in SEEDS {
        let (chains, profile) = program(seed);
        let tree = Tree::new([&profile]);
        let graph = Graph::new(&tree, GraphKind::Merged);
        for (function, entry) in functions(&tree, &graph) {
            check_calls(seed, &tree, &chains, function, entry);
        }
        for (number, cycle) in (0..).zip(&graph.cycles) {
            let members: BTreeSet<&str> =
                cycle.members.iter().map(|&(member, _)| name(&tree, member)).collect();
            let inside = |function: &String| members.contains(function.as_str());
            let entry = &graph.entries[cycle.entry as usize];
            assert_eq!(entry.subject, Subject::Cycle(number));
            let through = sum(&chains, |chain| chain.functions.iter().any(inside));
            assert_eq!((entry.total.usage.allocs, entry.total.usage.bytes), through, "seed {seed}");
            let entered = sum(&chains, |chain| {
                chain.functions.windows(2).any(|pair| !inside(&pair[0]) && inside(&pair[1]))
            });
            assert_eq!(entry.called, entered.0, "seed {seed}");
            let lines = |lines: &[Line]| lines.iter().map(|line| line.tally.usage.bytes).sum::<u64>();
            assert_eq!(lines(&entry.ancestors.lines), entry.ancestors.all.usage.bytes, "seed {seed}");
            assert_eq!(
                entry.own.usage.bytes + lines(&entry.descendents.lines),
                entry.total.usage.bytes,
                "seed {seed}: a chain leaves a cycle at most once"
            );
            let by_name = functions(&tree, &graph);
            let parts: u64 = members
                .iter()
                .filter_map(|member| by_name.get(member))
                .map(|entry| entry.total.usage.bytes)
                .sum();
            assert_eq!(parts, entry.total.usage.bytes, "seed {seed}: the members add up to the cycle");
        }
    }
}

#[test]
fn entries_are_numbered_by_falling_bytes_then_name() {
    for seed in SEEDS {
        let (_, profile) = program(seed);
        let tree = Tree::new([&profile]);
        let graph = Graph::new(&tree, GraphKind::Exact);
        let keys: Vec<_> = graph
            .entries
            .iter()
            .map(|entry| match entry.subject {
                Subject::Function(function) => {
                    (u64::MAX - entry.total.usage.bytes, name(&tree, function).to_owned())
                }
                Subject::Cycle(_) => unreachable!("exact graphs have no cycles"),
            })
            .collect();
        assert!(keys.is_sorted(), "seed {seed}");
        for (index, entry) in (0..).zip(&graph.entries) {
            let Subject::Function(function) = entry.subject else { unreachable!() };
            assert_eq!(graph.index_of(function), Some(index));
        }
    }
}

/// The path of a chain, by definition.
fn path(functions: &[String], depth: usize) -> String {
    let shown = &functions[functions.len().saturating_sub(depth)..];
    let beginning = if shown.len() < functions.len() { "..." } else { "||" };
    format!("{beginning} > {}", shown.join(" > "))
}

#[test]
fn leaks_are_grouped_by_shown_path() {
    for seed in SEEDS {
        let (chains, profile) = program(seed);
        let tree = Tree::new([&profile]);
        for depth in [1, 2, 3, 5, 6, 8, 12, 100, u32::MAX] {
            let mut wanted: BTreeMap<String, (u64, u64)> = BTreeMap::new();
            for chain in &chains {
                let kept = wanted.entry(path(&chain.functions, depth as usize)).or_default();
                kept.0 += chain.allocs - chain.frees;
                kept.1 += chain.size * (chain.allocs - chain.frees);
            }
            wanted.retain(|_, kept| kept.0 > 0);
            let depths = if depth == u32::MAX {
                vec![Depth::All, Depth::Last(depth)]
            } else {
                vec![Depth::Last(depth)]
            };
            for depth in depths {
                let leaks = Leaks::new(&tree, PathOptions { depth, ..PathOptions::default() });
                let row = |row| (leaks.path(row).to_string(), row.usage);
                let rows = leaks.rows.iter().map(row);
                let found: Vec<_> =
                    rows.map(|(path, usage)| (path, (usage.kept(), usage.kept_bytes()))).collect();
                assert_eq!(found.len(), wanted.len(), "seed {seed}, {depth:?}");
                assert_eq!(found.into_iter().collect::<BTreeMap<_, _>>(), wanted, "seed {seed}, {depth:?}");
            }
        }
    }
}
