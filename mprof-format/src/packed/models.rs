//! What is remembered of the entries before: how likely each bit is in its place, a few averages and last numbers.
//!
//! All of it lies in cells of four bytes, and is as at the start where they are zero: a writer without an allocator takes
//! them from its buffer, and what it does not need it does not touch.

use super::coder::{EVEN, ODDS};

/// A piece of memory, lowest byte first.
pub(crate) type Cell = [u8; 4];

/// Cells that belong together.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cells {
    first: usize,
    count: usize,
}

impl Cells {
    pub(super) const fn start(count: usize) -> Cells {
        Cells { first: 0, count }
    }

    /// The next `count` cells.
    pub(super) const fn then(self, count: usize) -> Cells {
        Cells { first: self.end(), count }
    }

    pub(super) const fn end(self) -> usize {
        self.first + self.count
    }

    /// One of them; from the last on the last.
    fn cell(self, index: usize) -> usize {
        self.first + index.min(self.count - 1)
    }

    /// One of the parts of `count` cells each; from the last on the last.
    pub(super) fn part(self, index: usize, count: usize) -> Cells {
        self.part_of(index.min(self.count / count - 1), count)
    }

    /// One of the parts of `count` cells each, which is there.
    pub(super) fn part_of(self, index: usize, count: usize) -> Cells {
        debug_assert!((index + 1) * count <= self.count);
        Cells { first: self.first + index * count, count }
    }
}

/// How soon a model forgets: how many bits, at least, its odds are the average of.
#[derive(Debug, Clone, Copy)]
pub(super) enum Pace {
    /// For what differs from one part of the program to the next.
    Quick = 24,
    /// For what is about the same in all of it.
    Slow = 255,
}

/// By how much odds move towards what came after so many bits, in parts of 65 536: so that they are the average of these,
/// and of the half with which they began.
const RATES: [u32; Pace::Slow as usize + 1] = {
    let mut rates = [0; Pace::Slow as usize + 1];
    let mut seen = 0;
    while seen < rates.len() {
        rates[seen] = (1 << 17) / (2 * seen as u32 + 3);
        seen += 1;
    }
    rates
};

/// Values that an average is of, at least, before it forgets.
const STEADY: u32 = 1023;

/// How likely a bit is, and where that is kept.
#[derive(Debug)]
pub(super) struct Model<'a> {
    /// A 0 comes so many times of [`ODDS`].
    pub(super) zero: u32,
    /// Bits that have come.
    seen: u32,
    cell: Option<&'a mut Cell>,
}

impl Model<'_> {
    /// Notes what the bit was.
    #[inline(always)]
    pub(super) fn learn(self, pace: Pace, bit: bool) {
        let rate = RATES[self.seen as usize % RATES.len()];
        // Without a branch, for which way it goes is hard to foresee.
        let choose =
            |if_one: u32, if_zero: u32| if_zero ^ ((if_zero ^ if_one) & u32::from(bit).wrapping_neg());
        let distance = choose(self.zero, ODDS - self.zero);
        let step = ((u64::from(distance) * u64::from(rate)) >> 16) as u32;
        let zero = choose(self.zero.wrapping_sub(step), self.zero + step);
        let seen = (self.seen + 1).min(pace as u32);
        if let Some(cell) = self.cell {
            *cell = (seen << 16 | (zero ^ EVEN)).to_le_bytes();
        }
    }
}

/// The memory.
#[derive(Debug)]
pub(crate) struct Models<'a>(&'a mut [Cell]);

impl<'a> Models<'a> {
    /// `cells`: as they were left, or zeros at the start; [`super::CELLS`] of them.
    pub(crate) fn new(cells: &'a mut [Cell]) -> Models<'a> {
        Models(cells)
    }

    fn load(&self, cell: usize) -> u32 {
        self.0.get(cell).map_or(0, |bytes| u32::from_le_bytes(*bytes))
    }

    fn store(&mut self, cell: usize, value: u32) {
        if let Some(bytes) = self.0.get_mut(cell) {
            *bytes = value.to_le_bytes();
        }
    }

    /// How likely a 0 is, of [`ODDS`] (never not at all, and never for certain), and what notes the bit that came.
    #[inline(always)]
    pub(super) fn model(&mut self, cells: Cells, index: usize) -> Model<'_> {
        let cell = self.0.get_mut(cells.cell(index));
        let state = cell.as_ref().map_or(0, |cell| u32::from_le_bytes(**cell));
        Model { zero: (state & 0xffff) ^ EVEN, seen: state >> 16, cell }
    }

    /// An average, in parts of 2³².
    pub(super) fn average(&self, cells: Cells, index: usize) -> u32 {
        self.load(cells.cell(2 * index)) ^ 1 << 31
    }

    /// Adds a value, in parts of 2³², to an average.
    pub(super) fn add(&mut self, cells: Cells, index: usize, value: u64) {
        let seen = self.load(cells.cell(2 * index + 1));
        let average = i64::from(self.average(cells, index));
        let value = value.min(u32::MAX.into()) as i64;
        let average = average + 2 * (value - average) / (2 * i64::from(seen) + 3);
        self.store(cells.cell(2 * index), average as u32 ^ 1 << 31);
        self.store(cells.cell(2 * index + 1), (seen + 1).min(STEADY));
    }

    /// A number that was kept.
    pub(super) fn kept(&self, cells: Cells, index: usize) -> u64 {
        let [low, high] = [2 * index, 2 * index + 1].map(|part| u64::from(self.load(cells.cell(part))));
        high << 32 | low
    }

    /// Keeps a number.
    pub(super) fn keep(&mut self, cells: Cells, index: usize, value: u64) {
        self.store(cells.cell(2 * index), value as u32);
        self.store(cells.cell(2 * index + 1), (value >> 32) as u32);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CELLS: Cells = Cells::start(4);

    #[test]
    fn odds_follow_what_comes_and_never_are_certain() {
        for (pace, least) in [(Pace::Quick, 25), (Pace::Slow, 144)] {
            for bit in [false, true] {
                let mut cells = [[0; 4]; 4];
                let mut models = Models::new(&mut cells);
                assert_eq!(models.model(CELLS, 1).zero, EVEN);
                models.model(CELLS, 1).learn(pace, bit);
                assert_eq!(models.model(CELLS, 1).zero, if bit { 10_923 } else { 54_613 });
                (0..5000).for_each(|_| models.model(CELLS, 1).learn(pace, bit));
                let odds = models.model(CELLS, 1).zero;
                assert_eq!(if bit { odds } else { ODDS - odds }, least);
                assert_eq!(models.model(CELLS, 0).zero, EVEN);
            }
        }
    }

    #[test]
    fn averages_and_numbers_are_kept() {
        let mut cells = [[0; 4]; 4];
        let mut models = Models::new(&mut cells);
        assert_eq!(models.average(CELLS, 0), 1 << 31);
        models.add(CELLS, 0, 0);
        assert_eq!(models.average(CELLS, 0), 715_827_883);
        (0..100_000).for_each(|_| models.add(CELLS, 0, u64::MAX));
        assert!(models.average(CELLS, 0) > u32::MAX - 1100);
        models.keep(CELLS, 1, 0x0123_4567_89ab_cdef);
        assert_eq!(models.kept(CELLS, 1), 0x0123_4567_89ab_cdef);
    }
}
