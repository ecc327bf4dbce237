//! Visiting a tree whose nodes say their parents: callers before callees, without recursion, for chains may be
//! hundreds of thousands of functions long.

/// A step of the visit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Visit {
    /// A node is reached; the nodes entered and not yet left are its chain.
    Enter(u32),
    /// All below a node has been visited.
    Leave(u32),
}

const NONE: u32 = u32::MAX;

/// Visits a tree's nodes. Those with the same parent come by rising id.
#[derive(Debug, Clone)]
pub struct Walk {
    first_child: Vec<u32>,
    sibling: Vec<u32>,
    chain: Vec<u32>,
    next: u32,
}

impl Walk {
    /// A visit of the nodes with these parents; index = id. A parent's id is smaller than its children's.
    pub fn new(parents: impl DoubleEndedIterator<Item = Option<u32>> + ExactSizeIterator) -> Walk {
        let count = parents.len();
        let (mut first_child, mut sibling) = (vec![NONE; count], vec![NONE; count]);
        let mut outermost = NONE;
        for (id, parent) in parents.enumerate().rev() {
            let list = match parent {
                Some(parent) => &mut first_child[parent as usize],
                None => &mut outermost,
            };
            sibling[id] = std::mem::replace(list, id as u32);
        }
        Walk { first_child, sibling, chain: Vec::new(), next: outermost }
    }
}

impl Iterator for Walk {
    type Item = Visit;

    fn next(&mut self) -> Option<Visit> {
        if self.next != NONE {
            let node = self.next;
            self.chain.push(node);
            self.next = self.first_child[node as usize];
            return Some(Visit::Enter(node));
        }
        let node = self.chain.pop()?;
        self.next = self.sibling[node as usize];
        Some(Visit::Leave(node))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Visit::{Enter, Leave};

    #[test]
    fn each_node_is_entered_within_its_parent() {
        let parents = [None, Some(0), None, Some(0), Some(1)];
        let visits: Vec<Visit> = Walk::new(parents.into_iter()).collect();
        assert_eq!(
            visits,
            [
                Enter(0),
                Enter(1),
                Enter(4),
                Leave(4),
                Leave(1),
                Enter(3),
                Leave(3),
                Leave(0),
                Enter(2),
                Leave(2)
            ]
        );
    }

    #[test]
    fn long_chains_need_no_stack() {
        let parents = (0..1_000_000u32).map(|id| id.checked_sub(1));
        assert_eq!(Walk::new(parents.collect::<Vec<_>>().into_iter()).count(), 2_000_000);
    }
}
