//! Columns and lines.

use super::number::{Marks, two_columns};
use crate::analysis::tally::CATEGORIES;
use std::io::{self, Write};

/// The width of a right-aligned column of numbers: `usual`, or what the longest number needs with two spaces
/// before it.
pub(super) fn column(usual: usize, longest: u64) -> usize {
    usual.max(digits(longest) + 2)
}

/// Decimal digits of a number.
pub(super) fn digits(number: u64) -> usize {
    number.checked_ilog10().unwrap_or(0) as usize + 1
}

/// Columns of a breakdown by category.
pub(super) const BREAKDOWN: usize = 3 * CATEGORIES;

/// A breakdown by category: each part as a share of `whole`.
pub(super) fn breakdown(parts: &[u64; CATEGORIES], whole: u64, marks: Marks) -> String {
    parts.iter().map(|&part| format!(" {}", two_columns(part, whole, marks))).collect()
}

/// A breakdown that means nothing.
pub(super) fn no_breakdown() -> String {
    "  *".repeat(CATEGORIES)
}

/// A rule `length` columns long. Breakdowns begin at the columns `breakdowns`; over the right digit of each of
/// their fields stands the category's letter.
pub(super) fn rule(start: usize, length: usize, breakdowns: [usize; 2]) -> String {
    let mut rule = [" ".repeat(start), "-".repeat(length)].concat().into_bytes();
    for begin in breakdowns {
        for (field, &letter) in b"smlx".iter().enumerate() {
            if let Some(place) = rule.get_mut(begin + 3 * field + 2) {
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
pub(super) fn heading(out: &mut impl Write, text: &str) -> io::Result<()> {
    write!(out, "\n{text}\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_grow_with_their_numbers() {
        assert_eq!(column(10, 0), 10);
        assert_eq!(column(10, 99_999_999), 10);
        assert_eq!(column(10, 100_000_000), 11);
        assert_eq!(column(10, u64::MAX), 22);
    }

    #[test]
    fn letters_stand_over_right_digits() {
        let rule = rule(2, 40, [4, 20]);
        let fields = format!("{:4}{}{:4}{}", "", " 11 22 33 44", "", " 55 66 77 88");
        for (letter, digit) in ["s1", "m2", "l3", "x4"].iter().map(|pair| pair.split_at(1)) {
            assert_eq!(rule.find(letter), fields.rfind(digit), "{letter}");
        }
        assert_eq!(rule.len(), 42);
    }
}
