//! The writer of counters, with what was alive at the peak and how long freed objects lived (see `packed`).

use super::{Sink, WriteError, Writer, Written};
use crate::history::{Lifetime, Live};
use crate::kinds::{Category, Counter};
use crate::layout::Tag;
use crate::packed::{CELLS, Cell, Counts, Encoder, LONGEST, Lives, MEMORY, Models, Packed};
use crate::record::Record;

/// All that is told of one context and category. At least one of the three is there, and all that are there are of the
/// same context and category.
#[derive(Debug, Clone, Copy, Default)]
pub struct Entry<'a> {
    /// What was allocated and freed.
    pub counter: Option<&'a Counter>,
    /// What was alive at the peak; only after [`Writer::peak`].
    pub live: Option<&'a Live>,
    /// How long the freed objects lived.
    pub lifetime: Option<&'a Lifetime>,
}

impl Entry<'_> {
    /// Context and category; `None` where there are none, or different ones.
    fn key(&self) -> Option<(u32, Category)> {
        let counter = self.counter.map(|counter| (counter.context, counter.category));
        let live = self.live.map(|live| (live.context, live.category));
        let lifetime = self.lifetime.map(|lifetime| (lifetime.context, lifetime.category));
        let key = counter.or(live).or(lifetime)?;
        [counter, live, lifetime].iter().flatten().all(|other| *other == key).then_some(key)
    }
}

/// What entries are told after, and the open record's coder.
pub(super) struct Memory<'a> {
    cells: &'a mut [Cell],
    /// Whether the cells are in use. Until then they hold anything, and are left alone.
    is_begun: bool,
    encoder: Encoder,
}

impl<'a> Memory<'a> {
    /// Takes cells off the front of a buffer, and gives the rest; both empty where it is too small.
    pub(super) fn from(buffer: &'a mut [u8]) -> (Memory<'a>, &'a mut [u8]) {
        let (bytes, rest) = buffer.split_at_mut_checked(MEMORY).unwrap_or_default();
        let (cells, _) = bytes.as_chunks_mut();
        debug_assert!(cells.is_empty() || cells.len() == CELLS);
        (Memory { cells, is_begun: false, encoder: Encoder::START }, rest)
    }

    /// Begins a record. What was learnt in those before stays.
    pub(super) fn begin(&mut self) {
        self.encoder = Encoder::START;
    }

    fn add(&mut self, entry: &Packed, record: &mut Record<'_>) {
        if !self.is_begun {
            self.cells.fill([0; 4]);
            self.is_begun = true;
        }
        self.encoder.entry(Models::new(self.cells), entry, |byte| record.byte(byte));
    }

    /// Ends the record's entries, with zeros up to one byte for each.
    pub(super) fn finish(&mut self, record: &mut Record<'_>) {
        self.encoder.finish(Models::new(self.cells), |byte| record.byte(byte));
        while record.length() < self.encoder.entries() {
            record.byte(0);
        }
    }
}

impl<S: Sink> Writer<'_, S> {
    /// Adds what was allocated at one context in one category, and nothing else about it; see [`Writer::entry`].
    ///
    /// # Errors
    /// As for [`Writer::entry`].
    pub fn counter(&mut self, counter: &Counter) -> Written<(), S> {
        self.entry(&Entry { counter: Some(counter), ..Entry::default() })
    }

    /// Adds all that is told of one context and category; shortest by rising context and category. What is told of the
    /// same context and category more than once is summed by the reader.
    ///
    /// # Errors
    /// The sink's; `Invalid` where the context is not written yet, or, for what was alive at the peak, the peak is not,
    /// and for an entry that is empty or of different contexts or categories.
    pub fn entry(&mut self, entry: &Entry<'_>) -> Written<(), S> {
        let Some((context, category)) = entry.key() else {
            return Err(WriteError::Invalid("an entry is of one context and category"));
        };
        self.known(context)?;
        if entry.live.is_some() && self.heads.peak.is_none() {
            return Err(WriteError::Invalid("what was alive at the peak comes after the peak"));
        }
        // No more entries than there will be bytes.
        if self.packed.encoder.entries() >= self.record.capacity() {
            self.flush()?;
        }
        self.room(Tag::Packed, LONGEST)?;
        let packed = Packed {
            context,
            category: category.index(),
            counts: entry.counter.map(counts),
            live: entry.live.map(|live| (live.objects, live.bytes)),
            lives: entry.lifetime.map(lives),
        };
        self.packed.add(&packed, &mut self.record);
        Ok(())
    }
}

fn counts(counter: &Counter) -> Counts {
    Counts {
        allocs: counter.allocs,
        bytes: counter.bytes,
        kept: counter.allocs.wrapping_sub(counter.frees),
        kept_bytes: counter.bytes.wrapping_sub(counter.freed_bytes),
    }
}

/// The lifetimes, without what cannot be: a sum of ages where all are 0, bytes of objects that are not there.
fn lives(lifetime: &Lifetime) -> Lives {
    let is_old = lifetime.classes[1..].iter().any(|count| *count > 0);
    Lives {
        classes: lifetime.classes,
        temporary: lifetime.temporary,
        ages: if is_old { lifetime.ages } else { 0 },
        young_bytes: if lifetime.classes[0] > 0 { lifetime.young_bytes } else { 0 },
    }
}
