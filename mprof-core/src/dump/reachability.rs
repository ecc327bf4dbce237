//! The part of the profile about what the program could still reach.

use mprof_format::kinds::Category;
use mprof_format::reachability::{Amount, CLASSES, Kept};
use mprof_format::write::Sink;

use super::{Dump, lenient};
use crate::reach;
use crate::records::Tally;

impl<S: Sink> Dump<'_, S> {
    /// Says whether the kept objects were classified. What was found follows, heap by heap.
    pub(super) fn reachability(&mut self) -> Result<(), S::Error> {
        match reach::summary() {
            Some(summary) => lenient(self.writer.reachability(summary.unseen_threads)),
            None => Ok(()),
        }
    }

    /// The classes of one counter's kept objects.
    pub(super) fn kept(&mut self, context: u32, tally: &Tally) -> Result<(), S::Error> {
        let amounts = reach::of_record(tally.number);
        if amounts.iter().all(|amount| amount.objects == 0) {
            return Ok(());
        }
        let mut classes = [Amount::default(); CLASSES];
        for (class, amount) in classes.iter_mut().zip(amounts) {
            *class = Amount { objects: amount.objects, bytes: amount.bytes };
        }
        let category = Category::from_index(tally.category as u8);
        lenient(self.writer.kept(&Kept { context, category, classes }))
    }
}
