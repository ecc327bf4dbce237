//! The numbers that tables are made of: those of one state of things, or of two that are compared.

use std::fmt::Debug;

/// A number that can be summed up: of objects or of bytes.
pub trait Number: Copy + Default + Eq + Debug {
    /// Adds; sums stop at the end of the numbers.
    fn add(&mut self, other: Self);

    /// What is left without `other`; never less than nothing.
    fn without(self, other: Self) -> Self;

    /// Whether there is anything to count, in any of the states.
    fn is_some(self) -> bool;

    /// What rows are ordered by, the largest first: the number itself, or the size of the change.
    fn weight(self) -> u64;

    /// What small rows are compared with: the number itself, or the larger of the two.
    fn whole(self) -> u64;
}

impl Number for u64 {
    fn add(&mut self, other: Self) {
        *self = self.saturating_add(other);
    }

    fn without(self, other: Self) -> Self {
        self.saturating_sub(other)
    }

    fn is_some(self) -> bool {
        self > 0
    }

    fn weight(self) -> u64 {
        self
    }

    fn whole(self) -> u64 {
        self
    }
}

/// A number before and after.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Change {
    /// In the state that is compared with.
    pub before: u64,
    /// In the state that is looked at.
    pub after: u64,
}

impl Number for Change {
    fn add(&mut self, other: Self) {
        self.before.add(other.before);
        self.after.add(other.after);
    }

    fn without(self, other: Self) -> Self {
        Change { before: self.before.without(other.before), after: self.after.without(other.after) }
    }

    fn is_some(self) -> bool {
        self.before > 0 || self.after > 0
    }

    fn weight(self) -> u64 {
        self.before.abs_diff(self.after)
    }

    fn whole(self) -> u64 {
        self.before.max(self.after)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_stop_at_the_end_of_the_numbers() {
        let mut number = u64::MAX;
        number.add(1);
        assert_eq!(number, u64::MAX);
        assert_eq!(1.without(2), 0);
    }

    #[test]
    fn changes_weigh_what_has_changed() {
        let mut change = Change { before: 10, after: 4 };
        change.add(Change { before: 1, after: 4 });
        assert_eq!(change, Change { before: 11, after: 8 });
        assert_eq!((change.weight(), change.whole()), (3, 11));
        let same = Change { before: 5, after: 5 };
        assert!(same.is_some() && same.weight() == 0);
        assert!(!Change::default().is_some());
        assert_eq!(change.without(same), Change { before: 6, after: 3 });
    }
}
