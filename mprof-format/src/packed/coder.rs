//! Arithmetic coding of single bits (Witten, Neal, Cleary: Arithmetic coding for data compression, CACM 30, 1987), with
//! an interval of 32-bit numbers.
//!
//! A message is a number in an interval that each bit makes smaller: for a 0 its lower part stays, for a 1 the upper, in
//! proportion to how likely they are. Leading bytes that all numbers of the interval have in common go into the file. A
//! message that has ended goes on with zeros, so these need not be there.

/// One 0 in so many bits: what odds are parts of.
pub(crate) const ODDS: u32 = 1 << 16;
/// Odds of a bit that is as likely 0 as 1.
pub(crate) const EVEN: u32 = ODDS / 2;

/// Takes or gives bits. What codes an entry is written once, for both directions.
pub(crate) trait Coder {
    /// Codes a bit that is 0 in `zero` of [`ODDS`] cases (not in none, and not in all) and returns it. What decodes
    /// overlooks `bit`.
    fn code(&mut self, zero: u32, bit: bool) -> bool;
}

/// The numbers that the message can be; both ends are in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Interval {
    low: u32,
    high: u32,
}

impl Interval {
    pub(crate) const ALL: Interval = Interval { low: 0, high: u32::MAX };

    /// The last number of the lower part. Both parts have at least one.
    fn middle(self, zero: u32) -> u32 {
        let length = u64::from(self.high - self.low);
        self.low + (length * u64::from(zero) / u64::from(ODDS)) as u32
    }

    fn keep(&mut self, bit: bool, middle: u32) {
        // Without a branch, for which way it goes is hard to foresee.
        let one = u32::from(bit).wrapping_neg();
        self.low ^= (self.low ^ middle.wrapping_add(1)) & one;
        self.high ^= (self.high ^ middle) & !one;
    }

    /// The first byte, if all numbers have the same.
    fn common(self) -> Option<u8> {
        (self.low >> 24 == self.high >> 24).then_some((self.low >> 24) as u8)
    }

    fn shift(&mut self) {
        self.low <<= 8;
        self.high = self.high << 8 | 0xff;
    }

    /// Codes one bit; `out` gets the bytes that are certain.
    pub(crate) fn encode(&mut self, zero: u32, bit: bool, mut out: impl FnMut(u8)) {
        self.keep(bit, self.middle(zero));
        while let Some(byte) = self.common() {
            out(byte);
            self.shift();
        }
    }

    /// The fewest bytes that say, with zeros behind them, a number of the interval.
    pub(crate) fn last_bytes(self) -> ([u8; 4], usize) {
        let kept = (0..4).find_map(|length| {
            let number = self.high & !u32::MAX.checked_shr(8 * length as u32).unwrap_or(0);
            (number >= self.low).then_some((number.to_be_bytes(), length))
        });
        kept.unwrap_or((self.high.to_be_bytes(), 4))
    }
}

/// Reads what [`Interval::encode`] has written.
#[derive(Debug, Clone)]
pub(crate) struct Decoder<'a> {
    interval: Interval,
    number: u32,
    rest: &'a [u8],
}

impl<'a> Decoder<'a> {
    pub(crate) fn new(message: &'a [u8]) -> Decoder<'a> {
        let mut decoder = Decoder { interval: Interval::ALL, number: 0, rest: message };
        (0..4).for_each(|_| decoder.byte());
        decoder
    }

    /// What has not been looked at.
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    fn byte(&mut self) {
        let (byte, rest) = self.rest.split_first().unwrap_or((&0, &[]));
        self.number = self.number << 8 | u32::from(*byte);
        self.rest = rest;
    }
}

impl Coder for Decoder<'_> {
    fn code(&mut self, zero: u32, _: bool) -> bool {
        let middle = self.interval.middle(zero);
        let bit = self.number > middle;
        self.interval.keep(bit, middle);
        while self.interval.common().is_some() {
            self.interval.shift();
            self.byte();
        }
        bit
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    fn encoded(bits: &[(u32, bool)]) -> Vec<u8> {
        let mut interval = Interval::ALL;
        let mut bytes = Vec::new();
        for &(zero, bit) in bits {
            interval.encode(zero, bit, |byte| bytes.push(byte));
        }
        let (last, length) = interval.last_bytes();
        bytes.extend(&last[..length]);
        bytes
    }

    /// Numbers that are always the same (Knuth, TAOCP volume 2, section 3.3.4).
    fn numbers(count: usize) -> impl Iterator<Item = u64> {
        let next = |state: &u64| {
            Some(state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407))
        };
        std::iter::successors(Some(1), next).map(|state| state >> 33).take(count)
    }

    #[test]
    fn bits_come_back_whatever_their_odds() {
        let odds = [1, 2, 77, 1 << 12, 1 << 15, ODDS - 300, ODDS - 1];
        let bits: Vec<(u32, bool)> =
            numbers(100_000).map(|n| (odds[(n >> 8) as usize % odds.len()], n & 1 == 1)).collect();
        for length in [0, 1, 2, 3, 10, 1000, bits.len()] {
            let bytes = encoded(&bits[..length]);
            let mut decoder = Decoder::new(&bytes);
            for &(zero, bit) in &bits[..length] {
                assert_eq!(decoder.code(zero, false), bit);
            }
            assert!(decoder.rest().is_empty());
        }
    }

    #[test]
    fn the_likely_takes_little_and_the_end_no_more_than_needed() {
        assert_eq!(encoded(&[]), []);
        assert_eq!(encoded(&[(ODDS - 1, false); 1000]), []);
        assert_eq!(encoded(&[(ODDS / 2, true)]), [0xff]);
        assert_eq!(encoded(&[(ODDS / 2, true), (ODDS / 2, false)]), [0xbf]);
        // A bit that comes once in 65 536 takes 16.
        assert_eq!(encoded(&[(1, false)]), [0, 0]);
        assert_eq!(encoded(&[(ODDS - 1, true)]), [0xff, 0xff]);
        assert_eq!(encoded(&[(ODDS - 1, true); 100]).len(), 200);
    }

    #[test]
    fn bits_take_what_they_are_worth() {
        // One 1 in eight: 0.5436 bits each.
        let bits: Vec<(u32, bool)> = numbers(80_000).map(|n| (ODDS / 8 * 7, n >> 5 & 7 == 0)).collect();
        let ones = bits.iter().filter(|(_, bit)| *bit).count() as f64;
        let worth = ones * 3.0 + (bits.len() as f64 - ones) * (8.0f64 / 7.0).log2();
        let length = 8.0 * encoded(&bits).len() as f64;
        assert!(length < worth * 1.001 + 8.0, "{length} bits, worth {worth}");
    }
}
