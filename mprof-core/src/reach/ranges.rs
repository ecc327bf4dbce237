//! Sets of addresses as sorted ranges.

use crate::arena::Array;

/// Addresses from `start` to before `end`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Range {
    /// The first address.
    pub start: usize,
    /// The address after the last one.
    pub end: usize,
}

impl Range {
    /// Whether it holds the address.
    pub(super) fn contains(&self, address: usize) -> bool {
        (self.start..self.end).contains(&address)
    }
}

/// Calls `visit` with each part of `range` that lies in none of the `holes`, in order. The holes are sorted and may
/// overlap.
pub(super) fn without(range: Range, holes: &[Range], mut visit: impl FnMut(Range)) {
    let mut at = range.start;
    // Holes that end before the range cannot be found by bisection where they overlap; but a sorted list of merged
    // ones can.
    let first = holes.partition_point(|hole| hole.end <= range.start);
    for hole in &holes[first..] {
        if hole.start >= range.end {
            break;
        }
        if hole.start > at {
            visit(Range { start: at, end: hole.start });
        }
        at = at.max(hole.end);
    }
    if at < range.end {
        visit(Range { start: at, end: range.end });
    }
}

/// Sorts ranges and makes those one that touch or overlap; empty ones go.
pub(super) fn merge(ranges: &mut Array<Range>) {
    ranges.as_mut_slice().sort_unstable();
    let mut kept = 0;
    for index in 0..ranges.len() {
        let next = ranges[index];
        if next.start >= next.end {
            continue;
        }
        if kept > 0 && next.start <= ranges[kept - 1].end {
            ranges[kept - 1].end = ranges[kept - 1].end.max(next.end);
        } else {
            ranges[kept] = next;
            kept += 1;
        }
    }
    ranges.truncate(kept);
}

/// The range of a merged list that holds an address.
pub(super) fn find(ranges: &[Range], address: usize) -> Option<Range> {
    let index = ranges.partition_point(|range| range.end <= address);
    ranges.get(index).copied().filter(|range| range.contains(address))
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    fn ranges(list: &[(usize, usize)]) -> Array<Range> {
        let mut array = Array::new();
        for &(start, end) in list {
            assert!(array.push(Range { start, end }));
        }
        array
    }

    #[test]
    fn ranges_that_touch_become_one() {
        let mut array = ranges(&[(50, 60), (10, 20), (20, 30), (25, 27), (40, 40), (59, 70)]);
        merge(&mut array);
        assert_eq!(&*array, &*ranges(&[(10, 30), (50, 70)]));
        assert_eq!(find(&array, 29), Some(Range { start: 10, end: 30 }));
        assert_eq!(find(&array, 30), None);
        assert_eq!(find(&array, 9), None);
    }

    #[test]
    fn holes_are_left_out() {
        let holes = ranges(&[(0, 10), (15, 20), (30, 35), (90, 99)]);
        let parts = |start, end| {
            let mut parts = Vec::new();
            without(Range { start, end }, &holes, |part| parts.push((part.start, part.end)));
            parts
        };
        assert_eq!(parts(5, 40), [(10, 15), (20, 30), (35, 40)]);
        assert_eq!(parts(16, 19), []);
        assert_eq!(parts(20, 30), [(20, 30)]);
        assert_eq!(parts(95, 120), [(99, 120)]);
    }
}
