//! What the tables are made from: the call chains as the options want them.

use super::number::Shown;
use super::options::{By, Options};
use crate::analysis::bins::Bins;
use crate::analysis::leaks::Leaks;
use crate::analysis::modules::by_module;
use crate::analysis::number::Change;
use crate::analysis::part::Part;
use crate::analysis::tally::Usage;
use crate::analysis::tree::Tree;
use crate::suppress;
use mprof_format::model::Profile;

/// Call chains chosen and changed as the options say, and the sizes of what was allocated.
#[derive(Debug, Clone)]
pub struct View<N = u64> {
    /// The chains.
    pub tree: Tree<N>,
    /// The sizes; `None` where they are not known, because chains, threads or the peak are chosen: sizes are
    /// recorded for whole processes only.
    pub bins: Option<Bins<N>>,
    /// The sum over the chains.
    pub total: Usage<N>,
    /// The same with the chains that do not count.
    pub all: Usage<N>,
}

impl View {
    /// What there is to see of the parts, summed.
    pub fn new(parts: &[Part<'_>], options: &Options) -> Self {
        let bins = bins_of(parts, options).map(Bins::new);
        View::of(Tree::of(parts.iter().cloned()), bins, options)
    }
}

impl View<Change> {
    /// What there is to see of two states that are compared.
    pub fn comparing([before, after]: [&[Part<'_>]; 2], options: &Options) -> Self {
        let bins = bins_of(before, options).zip(bins_of(after, options));
        let bins = bins.map(|(before, after)| Bins::comparing(&before, &after));
        View::of(Tree::comparing(before, after), bins, options)
    }
}

impl<N: Shown> View<N> {
    fn of(mut tree: Tree<N>, bins: Option<Bins<N>>, options: &Options) -> Self {
        if options.at_peak {
            tree.retain_peak();
        }
        let all = total(&tree);
        options.chains.apply(&mut tree);
        if options.by == By::Module {
            tree = by_module(tree);
        }
        View { total: total(&tree), tree, bins, all }
    }

    /// The leak table, without what is suppressed.
    pub fn leaks(&self, options: &Options) -> Leaks<'_, N> {
        let suppressed = suppress::apply(&options.suppressions, &self.tree);
        Leaks::beyond(&self.tree, options.paths, &suppressed)
    }
}

/// What was allocated over all chains.
fn total<N: Shown>(tree: &Tree<N>) -> Usage<N> {
    let mut total = Usage::default();
    tree.counts.iter().for_each(|count| total += count.usage);
    total
}

/// The profiles whose sizes are counted.
fn bins_of<'p>(parts: &[Part<'p>], options: &Options) -> Option<Vec<&'p Profile>> {
    let whole = parts.iter().all(Part::is_whole) && !options.chains.chooses() && !options.at_peak;
    whole.then(|| parts.iter().map(|part| part.profile).collect())
}
