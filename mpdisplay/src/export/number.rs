//! Numbers for people: short, for pictures and pages. The exact ones stand beside them.

/// Bytes with a unit, three digits: `999 B`, `1.95 MB`, `12.0 GB`. Units are decimal.
pub(super) fn bytes(number: u64) -> String {
    let short = short(number);
    match short.strip_suffix(|last: char| last.is_ascii_alphabetic()) {
        Some(digits) => format!("{digits} {}B", &short[digits.len()..]),
        None => format!("{short} B"),
    }
}

/// A count, three digits, rounded: `999`, `1.95M`.
pub(super) fn short(number: u64) -> String {
    const UNITS: [char; 6] = ['k', 'M', 'G', 'T', 'P', 'E'];
    if number < 1000 {
        return number.to_string();
    }
    let number = u128::from(number);
    let mut unit = 1000;
    for letter in UNITS {
        for decimals in [2, 1, 0] {
            let scale = 10u128.pow(decimals);
            let scaled = (number * scale * 2 + unit) / (2 * unit);
            // What rounding lifts to four digits has one decimal less, or the next unit.
            if scaled < 1000 {
                return match decimals {
                    0 => format!("{scaled}{letter}"),
                    _ => format!(
                        "{}.{:0width$}{letter}",
                        scaled / scale,
                        scaled % scale,
                        width = decimals as usize
                    ),
                };
            }
        }
        unit *= 1000;
    }
    number.to_string()
}

/// All digits, in groups of three.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_numbers() {
        assert_eq!(short(0), "0");
        assert_eq!(short(999), "999");
        assert_eq!(short(1000), "1.00k");
        assert_eq!(short(1949), "1.95k");
        assert_eq!(short(9_994), "9.99k");
        assert_eq!(short(9_995), "10.0k");
        assert_eq!(short(99_949), "99.9k");
        assert_eq!(short(99_950), "100k");
        assert_eq!(short(999_499), "999k");
        assert_eq!(short(999_500), "1.00M");
        assert_eq!(short(2_040_000), "2.04M");
        assert_eq!(short(12_345_678), "12.3M");
        assert_eq!(short(u64::MAX), "18.4E");
    }

    #[test]
    fn bytes_have_a_unit() {
        assert_eq!(bytes(7), "7 B");
        assert_eq!(bytes(1_023_876), "1.02 MB");
        assert_eq!(bytes(204_000), "204 kB");
    }

    #[test]
    fn groups_of_three() {
        assert_eq!(grouped(7), "7");
        assert_eq!(grouped(123), "123");
        assert_eq!(grouped(1_023_876), "1,023,876");
        assert_eq!(grouped(u64::MAX), "18,446,744,073,709,551,615");
    }
}
