//! The writer of the record about reachability.

use super::{NUMBERS, Sink, WriteError, Writer, Written};
use crate::layout::Tag;
use crate::reachability::Kept;

impl<S: Sink> Writer<'_, S> {
    /// Says that the kept objects were classified, and how many threads' registers could not be looked at; once, before
    /// [`Writer::kept`].
    ///
    /// # Errors
    /// The sink's; `Invalid` the second time.
    pub fn reachability(&mut self, unseen_threads: u32) -> Written<(), S> {
        if self.heads.unseen_threads.replace(unseen_threads).is_some() {
            return Err(WriteError::Invalid("kept objects are classified once"));
        }
        self.room(Tag::Reachability, NUMBERS)
    }

    /// Adds the kept objects of one context and category.
    ///
    /// # Errors
    /// The sink's; `Invalid` where [`Writer::reachability`] was not called or the context is not written yet.
    pub fn kept(&mut self, kept: &Kept) -> Written<(), S> {
        if self.heads.unseen_threads.is_none() {
            return Err(WriteError::Invalid("classes come after it is said that there are any"));
        }
        self.known(kept.context)?;
        self.room(Tag::Reachability, NUMBERS)?;
        self.key(kept.context, kept.category);
        let is_there = kept.classes.map(|amount| amount.objects != 0 || amount.bytes != 0);
        let classes =
            is_there.iter().enumerate().fold(0, |mask, (class, &there)| mask | u64::from(there) << class);
        self.record.number(classes);
        for (amount, _) in kept.classes.iter().zip(is_there).filter(|(_, there)| *there) {
            self.numbers(&[amount.objects, amount.bytes]);
        }
        Ok(())
    }
}
