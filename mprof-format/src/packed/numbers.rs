//! Numbers as bits: how long a number is, a few bits behind its highest one, and the others, which are as likely 0 as 1.

use super::coder::{Coder, EVEN};
use super::models::{Cells, Models, Pace};

/// Cells of a length: a tree for those below [`LONG`], and then one for each step, the last one for all further ones.
const LENGTH: usize = 24;
/// From this length on it is told step by step. Lengths up to this one have the bits behind the highest one to themselves;
/// longer ones share them.
const LONG: u32 = 15;

/// The cells of numbers of one kind.
#[derive(Debug, Clone, Copy)]
pub(super) struct Numbers {
    /// [`LENGTH`] cells for each context.
    lengths: Cells,
    /// For each length a tree of the bits behind the highest one.
    heads: Cells,
    /// How many of these are modelled.
    bits: u32,
    pace: Pace,
}

impl Numbers {
    /// The cells behind `before`, for so many contexts.
    pub(super) const fn after(before: Cells, contexts: usize, bits: u32, pace: Pace) -> Numbers {
        let lengths = before.then(contexts * LENGTH);
        Numbers { lengths, heads: lengths.then((LONG as usize + 1) << bits), bits, pace }
    }

    pub(super) const fn last(self) -> Cells {
        self.heads
    }
}

/// The cells of differences of one kind.
#[derive(Debug, Clone, Copy)]
pub(super) struct Differences {
    amount: Numbers,
    sign: Cells,
}

impl Differences {
    /// The cells behind `before`, for so many contexts.
    pub(super) const fn after(before: Cells, contexts: usize) -> Differences {
        let amount = Numbers::after(before, contexts, 1, Pace::Slow);
        Differences { amount, sign: amount.last().then(1) }
    }

    pub(super) const fn last(self) -> Cells {
        self.sign
    }
}

/// A coder and what it has learnt.
pub(super) struct Codec<'a, C> {
    pub(super) coder: C,
    pub(super) models: Models<'a>,
}

impl<C: Coder> Codec<'_, C> {
    /// A bit in its place. As all that follows it returns what it is given, or has read.
    pub(super) fn bit(&mut self, cells: Cells, index: usize, pace: Pace, bit: bool) -> bool {
        let model = self.models.model(cells, index);
        let bit = self.coder.code(model.zero, bit);
        model.learn(pace, bit);
        bit
    }

    /// Whether something is so.
    pub(super) fn flag(&mut self, cells: Cells, index: usize, flag: bool) -> bool {
        self.bit(cells, index, Pace::Quick, flag)
    }

    /// The lowest `count` bits of a number, the highest first, by a tree of 2^`count` cells.
    pub(super) fn tree(&mut self, cells: Cells, count: u32, pace: Pace, value: u64) -> u64 {
        let mut node = 1;
        for place in (0..count).rev() {
            node = node << 1 | usize::from(self.bit(cells, node, pace, value >> place & 1 == 1));
        }
        node as u64 ^ 1 << count
    }

    /// The lowest `count` bits of a number, each as likely 0 as 1, the highest first.
    pub(super) fn even(&mut self, count: u32, value: u64) -> u64 {
        (0..count)
            .rev()
            .fold(0, |bits, place| bits << 1 | u64::from(self.coder.code(EVEN, value >> place & 1 == 1)))
    }

    /// A number. `context`: of its length.
    pub(super) fn number(&mut self, cells: Numbers, context: usize, value: u64) -> u64 {
        let length = self.length(cells, context, u64::BITS - value.leading_zeros());
        let Some(behind) = length.checked_sub(1) else { return 0 };
        let modelled = behind.min(cells.bits);
        let rest = behind - modelled;
        let heads = cells.heads.part_of(length.min(LONG) as usize, 1 << cells.bits);
        let head = self.tree(heads, modelled, cells.pace, value >> rest);
        (1 << modelled | head) << rest | self.even(rest, value)
    }

    /// The length of a number, bits.
    fn length(&mut self, cells: Numbers, context: usize, wanted: u32) -> u32 {
        let lengths = cells.lengths.part(context, LENGTH);
        let mut length = self.tree(lengths, 4, cells.pace, wanted.min(LONG).into()) as u32;
        if length == LONG {
            let step = |length: u32| (length - LONG + 16) as usize;
            while length < u64::BITS && self.bit(lengths, step(length), cells.pace, length < wanted) {
                length += 1;
            }
        }
        length
    }

    /// A number by its difference to the expected one, modulo 2⁶⁴.
    pub(super) fn difference(
        &mut self,
        cells: Differences,
        context: usize,
        value: u64,
        expected: u64,
    ) -> u64 {
        let difference = value.wrapping_sub(expected) as i64;
        let amount = self.number(cells.amount, context, difference.unsigned_abs());
        if amount == 0 {
            return expected;
        }
        match self.bit(cells.sign, 0, Pace::Slow, difference < 0) {
            true => expected.wrapping_sub(amount),
            false => expected.wrapping_add(amount),
        }
    }

    /// A number below `end`, all being as likely: its half, the half's half, and so on.
    pub(super) fn below(&mut self, end: u64, value: u64) -> u64 {
        let (mut first, mut end) = (0, end);
        while end - first > 1 {
            let middle = first + (end - first) / 2;
            if self.coder.code(EVEN, value >= middle) {
                first = middle;
            } else {
                end = middle;
            }
        }
        first
    }
}

/// The size of a number in half octaves: twice its length in bits, and one more in the upper half of its octave.
pub(super) fn half_octave(value: u64) -> usize {
    match u64::BITS - value.leading_zeros() {
        0 => 0,
        1 => 2,
        length => 2 * length as usize + (value >> (length - 2) & 1) as usize,
    }
}

/// `a` · `b` / `c`, cut, the lowest 64 bits; 0 where `c` is 0.
pub(super) fn share(a: u64, b: u64, c: u64) -> u64 {
    match (a.checked_mul(b), c) {
        (_, 0) => 0,
        (Some(product), _) => product / c,
        (None, _) => (u128::from(a) * u128::from(b) / u128::from(c)) as u64,
    }
}
