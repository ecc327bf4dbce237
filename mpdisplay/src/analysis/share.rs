//! Which rows are worth a line.

use super::number::Number;
use super::tally::Usage;

/// How much of a table is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Detail {
    /// Rows from 1 % on.
    Terse,
    /// Rows from 0.5 % on.
    #[default]
    Normal,
    /// All rows.
    Verbose,
}

impl Detail {
    /// Whether a row is shown: at least one of its bytes, kept bytes, objects and kept objects reaches the
    /// share of the same number in `whole`.
    pub fn shows<N: Number>(self, row: &Usage<N>, whole: &Usage<N>) -> bool {
        let parts_of_thousand = match self {
            Detail::Terse => 10,
            Detail::Normal => 5,
            Detail::Verbose => return true,
        };
        let reaches = |part: N, whole: N| {
            let (part, whole) = (part.weight(), whole.whole());
            part > 0 && u128::from(part) * 1000 >= u128::from(whole) * parts_of_thousand
        };
        reaches(row.bytes, whole.bytes)
            || reaches(row.kept_bytes(), whole.kept_bytes())
            || reaches(row.allocs, whole.allocs)
            || reaches(row.kept(), whole.kept())
    }

    /// The smallest share shown, for people.
    pub fn limit(self) -> Option<&'static str> {
        match self {
            Detail::Terse => Some("1 %"),
            Detail::Normal => Some("0.5 %"),
            Detail::Verbose => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: Usage =
        Usage { allocs: 1000, bytes: 100_000, frees: 800, freed_bytes: 60_000, peak: 0, peak_bytes: 0 };

    fn row(allocs: u64, bytes: u64, kept: u64, kept_bytes: u64) -> Usage {
        Usage::new(allocs, bytes, allocs - kept, bytes - kept_bytes)
    }

    #[test]
    fn a_row_is_left_out_only_if_all_four_numbers_are_small() {
        assert!(!Detail::Normal.shows(&row(4, 499, 0, 0), &WHOLE));
        assert!(Detail::Normal.shows(&row(4, 500, 0, 0), &WHOLE), "bytes");
        assert!(Detail::Normal.shows(&row(5, 499, 0, 0), &WHOLE), "objects");
        assert!(Detail::Normal.shows(&row(1, 499, 1, 0), &WHOLE), "kept objects");
        assert!(Detail::Normal.shows(&row(1, 499, 0, 200), &WHOLE), "kept bytes");
    }

    #[test]
    fn terse_wants_one_percent_and_verbose_takes_all() {
        assert!(!Detail::Terse.shows(&row(9, 999, 1, 399), &WHOLE));
        assert!(Detail::Terse.shows(&row(10, 0, 0, 0), &WHOLE));
        assert!(Detail::Verbose.shows(&row(0, 0, 0, 0), &WHOLE));
    }

    #[test]
    fn nothing_is_no_share_of_nothing() {
        assert!(!Detail::Normal.shows(&Usage::<u64>::default(), &Usage::default()));
        assert!(Detail::Normal.shows(&row(1, 0, 1, 0), &row(1, 0, 1, 0)), "objects of no bytes");
    }
}
