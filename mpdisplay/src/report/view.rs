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
use crate::analysis::types::Types;
use crate::analysis::unmatched::Unmatched;
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
    /// The types, where a garbage collector frees; `None` for the same reason.
    pub types: Option<Types<N>>,
    /// The sum over the chains.
    pub total: Usage<N>,
    /// The same with the chains that do not count.
    pub all: Usage<N>,
    /// Patterns that mean nothing on any chain.
    pub unmatched: Vec<Unmatched>,
}

impl View {
    /// What there is to see of the parts, summed.
    pub fn new(parts: &[Part<'_>], options: &Options) -> Self {
        let whole = whole_profiles(parts, options);
        let types = whole.clone().map(Types::new);
        let bins = whole.filter(|_| options.half.is_freed()).map(Bins::new);
        View::of(Tree::of(parts.iter().cloned()), bins, types, options)
    }
}

impl View<Change> {
    /// What there is to see of two states that are compared.
    pub fn comparing([before, after]: [&[Part<'_>]; 2], options: &Options) -> Self {
        let whole = whole_profiles(before, options).zip(whole_profiles(after, options));
        let bins = whole.as_ref().map(|(before, after)| Bins::comparing(before, after));
        let types = whole.map(|(before, after)| Types::comparing(&before, &after));
        View::of(Tree::comparing(before, after), bins, types, options)
    }
}

impl<N: Shown> View<N> {
    fn of(mut tree: Tree<N>, bins: Option<Bins<N>>, types: Option<Types<N>>, options: &Options) -> Self {
        if options.at_peak {
            tree.retain_peak();
        }
        let all = total(&tree);
        let unmatched = Unmatched::of(&tree, &options.chains, &options.show);
        options.chains.apply(&mut tree);
        if options.by == By::Module {
            tree = by_module(tree);
        }
        View { total: total(&tree), tree, bins, types, all, unmatched }
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

/// The profiles whose sizes and types are counted.
fn whole_profiles<'p>(parts: &[Part<'p>], options: &Options) -> Option<Vec<&'p Profile>> {
    let whole = parts.iter().all(Part::is_whole) && !options.chains.chooses() && !options.at_peak;
    whole.then(|| parts.iter().map(|part| part.profile).collect())
}
