//! A profile against the truth: chains, functions, edges, leaks, and the tables that are made of them.

use std::collections::{BTreeMap, BTreeSet};

use super::truth::{ALLOCATE_EXCEPTION, Chain, Truth};
use crate::facts::{Totals, totals};
use crate::outcome::Outcome;

/// One run's profile and what the run said about itself.
pub(crate) struct Comparison<'a> {
    pub who: &'a str,
    pub truth: &'a Truth,
    pub outcome: &'a Outcome,
}

/// Bytes and objects that are kept.
type Kept = (u64, u64);

impl Comparison<'_> {
    /// Every chain of the truth has exactly its numbers in the profile, and there is no other. What follows from the
    /// chains is looked at too, each with its own way of adding up: functions, edges, all kept objects.
    pub(crate) fn assert_same(&self) {
        let Comparison { who, truth, outcome } = self;
        let facts = outcome.facts();
        facts.assert_consistent();
        let mut found = self.chains();
        let mut wanted = truth.chains.clone();
        self.assert_exceptions(&mut found, &mut wanted);
        for (chain, totals) in &wanted {
            assert_eq!(found.get(chain), Some(totals), "{who}: {}", chain.join(" > "));
        }
        for (chain, totals) in &found {
            assert!(wanted.contains_key(chain), "{who}: not in the truth: {} {totals:?}", chain.join(" > "));
        }
        for function in &truth.functions {
            let direct = sum(&wanted, |chain| chain.last() == Some(function));
            if function != ALLOCATE_EXCEPTION {
                assert_eq!(facts.direct(function), direct, "{who}: allocated directly by {function}");
            }
        }
    }

    /// The profile's chains, without the frames of the C and C++ libraries in them (of signals and of system calls).
    /// What others than the program's functions and the thrown exceptions allocate is left out; only starting threads
    /// and libraries do that.
    fn chains(&self) -> BTreeMap<Chain, Totals> {
        let known = |function: &str| self.truth.functions.contains(function);
        let mut chains: BTreeMap<Chain, Totals> = BTreeMap::new();
        for (chain, totals) in self.outcome.facts().chains() {
            let functions: Vec<&str> = chain.split(" > ").collect();
            let lost = functions.iter().any(|function| *function == "[unknown]" || *function == "...");
            assert!(!lost, "{}: a chain that is not whole: {chain}", self.who);
            let own: Chain =
                functions.iter().filter(|name| known(name)).map(|name| (*name).to_owned()).collect();
            if functions.last().is_some_and(|last| known(last)) {
                *chains.entry(own).or_default() += totals;
            } else {
                assert!(own.is_empty() || own == ["main"], "{}: who allocates in {chain}?", self.who);
            }
        }
        chains
    }

    /// Exceptions are all of one size, which only the C++ library knows, and all freed: takes them out of both.
    fn assert_exceptions(&self, found: &mut BTreeMap<Chain, Totals>, wanted: &mut BTreeMap<Chain, Totals>) {
        let is_exception = |chain: &Chain| chain.last().is_some_and(|last| last == ALLOCATE_EXCEPTION);
        let all = sum(found, is_exception);
        let each = all.bytes.checked_div(all.allocs).unwrap_or(0);
        for (chain, totals) in wanted.iter_mut().filter(|(chain, _)| is_exception(chain)) {
            let bytes = each * totals.allocs;
            *totals = crate::freed(totals.allocs, bytes);
            assert!(found.contains_key(chain), "{}: no exception in {}", self.who, chain.join(" > "));
        }
    }

    /// The tables of mpdisplay have the truth's functions, edges and kept paths.
    pub(crate) fn assert_tables(&self) {
        let report = self.outcome.report(&["--verbose", "--depth", "all"]);
        let exact = self.outcome.report(&["--verbose", "--exact"]);
        report.assert_agree(&exact);
        let known = |name: &str| self.truth.functions.contains(name);
        let chains = self.chains();

        let mut kept: BTreeMap<Chain, Kept> = BTreeMap::new();
        for (path, objects, bytes) in report.leak_paths() {
            let own: Chain = path.into_iter().filter(|name| known(name)).collect();
            let sum = kept.entry(own).or_default();
            *sum = (sum.0 + objects, sum.1 + bytes);
        }
        for (chain, totals) in chains.iter().filter(|(_, totals)| totals.frees < totals.allocs) {
            let wanted = (totals.allocs - totals.frees, totals.bytes - totals.freed_bytes);
            assert_eq!(kept.get(chain), Some(&wanted), "{}: kept by {}", self.who, chain.join(" > "));
        }

        let edges = exact.edges();
        let by_libraries = BTreeSet::from(["handler", "coroutine", ALLOCATE_EXCEPTION]);
        for ((caller, callee), totals) in edges_of(&chains) {
            // Direct recursion is no edge of the table: it stands beside the entry's own calls.
            if caller == callee || by_libraries.contains(callee) {
                continue;
            }
            let edge = (caller.to_owned(), callee.to_owned());
            let wanted = Some(&(totals.bytes, totals.allocs));
            assert_eq!(edges.below.get(&edge), wanted, "{}: {caller} calls {callee}", self.who);
            assert_eq!(edges.above.get(&edge), wanted, "{}: {callee} is called by {caller}", self.who);
        }
    }
}

/// What was allocated over each edge, once however often it is on a chain.
fn edges_of(chains: &BTreeMap<Chain, Totals>) -> BTreeMap<(&str, &str), Totals> {
    let mut edges: BTreeMap<(&str, &str), Totals> = BTreeMap::new();
    for (chain, totals) in chains {
        let pairs: BTreeSet<(&str, &str)> =
            chain.windows(2).map(|pair| (pair[0].as_str(), pair[1].as_str())).collect();
        for pair in pairs {
            *edges.entry(pair).or_default() += *totals;
        }
    }
    edges
}

fn sum(chains: &BTreeMap<Chain, Totals>, matches: impl Fn(&Chain) -> bool) -> Totals {
    let mut sum = totals(0, 0, 0, 0);
    chains.iter().filter(|(chain, _)| matches(chain)).for_each(|(_, totals)| sum += *totals);
    sum
}
