//! How times and amounts are written for people: three digits and a unit.

use crate::analysis::curve::Clock;

/// A time since the start, as seconds or a part of them.
pub(crate) fn seconds(ns: u64) -> String {
    scaled(ns, &[(1_000_000_000, "s"), (1_000_000, "ms"), (1000, "µs"), (1, "ns")])
}

/// Bytes.
pub(crate) fn bytes(bytes: u64) -> String {
    scaled(bytes, &[(1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"), (1, "B")])
}

/// Things.
pub(crate) fn amount(number: u64) -> String {
    scaled(number, &[(1_000_000_000, "G"), (1_000_000, "M"), (1000, "k"), (1, "")])
}

/// A time by one of the clocks.
pub(crate) fn at(clock: Clock, time: u64) -> String {
    match clock {
        Clock::Time => seconds(time),
        Clock::Bytes => format!("{} allocated", bytes(time)),
        Clock::Allocations => format!("{} allocations", amount(time)),
    }
}

/// The number in the first of the units that it reaches, with three digits, cut.
fn scaled(number: u64, units: &[(u64, &str)]) -> String {
    let last = units.len() - 1;
    let place = units.iter().position(|&(unit, _)| number >= unit).unwrap_or(last);
    let (unit, name) = units[place];
    let gap = if name.is_empty() { "" } else { " " };
    let whole = number / unit;
    let part = u128::from(number % unit) * 1000 / u128::from(unit);
    match whole {
        _ if unit == 1 => format!("{whole}{gap}{name}"),
        0..10 => format!("{whole}.{:02}{gap}{name}", part / 10),
        10..100 => format!("{whole}.{}{gap}{name}", part / 100),
        _ => format!("{whole}{gap}{name}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits_and_a_unit() {
        assert_eq!(seconds(0), "0 ns");
        assert_eq!(seconds(12_345_678), "12.3 ms");
        assert_eq!(seconds(61_999_000_000), "61.9 s");
        assert_eq!(bytes(1023), "1023 B");
        assert_eq!(bytes(1_048_575), "1023 KiB");
        assert_eq!(bytes(1_033_284), "1009 KiB");
        assert_eq!(bytes(5 << 20), "5.00 MiB");
        assert_eq!(amount(999), "999");
        assert_eq!(amount(10_005), "10.0 k");
        assert_eq!(amount(u64::MAX), "18446744073 G");
    }
}
