//! Sums: what was allocated, what of it was freed or alive at the peak, and how this spreads over the categories.

use super::number::{Change, Number};
use mprof_format::model::{Bin, Category, Counter, Live};
use std::ops::AddAssign;

/// Objects and bytes allocated, and those of them that were freed or alive at the heap's peak. Additions stop at the end
/// of the numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage<N = u64> {
    /// Objects allocated.
    pub allocs: N,
    /// Bytes allocated, as the program asked for them.
    pub bytes: N,
    /// Objects of these that were freed; never more than `allocs`.
    pub frees: N,
    /// Bytes of these that were freed; never more than `bytes`.
    pub freed_bytes: N,
    /// Objects of these that were alive at the peak; never more than `allocs`. Of several processes: at the peak of each.
    pub peak: N,
    /// Bytes of these that were alive at the peak; never more than `bytes`.
    pub peak_bytes: N,
}

impl Usage {
    /// Makes a usage; more freed than allocated, which only a damaged file can say, counts as all freed.
    pub fn new(allocs: u64, bytes: u64, frees: u64, freed_bytes: u64) -> Self {
        Usage {
            allocs,
            bytes,
            frees: frees.min(allocs),
            freed_bytes: freed_bytes.min(bytes),
            ..Usage::default()
        }
    }

    /// The same with what of it was alive at the peak.
    pub fn with_peak(self, live: &Live) -> Self {
        Usage { peak: live.objects.min(self.allocs), peak_bytes: live.bytes.min(self.bytes), ..self }
    }
}

impl<N: Number> Usage<N> {
    /// Objects never freed.
    pub fn kept(&self) -> N {
        self.allocs.without(self.frees)
    }

    /// Bytes never freed.
    pub fn kept_bytes(&self) -> N {
        self.bytes.without(self.freed_bytes)
    }

    /// What was alive at the peak, as if that were all that was ever allocated.
    pub fn at_peak(&self) -> Self {
        Usage {
            allocs: self.peak,
            bytes: self.peak_bytes,
            frees: N::default(),
            freed_bytes: N::default(),
            ..*self
        }
    }
}

/// The state of things that a usage belongs to, where two are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// What is compared with.
    Before,
    /// What is looked at.
    After,
}

impl Usage<Change> {
    /// A usage of one of two states.
    pub fn of(state: State, usage: Usage) -> Self {
        let change = |number| match state {
            State::Before => Change { before: number, after: 0 },
            State::After => Change { before: 0, after: number },
        };
        Usage {
            allocs: change(usage.allocs),
            bytes: change(usage.bytes),
            frees: change(usage.frees),
            freed_bytes: change(usage.freed_bytes),
            peak: change(usage.peak),
            peak_bytes: change(usage.peak_bytes),
        }
    }
}

impl From<&Counter> for Usage {
    fn from(counter: &Counter) -> Self {
        Usage::new(counter.allocs, counter.bytes, counter.frees, counter.freed_bytes)
    }
}

impl From<&Bin> for Usage {
    fn from(bin: &Bin) -> Self {
        Usage::new(bin.allocs, bin.bytes, bin.frees, bin.freed_bytes)
    }
}

impl<N: Number> AddAssign for Usage<N> {
    fn add_assign(&mut self, other: Self) {
        self.allocs.add(other.allocs);
        self.bytes.add(other.bytes);
        self.frees.add(other.frees);
        self.freed_bytes.add(other.freed_bytes);
        self.peak.add(other.peak);
        self.peak_bytes.add(other.peak_bytes);
    }
}

/// Categories that the tables have a column for: s, m, l, x, or Lisp's c, f, s, o.
pub const CATEGORIES: usize = 4;

/// The column of a category in the tables of its half, from 0; `None` for one that has no column and counts in sums only.
pub fn column(category: Category) -> Option<usize> {
    match category {
        Category::Small | Category::Cons | Category::CollectedSmall => Some(0),
        Category::Medium | Category::Float | Category::CollectedMedium => Some(1),
        Category::Large | Category::Structure | Category::CollectedLarge => Some(2),
        Category::ExtraLarge | Category::OtherObject | Category::CollectedExtraLarge => Some(3),
        _ => None,
    }
}

/// A usage with its breakdown by category.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally<N = u64> {
    /// Everything.
    pub usage: Usage<N>,
    /// Bytes allocated, by column of the category.
    pub bytes: [N; CATEGORIES],
}

impl<N: Number> Tally<N> {
    /// What one counter says.
    pub fn of(category: Category, usage: Usage<N>) -> Self {
        let mut tally = Tally { usage, ..Tally::default() };
        if let Some(column) = column(category) {
            tally.bytes[column] = usage.bytes;
        }
        tally
    }
}

impl<N: Number> AddAssign for Tally<N> {
    fn add_assign(&mut self, other: Self) {
        self.usage += other.usage;
        for (sum, bytes) in self.bytes.iter_mut().zip(other.bytes) {
            sum.add(bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kept_is_what_was_not_freed() {
        let usage = Usage::new(10, 1000, 4, 300);
        assert_eq!((usage.kept(), usage.kept_bytes()), (6, 700));
    }

    #[test]
    fn more_freed_than_allocated_counts_as_all_freed() {
        let usage = Usage::new(1, 10, 5, 50);
        assert_eq!((usage.frees, usage.freed_bytes), (1, 10));
        let live = Live { context: 0, category: Category::Small, objects: 2, bytes: 11 };
        let usage = usage.with_peak(&live);
        assert_eq!((usage.peak, usage.peak_bytes), (1, 10));
    }

    #[test]
    fn at_the_peak_what_was_alive_is_all_there_is() {
        let live = Live { context: 0, category: Category::Small, objects: 7, bytes: 800 };
        let usage = Usage::new(10, 1000, 9, 900).with_peak(&live).at_peak();
        assert_eq!((usage.kept(), usage.kept_bytes(), usage.allocs, usage.bytes), (7, 800, 7, 800));
    }

    #[test]
    fn sums_stop_at_the_end_of_the_numbers() {
        let mut usage = Usage::new(u64::MAX, u64::MAX, 0, 0);
        usage += Usage::new(1, 1, 1, 1);
        assert_eq!((usage.allocs, usage.bytes), (u64::MAX, u64::MAX));
    }

    #[test]
    fn kept_is_compared_by_state() {
        let mut usage = Usage::of(State::Before, Usage::new(3, 30, 1, 10));
        usage += Usage::of(State::After, Usage::new(5, 50, 5, 50));
        assert_eq!(usage.allocs, Change { before: 3, after: 5 });
        assert_eq!(usage.kept_bytes(), Change { before: 20, after: 0 });
    }

    #[test]
    fn a_category_without_a_column_counts_in_the_sum_only() {
        let tally = Tally::of(Category::Other(19), Usage::new(1, 8, 0, 0));
        assert_eq!(tally.usage.bytes, 8);
        assert_eq!(tally.bytes, [0; CATEGORIES]);
    }
}
