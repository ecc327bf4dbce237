//! How numbers are written; the only place that decides. Percentages are computed in whole numbers.

use crate::analysis::number::{Change, Number};

/// A number that the tables can show: as it is, or, where two states are compared, what it is more or less than
/// before, with its sign.
pub trait Shown: Number {
    /// Columns of a sign.
    const SIGN: usize;

    /// What small rows are, before the share that they do not reach.
    const SMALL: &'static str;

    /// The number.
    fn text(self) -> String;

    /// Its part of `whole`; where two states are compared, by how much it has changed.
    fn share(self, whole: Self) -> Share;

    /// Its part of `whole` in tenths of a percent, rounded, or the change of that.
    fn tenths(self, whole: Self) -> i128;

    /// What became of so many `objects` and `bytes` that were kept, in a word; nothing where nothing is compared.
    fn fate(objects: Self, bytes: Self) -> Option<Fate>;
}

/// A part of a whole, or the change of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    /// Whole percent, or percentage points, cut; without sign.
    percent: u64,
    /// There is something, be it less than a percent.
    some: bool,
    /// Before the percent.
    sign: &'static str,
}

/// What became of kept objects from one state to the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// There were none before.
    New,
    /// There are none after.
    Gone,
    /// There are more bytes, or more objects of as many bytes.
    Grown,
    /// There are less.
    Shrunk,
    /// There are as many.
    Same,
}

impl Fate {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Fate::New => "new",
            Fate::Gone => "gone",
            Fate::Grown => "grown",
            Fate::Shrunk => "shrunk",
            Fate::Same => "same",
        }
    }
}

impl Shown for u64 {
    const SIGN: usize = 0;
    const SMALL: &'static str = "under";

    fn text(self) -> String {
        self.to_string()
    }

    fn share(self, whole: u64) -> Share {
        Share { percent: cut(self, whole), some: self > 0, sign: "" }
    }

    fn tenths(self, whole: u64) -> i128 {
        let whole = i128::from(whole);
        // Half up: the quotient of twice the tenths and twice the whole.
        (i128::from(self) * 2000 + whole).checked_div(2 * whole).unwrap_or(0)
    }

    fn fate(_: u64, _: u64) -> Option<Fate> {
        None
    }
}

/// Parts of a percent in which shares of two states are compared.
const FINE: i128 = 1_000_000_000;

impl Change {
    /// The difference of the shares, in [`FINE`] parts of a percent.
    fn points(self, whole: Change) -> i128 {
        let share = |part: u64, whole: u64| {
            let (part, whole) = (i128::from(part), i128::from(whole));
            (part * 100 * FINE + whole / 2).checked_div(whole).unwrap_or(0)
        };
        share(self.after, whole.after) - share(self.before, whole.before)
    }
}

impl Shown for Change {
    const SIGN: usize = 1;
    const SMALL: &'static str = "changed by less than";

    fn text(self) -> String {
        match self.after.cmp(&self.before) {
            std::cmp::Ordering::Less => format!("-{}", self.weight()),
            std::cmp::Ordering::Equal => "0".into(),
            std::cmp::Ordering::Greater => format!("+{}", self.weight()),
        }
    }

    fn share(self, whole: Change) -> Share {
        let points = self.points(whole);
        // The shares are rounded: what is a whole number of points may seem to lack one part of it.
        let percent = (points.unsigned_abs() + 1) / FINE.unsigned_abs();
        let percent = percent.try_into().unwrap_or(u64::MAX);
        Share { percent, some: points != 0, sign: if points < 0 { "-" } else { "+" } }
    }

    fn tenths(self, whole: Change) -> i128 {
        let points = self.points(whole);
        let tenth = FINE / 10;
        (points.abs() + tenth / 2) / tenth * points.signum()
    }

    fn fate(objects: Change, bytes: Change) -> Option<Fate> {
        let grown = (bytes.after, objects.after).cmp(&(bytes.before, objects.before));
        Some(match (objects.before, objects.after, grown) {
            (0, 1.., _) => Fate::New,
            (1.., 0, _) => Fate::Gone,
            (_, _, std::cmp::Ordering::Greater) => Fate::Grown,
            (_, _, std::cmp::Ordering::Less) => Fate::Shrunk,
            (_, _, std::cmp::Ordering::Equal) => Fate::Same,
        })
    }
}

/// A share in whole percent, cut; 0 where the whole is 0.
fn cut(part: u64, whole: u64) -> u64 {
    // The quotient is over 64 bits long only if the part exceeds the whole 10^17 times.
    (u128::from(part) * 100).checked_div(u128::from(whole)).unwrap_or(0).try_into().unwrap_or(u64::MAX)
}

/// How small and full shares are written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Marks {
    /// As the paper does: blank under 1 %, at most 99.
    #[default]
    None,
    /// As the released tool did: `.` for more than nothing but under 1 %, `**` for all.
    Shown,
}

/// A share for a field of two columns, and one for the sign where states are compared: cut, at most 99, blank under
/// 1 %.
pub fn two_columns<N: Shown>(part: N, whole: N, marks: Marks) -> String {
    let Share { percent, some, sign } = part.share(whole);
    let text = match (percent, marks) {
        (100.., Marks::Shown) => format!("{sign}**"),
        (0, Marks::Shown) if some => ".".into(),
        (0, _) => String::new(),
        (percent, _) => format!("{sign}{}", percent.min(99)),
    };
    format!("{text:>width$}", width = N::SIGN + 2)
}

/// A share in brackets for the leak and bin tables: cut, at most 99, nothing where the part is 0.
pub fn bracket<N: Shown>(part: N, whole: N, marks: Marks) -> String {
    let Share { percent, some, sign } = part.share(whole);
    match (percent, marks) {
        _ if !some => String::new(),
        (100.., Marks::Shown) => format!("({sign}**)"),
        (0, Marks::Shown) => "(.)".into(),
        (percent, _) => format!("({sign}{})", percent.min(99)),
    }
}

/// A share in brackets for the call graph's lines: cut, up to 100, nothing where the part is 0.
pub fn graph_bracket<N: Shown>(part: N, whole: N) -> String {
    if part.share(whole).some { self_bracket(part, whole) } else { String::new() }
}

/// A share in brackets for a function's own bytes in the call graph: as [`graph_bracket`], but never left out.
pub fn self_bracket<N: Shown>(part: N, whole: N) -> String {
    let Share { percent, some, sign } = part.share(whole);
    format!("({}{})", if some { sign } else { "" }, percent.min(100))
}

/// A share in percent with one decimal, rounded half up; 0.0 where the whole is 0.
pub fn one_decimal<N: Shown>(part: N, whole: N) -> String {
    let tenths = part.tenths(whole);
    let sign = match tenths.signum() {
        _ if N::SIGN == 0 => "",
        1 => "+",
        -1 => "-",
        _ => "",
    };
    let tenths = tenths.abs();
    format!("{sign}{}.{}", tenths / 10, tenths % 10)
}

/// A number of things.
pub fn counted<N: Shown>(count: N, one: &str) -> String {
    format!("{} {one}{}", count.text(), if count.weight() == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: Marks = Marks::None;

    fn change(before: u64, after: u64) -> Change {
        Change { before, after }
    }

    #[test]
    fn two_columns_are_cut_not_rounded() {
        assert_eq!(two_columns(1_016_124, 2_040_000, NONE), "49");
        assert_eq!(two_columns(1_023_876, 2_040_000, NONE), "50");
        assert_eq!(two_columns(1999, 100_000, NONE), " 1");
        assert_eq!(two_columns(7, 100, NONE), " 7");
    }

    #[test]
    fn two_columns_hold_at_most_99_and_are_blank_below_1() {
        assert_eq!(two_columns(100, 100, NONE), "99");
        assert_eq!(two_columns(99, 10_000, NONE), "  ");
        assert_eq!(two_columns(100, 10_000, NONE), " 1");
        assert_eq!(two_columns(0, 100, NONE), "  ");
        assert_eq!(two_columns(0, 0, NONE), "  ");
    }

    #[test]
    fn marks_tell_little_from_nothing_and_all_from_much() {
        assert_eq!(two_columns(100, 100, Marks::Shown), "**");
        assert_eq!(two_columns(9999, 10_000, Marks::Shown), "99");
        assert_eq!(two_columns(99, 10_000, Marks::Shown), " .");
        assert_eq!(two_columns(0, 100, Marks::Shown), "  ");
        assert_eq!(bracket(100, 100, Marks::Shown), "(**)");
        assert_eq!(bracket(1, 1000, Marks::Shown), "(.)");
        assert_eq!(bracket(0, 1000, Marks::Shown), "");
    }

    #[test]
    fn brackets_of_leaks_and_bins() {
        assert_eq!(bracket(1_023_876, 1_023_876, NONE), "(99)");
        assert_eq!(bracket(1, 1_000_000, NONE), "(0)");
        assert_eq!(bracket(5, 100, NONE), "(5)");
        assert_eq!(bracket(0, 100, NONE), "");
        assert_eq!(bracket(0, 0, NONE), "");
    }

    #[test]
    fn brackets_of_the_graph_may_hold_100() {
        assert_eq!(graph_bracket(100, 100), "(100)");
        assert_eq!(graph_bracket(999, 1000), "(99)");
        assert_eq!(graph_bracket(1, 1000), "(0)");
        assert_eq!(graph_bracket(0, 1000), "");
        assert_eq!(self_bracket(0, 1000), "(0)");
        assert_eq!(self_bracket(0, 0), "(0)");
    }

    #[test]
    fn one_decimal_is_rounded() {
        assert_eq!(one_decimal(1_023_876, 2_040_000), "50.2");
        assert_eq!(one_decimal(1_016_124, 2_040_000), "49.8");
        assert_eq!(one_decimal(5, 10_000), "0.1");
        assert_eq!(one_decimal(4, 10_000), "0.0");
        assert_eq!(one_decimal(99_950, 100_000), "100.0");
        assert_eq!(one_decimal(1, 1), "100.0");
        assert_eq!(one_decimal(0, 0), "0.0");
    }

    #[test]
    fn huge_numbers_do_not_overflow_or_lose_digits() {
        let whole = u64::MAX;
        assert_eq!(two_columns(whole - 1, whole, NONE), "99");
        assert_eq!(graph_bracket(whole - 1, whole), "(99)");
        assert_eq!(graph_bracket(whole, whole), "(100)");
        assert_eq!(graph_bracket(whole, 1), "(100)");
        assert_eq!(one_decimal(whole / 2 + 1, whole), "50.0");
        // In floating point 0.29 * 100 is 28.999…: the share must still be 29.
        assert_eq!(two_columns(29, 100, NONE), "29");
        assert_eq!(bracket(57_000_000_000_000_000, 100_000_000_000_000_000, NONE), "(57)");
    }

    #[test]
    fn changes_have_a_sign() {
        assert_eq!(change(3, 10).text(), "+7");
        assert_eq!(change(10, 3).text(), "-7");
        assert_eq!(change(3, 3).text(), "0");
        assert_eq!(counted(change(1, 2), "object"), "+1 object");
        assert_eq!(counted(change(2, 0), "object"), "-2 objects");
    }

    #[test]
    fn changes_of_shares_are_in_percentage_points() {
        let whole = change(100, 200);
        assert_eq!(two_columns(change(50, 102), whole, NONE), " +1");
        assert_eq!(two_columns(change(50, 100), whole, NONE), "   ", "half before, half after");
        assert_eq!(two_columns(change(50, 80), whole, NONE), "-10");
        assert_eq!(two_columns(change(0, 200), whole, NONE), "+99");
        assert_eq!(two_columns(change(0, 200), whole, Marks::Shown), "+**");
        assert_eq!(bracket(change(0, 1), whole, NONE), "(+0)");
        assert_eq!(bracket(change(2, 4), whole, NONE), "");
        assert_eq!(self_bracket(change(100, 0), whole), "(-100)");
        assert_eq!(self_bracket(change(1, 2), whole), "(0)");
        assert_eq!(one_decimal(change(1, 1), whole), "-0.5");
        assert_eq!(one_decimal(change(1, 2), whole), "0.0");
        assert_eq!(one_decimal(change(0, 3), whole), "+1.5");
        // A third more of three is a whole number of points, though a third is no decimal fraction.
        assert_eq!(two_columns(change(1, 3), change(3, 3), NONE), "+66");
        assert_eq!(two_columns(change(1, 62), change(3, 150), NONE), " +8", "8.0 points exactly");
    }

    #[test]
    fn fates_go_by_objects_then_bytes() {
        let fate = |objects: (u64, u64), bytes: (u64, u64)| {
            Change::fate(change(objects.0, objects.1), change(bytes.0, bytes.1)).map(Fate::word)
        };
        assert_eq!(fate((0, 1), (0, 8)), Some("new"));
        assert_eq!(fate((0, 1), (0, 0)), Some("new"), "objects of no bytes");
        assert_eq!(fate((1, 0), (8, 0)), Some("gone"));
        assert_eq!(fate((1, 1), (8, 9)), Some("grown"));
        assert_eq!(fate((1, 2), (8, 8)), Some("grown"));
        assert_eq!(fate((3, 2), (8, 8)), Some("shrunk"));
        assert_eq!(fate((3, 3), (8, 8)), Some("same"));
        assert_eq!(u64::fate(1, 8), None);
    }
}
