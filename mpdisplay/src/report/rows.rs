//! Which rows of a table are shown, in which order, and what the others come to.

use super::number::counted;
use super::options::{Options, Order};
use crate::analysis::tally::Usage;
use std::cmp::Reverse;
use std::io::{self, Write};

/// A table's rows, divided.
pub(super) struct Rows<T> {
    /// Rows to show.
    pub(super) shown: Vec<T>,
    /// Rows left out because they are small.
    small: usize,
    /// Rows left out because there is a limit.
    over: usize,
    /// What the rows that are left out come to.
    rest: Usage,
}

impl<T> Rows<T> {
    /// Leaves out the small rows. `weight` is what counts for that, `part` what is summed.
    pub(super) fn select(
        rows: impl IntoIterator<Item = T>,
        options: &Options,
        whole: &Usage,
        weight: impl Fn(&T) -> Usage,
        part: impl Fn(&T) -> Usage,
    ) -> Self {
        let (shown, small): (Vec<T>, Vec<T>) =
            rows.into_iter().partition(|row| options.detail.shows(&weight(row), whole));
        let mut rest = Usage::default();
        small.iter().for_each(|row| rest += part(row));
        Rows { shown, small: small.len(), over: 0, rest }
    }

    /// Makes other rows of the rows shown.
    pub(super) fn map<U>(self, make: impl FnMut(T) -> U) -> Rows<U> {
        let Rows { shown, small, over, rest } = self;
        Rows { shown: shown.into_iter().map(make).collect(), small, over, rest }
    }

    /// Leaves out what is over the limit; the rows are in order.
    pub(super) fn limit(&mut self, options: &Options, part: impl Fn(&T) -> Usage) {
        let limit = options.limit.unwrap_or(usize::MAX).min(self.shown.len());
        for row in self.shown.drain(limit..) {
            self.over += 1;
            self.rest += part(&row);
        }
    }

    /// Writes what is left out, if anything is: how many rows (`one` of them is called so), and `sum` of them.
    pub(super) fn note(
        &self,
        out: &mut impl Write,
        options: &Options,
        one: &str,
        sum: impl Fn(&Usage) -> String,
    ) -> io::Result<()> {
        let count = self.small + self.over;
        if count == 0 {
            return Ok(());
        }
        let why = match options.detail.limit() {
            Some(limit) if self.over == 0 => format!(", each under {limit}"),
            _ => String::new(),
        };
        writeln!(out, "\n  left out{why}: {}, {}", counted(count as u64, one), sum(&self.rest))
    }
}

/// What rows are ordered by, smallest first: the number that the option asks for or, without it, `own`.
pub(crate) fn rank(order: Option<Order>, usage: &Usage, own: u64) -> Reverse<u64> {
    Reverse(match order {
        None => own,
        Some(Order::Bytes) => usage.bytes,
        Some(Order::Kept) => usage.kept_bytes(),
        Some(Order::Allocs) => usage.allocs,
        Some(Order::KeptObjects) => usage.kept(),
        Some(Order::Name) => 0,
    })
}
