//! Columns and lines.

use super::number::{Marks, Shown, two_columns};
use super::style::{Style, Styles};
use crate::analysis::half::Half;
use crate::analysis::tally::CATEGORIES;
use std::io::{self, Write};

/// The width of a right-aligned column of numbers: `usual`, or what the longest number needs with two spaces
/// before it.
pub(super) fn column<N: Shown>(usual: usize, numbers: impl IntoIterator<Item = N>) -> usize {
    let longest = numbers.into_iter().map(|number| number.text().len()).max();
    usual.max(longest.unwrap_or(0) + 2)
}

/// Decimal digits of a number.
pub(super) fn digits(number: u64) -> usize {
    number.checked_ilog10().unwrap_or(0) as usize + 1
}

/// Columns of a category's field in a breakdown.
const fn field<N: Shown>() -> usize {
    3 + N::SIGN
}

/// Columns of a breakdown by category.
pub(super) const fn breakdown_columns<N: Shown>() -> usize {
    CATEGORIES * field::<N>()
}

/// A breakdown by category: each part as a share of `whole`.
pub(super) fn breakdown<N: Shown>(parts: &[N; CATEGORIES], whole: N, marks: Marks) -> String {
    parts.iter().map(|&part| format!(" {}", two_columns(part, whole, marks))).collect()
}

/// A breakdown that means nothing.
pub(super) fn no_breakdown<N: Shown>() -> String {
    format!("{:>width$}", "*", width = field::<N>()).repeat(CATEGORIES)
}

/// A rule `length` columns long. Breakdowns begin at the columns `breakdowns`; over the right digit of each of
/// their fields stands the category's letter.
pub(super) fn rule<N: Shown>(start: usize, length: usize, breakdowns: &[usize], half: Half) -> String {
    let mut rule = [" ".repeat(start), "-".repeat(length)].concat().into_bytes();
    for begin in breakdowns {
        for (index, letter) in half.letters().into_iter().enumerate() {
            if let Some(place) = rule.get_mut(begin + field::<N>() * (index + 1) - 1) {
                *place = letter;
            }
        }
    }
    String::from_utf8_lossy(&rule).into_owned()
}

/// Writes a line without spaces at its end.
pub(super) fn line(out: &mut impl Write, text: &str) -> io::Result<()> {
    writeln!(out, "{}", text.trim_end())
}

/// Writes a table's heading.
pub(super) fn heading(out: &mut impl Write, styles: Styles, text: &str) -> io::Result<()> {
    write!(out, "\n{}\n\n", styles.paint(Style::Heading, text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::number::Change;

    #[test]
    fn columns_grow_with_their_numbers() {
        assert_eq!(column::<u64>(10, []), 10);
        assert_eq!(column(10, [0, 99_999_999]), 10);
        assert_eq!(column(10, [100_000_000, 1]), 11);
        assert_eq!(column(10, [u64::MAX]), 22);
        assert_eq!(column(10, [Change { before: 0, after: 99_999_999 }]), 11, "a sign");
    }

    #[test]
    fn letters_stand_over_right_digits() {
        let rule = rule::<u64>(2, 40, &[4, 20], Half::C);
        let fields = format!("{:4}{}{:4}{}", "", " 11 22 33 44", "", " 55 66 77 88");
        for (letter, digit) in ["s1", "m2", "l3", "x4"].iter().map(|pair| pair.split_at(1)) {
            assert_eq!(rule.find(letter), fields.rfind(digit), "{letter}");
        }
        assert_eq!(rule.len(), 42);
        assert_eq!(super::rule::<Change>(0, 20, &[1, 30], Half::C), "----s---m---l---x---");
        assert_eq!(super::rule::<u64>(0, 14, &[1], Half::Lisp), "---c--f--s--o-");
    }
}
