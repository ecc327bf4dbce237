//! A slice that is read from the front and knows where in the file it lies. No method panics.

use crate::error::Damage;
use crate::varint;
use std::borrow::Cow;

/// A part of the file, from its current position on.
#[derive(Debug, Clone)]
pub(crate) struct Input<'a> {
    rest: &'a [u8],
    offset: u64,
}

impl<'a> Input<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Input<'a> {
        Input { rest: bytes, offset: 0 }
    }

    /// Position in the file, bytes.
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    pub(crate) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Damage at the current position.
    pub(crate) fn damage(&self, problem: impl Into<Cow<'static, str>>) -> Damage {
        Damage { offset: self.offset, problem: problem.into() }
    }

    /// The next `length` bytes as a part of their own.
    pub(crate) fn part(&mut self, length: u64, what: &'static str) -> Result<Input<'a>, Damage> {
        let split = usize::try_from(length).ok().and_then(|length| self.rest.split_at_checked(length));
        let Some((part, rest)) = split else {
            return Err(self.damage(format!("{what} of {length} bytes expected, {} there", self.rest.len())));
        };
        let part = Input { rest: part, offset: self.offset };
        self.rest = rest;
        self.offset += length;
        Ok(part)
    }

    /// The same without its first `length` bytes, or as many as there are.
    pub(crate) fn skipped(self, length: usize) -> Input<'a> {
        let length = length.min(self.rest.len());
        Input { rest: &self.rest[length..], offset: self.offset + length as u64 }
    }

    fn array<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N], Damage> {
        let part = self.part(N as u64, what)?;
        Ok(*part.rest.first_chunk().expect("a part is as long as asked for"))
    }

    pub(crate) fn u16(&mut self, what: &'static str) -> Result<u16, Damage> {
        self.array(what).map(u16::from_le_bytes)
    }

    pub(crate) fn u32(&mut self, what: &'static str) -> Result<u32, Damage> {
        self.array(what).map(u32::from_le_bytes)
    }

    pub(crate) fn number(&mut self, what: &'static str) -> Result<u64, Damage> {
        let Some((value, length)) = varint::decode(self.rest) else {
            return Err(self.damage(format!("{what}: a number expected")));
        };
        self.rest = &self.rest[length..];
        self.offset += length as u64;
        Ok(value)
    }

    /// A number that fits the type wanted.
    pub(crate) fn number_to<T: TryFrom<u64>>(&mut self, what: &'static str) -> Result<T, Damage> {
        let start = self.clone();
        let value = self.number(what)?;
        T::try_from(value).map_err(|_| start.damage(format!("{what} {value} is too large")))
    }

    /// The id of an entry of a table with `count` entries so far.
    pub(crate) fn id(&mut self, count: usize, what: &'static str) -> Result<u32, Damage> {
        let start = self.clone();
        let value = self.number(what)?;
        start.check_id(value, count, what)
    }

    /// As [`Input::id`], one higher, 0 being none.
    pub(crate) fn optional_id(&mut self, count: usize, what: &'static str) -> Result<Option<u32>, Damage> {
        let start = self.clone();
        match self.number(what)?.checked_sub(1) {
            None => Ok(None),
            Some(value) => start.check_id(value, count, what).map(Some),
        }
    }

    pub(crate) fn check_id(&self, value: u64, count: usize, what: &'static str) -> Result<u32, Damage> {
        match u32::try_from(value) {
            Ok(id) if value < count as u64 => Ok(id),
            _ => Err(self.damage(format!("{what} {value} expected to be one of {count}"))),
        }
    }

    pub(crate) fn string(&mut self, what: &'static str) -> Result<Vec<u8>, Damage> {
        let mut next = self.clone();
        let length = next.number(what)?;
        let string = next.part(length, what)?.rest.to_vec();
        *self = next;
        Ok(string)
    }
}
