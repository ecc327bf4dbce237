//! One record while it is being written, in a buffer that the caller gave.

use crate::layout::{CRC, RECORD_HEADER, Tag};
use crate::varint::{MAX_VARINT, Varint};

/// The open record: header, payload so far, room for the checksum.
///
/// Nothing here fails: the writer asks [`Record::free`] first, and what does not fit even so is left out and
/// told by [`Record::seal`].
pub(crate) struct Record<'a> {
    buffer: &'a mut [u8],
    tag: Option<Tag>,
    /// Bytes in use, header included.
    used: usize,
}

impl<'a> Record<'a> {
    pub(crate) fn new(buffer: &'a mut [u8]) -> Record<'a> {
        // A payload's length is a u32.
        let longest = buffer.len().min(u32::MAX as usize);
        let (buffer, _) = buffer.split_at_mut(longest);
        Record { buffer, tag: None, used: RECORD_HEADER }
    }

    pub(crate) fn tag(&self) -> Option<Tag> {
        self.tag
    }

    /// Longest possible payload, bytes.
    pub(crate) fn capacity(&self) -> usize {
        self.buffer.len().saturating_sub(RECORD_HEADER + CRC)
    }

    /// Bytes that the payload may still grow by.
    pub(crate) fn free(&self) -> usize {
        self.buffer.len().saturating_sub(self.used + CRC)
    }

    /// Starts an empty record.
    pub(crate) fn open(&mut self, tag: Tag) {
        self.tag = Some(tag);
        self.used = RECORD_HEADER;
    }

    pub(crate) fn number(&mut self, value: u64) {
        if self.free() >= MAX_VARINT {
            self.append(Varint::new(value).as_bytes());
        } else {
            debug_assert!(false, "the writer asks for room first");
        }
    }

    pub(crate) fn string(&mut self, string: &[u8]) {
        self.number(string.len() as u64);
        self.append(string);
    }

    pub(crate) fn byte(&mut self, byte: u8) {
        self.append(&[byte]);
    }

    /// Length of the payload so far, bytes.
    pub(crate) fn length(&self) -> usize {
        self.used - RECORD_HEADER
    }

    fn append(&mut self, bytes: &[u8]) {
        let end = self.used + bytes.len();
        if let Some(place) = self.buffer.get_mut(self.used..end) {
            place.copy_from_slice(bytes);
            self.used = end;
        }
    }

    /// Closes the record: its bytes as they go into the file; `None` where none is open.
    pub(crate) fn seal(&mut self) -> Option<&[u8]> {
        let tag = self.tag.take()?;
        let end = self.used;
        self.used = RECORD_HEADER;
        let header = header(tag.number(), tag.flags(), end.checked_sub(RECORD_HEADER)? as u32);
        self.buffer.get_mut(..RECORD_HEADER)?.copy_from_slice(&header);
        let crc = crc32fast::hash(self.buffer.get(..end)?);
        self.buffer.get_mut(end..end + CRC)?.copy_from_slice(&crc.to_le_bytes());
        self.buffer.get(..end + CRC)
    }
}

/// The bytes before a payload.
pub(crate) fn header(tag: u16, flags: u16, length: u32) -> [u8; RECORD_HEADER] {
    let [t0, t1] = tag.to_le_bytes();
    let [f0, f1] = flags.to_le_bytes();
    let [l0, l1, l2, l3] = length.to_le_bytes();
    [t0, t1, f0, f1, l0, l1, l2, l3]
}
