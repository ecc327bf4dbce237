//! How much of call chains is written where each allocation's is repeated.

use crate::analysis::tree::Tree;

/// Functions in the chain of each node, itself included.
pub(super) fn lengths(tree: &Tree) -> Vec<u32> {
    let mut lengths: Vec<u32> = Vec::with_capacity(tree.nodes.len());
    for node in &tree.nodes {
        lengths.push(node.parent.map_or(0, |parent| lengths[parent as usize]) + 1);
    }
    lengths
}

/// The longest length to which chains must be cut so that all of them together have at most `budget` functions (but
/// at least one each); `None` where none needs to be cut.
pub(super) fn longest(lengths: impl IntoIterator<Item = u32>, budget: u64) -> Option<u32> {
    let mut lengths: Vec<u32> = lengths.into_iter().collect();
    let sum: u64 = lengths.iter().map(|&length| u64::from(length)).sum();
    if sum <= budget {
        return None;
    }
    lengths.sort_unstable();
    // Cut to the length of one, the shorter ones stay whole and all others get as long as it is.
    let (mut below, mut left) = (0, lengths.len() as u64);
    for &length in &lengths {
        if below + u64::from(length) * left > budget {
            return Some(u32::try_from((budget - below) / left).unwrap_or(u32::MAX).max(1));
        }
        below += u64::from(length);
        left -= 1;
    }
    None
}

/// What one must know of chains that were cut.
pub(super) fn note(longest: Option<u32>) -> Vec<String> {
    let note = |longest| format!("long call chains are cut to their last {longest} functions");
    longest.map(note).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_cut_that_fits() {
        assert_eq!(longest([5, 1, 3], 9), None);
        assert_eq!(longest([], 0), None);
    }

    #[test]
    fn the_longest_are_cut_as_far_as_needed() {
        assert_eq!(longest([5, 1, 3], 8), Some(4));
        assert_eq!(longest([5, 1, 3], 7), Some(3));
        assert_eq!(longest([5, 1, 3], 6), Some(2));
        assert_eq!(longest([10, 10, 10], 20), Some(6));
        assert_eq!(longest([10, 10, 10], 0), Some(1), "one function always stays");
        assert_eq!(longest(1..=20_000, 1 << 20), Some(52));
    }
}
