//! A frame as numbers: a *space*, and a value in it; and the memory of earlier frames that makes values short.

use crate::kinds::{Frame, Special};
use crate::varint::{unzigzag, zigzag};

/// Space of [`Frame::Special`]; the value is the special frame's number.
pub const SPECIAL: u64 = 0;
/// Space of [`Frame::Thread`]; the value is the thread id.
pub const THREAD: u64 = 1;
/// Space of [`Frame::Anonymous`], calling; the value is the address. The next space is for interrupted ones.
pub const ANONYMOUS: u64 = 2;
/// Space of code in module 0, calling; the value is the address. The next space is for interrupted frames, the
/// one after it for module 1, and so on. The spaces from 4 to here are free for later (Lisp names).
pub const MODULE: u64 = 16;

/// Splits a frame into space and value.
pub const fn split(frame: Frame) -> (u64, u64) {
    match frame {
        Frame::Special(special) => (SPECIAL, special.index() as u64),
        Frame::Thread(thread) => (THREAD, thread as u64),
        Frame::Anonymous { address, interrupted } => (ANONYMOUS + interrupted as u64, address),
        Frame::Code { module, address, interrupted } => {
            (MODULE + 2 * module as u64 + interrupted as u64, address)
        }
    }
}

/// Undoes [`split`]; `None` for spaces that are not in use and values that are too large for theirs.
pub fn join(space: u64, value: u64) -> Option<Frame> {
    match space {
        SPECIAL => Some(Frame::Special(Special::from_index(u32::try_from(value).ok()?))),
        THREAD => Some(Frame::Thread(u32::try_from(value).ok()?)),
        ANONYMOUS | 3 => Some(Frame::Anonymous { address: value, interrupted: space & 1 == 1 }),
        4..MODULE => None,
        _ => Some(Frame::Code {
            module: u32::try_from((space - MODULE) / 2).ok()?,
            address: value,
            interrupted: space & 1 == 1,
        }),
    }
}

const SLOTS: usize = 64;

/// What a record's earlier frames were. Fixed in size, so that the writer needs no memory: an address is told
/// as the difference from the last one in the same slot, and spaces that are 128 apart share a slot.
#[derive(Debug, Clone)]
pub struct FrameMemory {
    space: Option<u64>,
    addresses: [u64; SLOTS],
}

impl FrameMemory {
    /// As at the start of each record.
    pub const fn new() -> FrameMemory {
        FrameMemory { space: None, addresses: [0; SLOTS] }
    }

    /// The numbers that stand for `frame`: its space where it is not the last frame's, and its value.
    pub fn encode(&mut self, frame: Frame) -> (Option<u64>, u64) {
        let (space, value) = split(frame);
        let changed = if self.space == Some(space) { None } else { Some(space) };
        self.space = Some(space);
        let Some(last) = self.slot(space) else { return (changed, value) };
        let difference = value.wrapping_sub(*last) as i64;
        *last = value;
        (changed, zigzag(difference))
    }

    /// The space of the last frame.
    pub fn space(&self) -> Option<u64> {
        self.space
    }

    /// Undoes [`FrameMemory::encode`].
    pub fn decode(&mut self, space: u64, number: u64) -> Option<Frame> {
        self.space = Some(space);
        let Some(last) = self.slot(space) else { return join(space, number) };
        *last = last.wrapping_add(unzigzag(number) as u64);
        let value = *last;
        join(space, value)
    }

    /// Where the last address near `space` is kept; `None` for spaces without addresses.
    fn slot(&mut self, space: u64) -> Option<&mut u64> {
        match space {
            SPECIAL | THREAD => None,
            _ => Some(&mut self.addresses[(space / 2) as usize % SLOTS]),
        }
    }
}

impl Default for FrameMemory {
    fn default() -> FrameMemory {
        FrameMemory::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edge_frames_come_back() {
        let mut frames = std::vec![];
        for address in [0, 1, 0x1234, 1 << 63, u64::MAX] {
            for interrupted in [false, true] {
                frames.push(Frame::Anonymous { address, interrupted });
                for module in [0, 1, 63, 64, u32::MAX] {
                    frames.push(Frame::Code { module, address, interrupted });
                }
            }
        }
        for number in [0, 1, 2, u32::MAX] {
            frames.push(Frame::Thread(number));
            frames.push(Frame::Special(Special::from_index(number)));
        }
        let (mut out, mut back) = (FrameMemory::new(), FrameMemory::new());
        for frame in frames {
            let (changed, number) = out.encode(frame);
            let space = changed.or(back.space()).unwrap();
            assert_eq!(back.decode(space, number), Some(frame));
        }
    }

    #[test]
    fn unused_spaces_and_large_values_are_refused() {
        assert_eq!(join(4, 0), None);
        assert_eq!(join(15, 0), None);
        assert_eq!(join(SPECIAL, 1 << 32), None);
        assert_eq!(join(THREAD, 1 << 32), None);
        assert_eq!(join(MODULE + (2 << 32), 0), None);
        assert_eq!(join(u64::MAX, 0), None);
    }
}
