//! How numbers are written; the only place that decides. Percentages are computed in whole numbers.

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

/// A share for a field of two columns: cut, at most 99, blank under 1 %.
pub fn two_columns(part: u64, whole: u64, marks: Marks) -> String {
    match (cut(part, whole), marks) {
        (100.., Marks::Shown) => "**".into(),
        (0, Marks::Shown) if part > 0 => " .".into(),
        (0, _) => "  ".into(),
        (percent, _) => format!("{:2}", percent.min(99)),
    }
}

/// A share in brackets for the leak and bin tables: cut, at most 99, nothing where the part is 0.
pub fn bracket(part: u64, whole: u64, marks: Marks) -> String {
    match (cut(part, whole), marks) {
        _ if part == 0 => String::new(),
        (100.., Marks::Shown) => "(**)".into(),
        (0, Marks::Shown) => "(.)".into(),
        (percent, _) => format!("({})", percent.min(99)),
    }
}

/// A share in brackets for the call graph's lines: cut, up to 100, nothing where the part is 0.
pub fn graph_bracket(part: u64, whole: u64) -> String {
    if part == 0 { String::new() } else { self_bracket(part, whole) }
}

/// A share in brackets for a function's own bytes in the call graph: as [`graph_bracket`], but never left out.
pub fn self_bracket(part: u64, whole: u64) -> String {
    format!("({})", cut(part, whole).min(100))
}

/// A share in percent with one decimal, rounded half up; 0.0 where the whole is 0.
pub fn one_decimal(part: u64, whole: u64) -> String {
    let whole = u128::from(whole);
    let tenths = (u128::from(part) * 2000 + whole).checked_div(2 * whole).unwrap_or(0);
    format!("{}.{}", tenths / 10, tenths % 10)
}

/// A number of things.
pub fn counted(count: u64, one: &str) -> String {
    format!("{count} {one}{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: Marks = Marks::None;

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
}
