//! Which rows of a table are shown, in which order, and what the others come to.

use super::number::{Shown, counted};
use super::options::{Options, Order};
use super::style::Style;
use crate::analysis::number::Number;
use crate::analysis::tally::Usage;
use std::cmp::Reverse;
use std::io::{self, Write};

/// A table's rows, divided.
pub(super) struct Rows<T, N> {
    /// Rows to show.
    pub(super) shown: Vec<T>,
    /// Rows left out because they are not asked for.
    unasked: usize,
    /// Rows left out because they are small.
    small: usize,
    /// Rows left out because there is a limit.
    over: usize,
    /// What the rows that are left out come to.
    rest: Usage<N>,
}

impl<T, N: Shown> Rows<T, N> {
    /// Leaves out the small rows. `weight` is what counts for that, `part` what is summed.
    pub(super) fn select(
        rows: impl IntoIterator<Item = T>,
        options: &Options,
        whole: &Usage<N>,
        weight: impl Fn(&T) -> Usage<N>,
        part: impl Fn(&T) -> Usage<N>,
    ) -> Self {
        let (shown, small): (Vec<T>, Vec<T>) =
            rows.into_iter().partition(|row| options.detail.shows(&weight(row), whole));
        let mut rest = Usage::default();
        small.iter().for_each(|row| rest += part(row));
        Rows { shown, unasked: 0, small: small.len(), over: 0, rest }
    }

    /// Makes other rows of the rows shown.
    pub(super) fn map<U>(self, make: impl FnMut(T) -> U) -> Rows<U, N> {
        let Rows { shown, unasked, small, over, rest } = self;
        Rows { shown: shown.into_iter().map(make).collect(), unasked, small, over, rest }
    }

    /// Leaves out the rows that are not asked for.
    pub(super) fn keep(&mut self, asked: impl Fn(&T) -> bool, part: impl Fn(&T) -> Usage<N>) {
        self.shown.retain(|row| {
            let asked = asked(row);
            if !asked {
                self.unasked += 1;
                self.rest += part(row);
            }
            asked
        });
    }

    /// Leaves out what is over the limit; the rows are in order.
    pub(super) fn limit(&mut self, options: &Options, part: impl Fn(&T) -> Usage<N>) {
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
        sum: impl Fn(&Usage<N>) -> String,
    ) -> io::Result<()> {
        let count = (self.unasked + self.small + self.over) as u64;
        if count == 0 {
            return Ok(());
        }
        let note = format!("  left out{}: {}, {}", self.why(options), counted(count, one), sum(&self.rest));
        writeln!(out, "\n{}", options.styles.paint(Style::Faint, &note))
    }

    /// Why rows are left out, where all are for the same reason.
    fn why(&self, options: &Options) -> String {
        match (self.unasked, self.small, self.over, options.detail.limit()) {
            (0, _, 0, Some(limit)) => format!(", each {} {limit}", N::SMALL),
            (0, 0, _, _) => ", over the limit".into(),
            (_, 0, 0, _) => ", not asked for".into(),
            _ => String::new(),
        }
    }
}

/// A sum with the kept bytes behind it, where they mean something.
pub(super) fn kept_too<N: Shown>(sum: String, usage: &Usage<N>, options: &Options) -> String {
    if options.half.is_freed() { format!("{sum}, {} kept", usage.kept_bytes().text()) } else { sum }
}

/// What rows are ordered by, smallest first: the number that the option asks for or, without it, `own`.
pub(crate) fn rank<N: Number>(order: Option<Order>, usage: &Usage<N>, own: N) -> Reverse<u64> {
    Reverse(match order {
        None => own.weight(),
        Some(Order::Bytes) => usage.bytes.weight(),
        Some(Order::Kept) => usage.kept_bytes().weight(),
        Some(Order::Allocs) => usage.allocs.weight(),
        Some(Order::KeptObjects) => usage.kept().weight(),
        Some(Order::Name) => 0,
    })
}
