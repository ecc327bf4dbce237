//! What a random program says about itself.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use crate::facts::{Totals, totals};

/// The names that the runtime's functions have in a report, in the order of `runtime.h`.
const OWN: [&str; 8] =
    ["main", "worker", "work", "coroutine", "handler", "Guard::~Guard", "operator new", ALLOCATE_EXCEPTION];

/// Allocates the exceptions. The sizes are the C++ library's affair: the truth has numbers of objects only.
pub(crate) const ALLOCATE_EXCEPTION: &str = "__cxa_allocate_exception";

/// A call chain, outermost function first.
pub(crate) type Chain = Vec<String>;

/// A program's own account of one run.
#[derive(Debug)]
pub(crate) struct Truth {
    /// What was allocated at the ends of all chains at whose ends something was.
    pub chains: BTreeMap<Chain, Totals>,
    /// All functions that the truth knows of.
    pub functions: BTreeSet<String>,
}

impl Truth {
    /// Reads the file that a program with these functions, besides the runtime's, wrote.
    ///
    /// # Panics
    /// When it is not what the runtime writes.
    pub(crate) fn read(path: &Path, functions: &[String]) -> Truth {
        let names: Vec<String> =
            OWN.iter().map(|name| (*name).to_owned()).chain(functions.iter().cloned()).collect();
        let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        // Of each node, in order; the first, above all chains, is not in the file.
        let mut chains: Vec<Chain> = vec![Vec::new()];
        let mut ends = BTreeMap::new();
        for line in text.lines() {
            let numbers: Vec<u64> =
                line.split(' ').map(|word| word.parse().expect("the runtime writes numbers")).collect();
            let [parent, function, allocs, bytes, frees, freed_bytes] = numbers[..] else {
                panic!("{}: not a node: {line:?}", path.display());
            };
            let [parent, function] =
                [parent, function].map(|number| usize::try_from(number).expect("an index"));
            let mut chain = chains[parent].clone();
            chain.push(names[function].clone());
            if allocs > 0 {
                ends.insert(chain.clone(), totals(allocs, bytes, frees, freed_bytes));
            }
            chains.push(chain);
        }
        Truth { chains: ends, functions: names.into_iter().collect() }
    }
}
