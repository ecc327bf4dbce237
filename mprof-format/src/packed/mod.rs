//! The packed record of counters: one entry for each context and category, with all that is told of it, coded bit by bit.
//!
//! A counter's numbers say much about each other. What was freed is what has lifetimes; of objects of one size bytes are
//! a multiple; of the objects that lived longer than some age about the same share outlives the next. So each number is
//! told after those before it, as a few decisions, and each decision takes as many bits as it is surprising:
//! [`coder`] codes decisions by their odds, [`models`] remembers how they came out before in the same place, `places` says
//! what places there are, [`numbers`] makes decisions of numbers, and [`entry`] numbers of an entry.

mod coder;
mod entry;
mod models;
mod numbers;
mod places;

pub(crate) use entry::{Counts, Lives, Packed};
pub(crate) use models::{Cell, Models};
pub(crate) use places::CELLS;

use coder::{Coder, Decoder, Interval};
use numbers::Codec;

/// Bytes of the memory.
pub(crate) const MEMORY: usize = CELLS * size_of::<Cell>();

const _: () = assert!(MEMORY <= 48 * 1024, "the writer's memory has room for it");

/// Numbers in an entry.
const NUMBERS: usize = 16 + crate::history::LIFETIME_CLASSES;
/// Most bytes that an entry takes: of a number up to 53 decisions about its length, 8 about the bits behind the highest
/// and the sign, each up to 11.4 bits (25 of 65 536), and 63 bits that are as they are; and decisions that stand alone, which are
/// fewer than so many numbers would have.
pub(crate) const LONGEST: usize = 2 * NUMBERS * 110;

/// What codes the open record.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Encoder {
    interval: Interval,
    /// Entries so far.
    entries: usize,
}

impl Encoder {
    /// At the start of a record.
    pub(crate) const START: Encoder = Encoder { interval: Interval::ALL, entries: 0 };

    /// Entries in the record.
    pub(crate) fn entries(&self) -> usize {
        self.entries
    }

    /// Adds an entry; `out` gets the bytes.
    pub(crate) fn entry(&mut self, models: Models<'_>, entry: &Packed, out: impl FnMut(u8)) {
        let mut codec = Codec { coder: Sending { interval: self.interval, out }, models };
        codec.more(true);
        let coded = codec.entry(entry);
        debug_assert_eq!(coded.as_ref(), Ok(entry), "an entry is what is told of it");
        self.interval = codec.coder.interval;
        self.entries += 1;
    }

    /// Says that no entry follows.
    pub(crate) fn finish(self, models: Models<'_>, mut out: impl FnMut(u8)) {
        let mut codec = Codec { coder: Sending { interval: self.interval, out: &mut out }, models };
        codec.more(false);
        let (bytes, length) = codec.coder.interval.last_bytes();
        bytes[..length].iter().for_each(|byte| out(*byte));
    }
}

/// A coder that writes.
struct Sending<O> {
    interval: Interval,
    out: O,
}

impl<O: FnMut(u8)> Coder for Sending<O> {
    #[inline(always)]
    fn code(&mut self, zero: u32, bit: bool) -> bool {
        self.interval.encode(zero, bit, &mut self.out);
        bit
    }
}

/// The entries of a record.
pub(crate) struct Entries<'a> {
    codec: Codec<'a, Decoder<'a>>,
}

impl<'a> Entries<'a> {
    pub(crate) fn new(payload: &'a [u8], models: Models<'a>) -> Entries<'a> {
        Entries { codec: Codec { coder: Decoder::new(payload), models } }
    }

    /// The next entry; `None` at the end.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(crate) fn next(&mut self) -> Result<Option<Packed>, &'static str> {
        match self.codec.more(false) {
            true => self.codec.entry(&Packed::default()).map(Some),
            false => Ok(None),
        }
    }

    /// What has not been looked at. (The decoder is up to four bytes ahead.)
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.codec.coder.rest()
    }
}
