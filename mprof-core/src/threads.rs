//! Thread records: the tops of the tree. One is the first thread's; each other stands for all threads that began
//! in the same function, or for one thread where each is to have its own.

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::location::FrameKey;
use crate::sys;

const RECORDS: usize = 4096;

/// A thread record.
#[derive(Debug)]
pub struct ThreadRecord {
    /// Key of the first instruction of the function that the threads began in. [`FREE`], [`FIRST`] and
    /// [`ANYWHERE`] are no keys.
    start: AtomicU64,
    /// Threads counted into this record.
    count: AtomicU64,
    /// Kernel's id of the first of them.
    id: AtomicU32,
    /// Its name, 16 bytes.
    name: [AtomicU64; 2],
}

const FREE: u64 = u64::MAX;
/// The first thread.
const FIRST: u64 = u64::MAX - 1;
/// Threads whose start is not known, and all that found no record of their own.
const ANYWHERE: u64 = u64::MAX - 2;
/// A thread with a record of its own, whose start is not known.
const SINGLE: u64 = u64::MAX - 3;

static TABLE: [ThreadRecord; RECORDS] = [const {
    ThreadRecord {
        start: AtomicU64::new(FREE),
        count: AtomicU64::new(0),
        id: AtomicU32::new(0),
        name: [AtomicU64::new(0), AtomicU64::new(0)],
    }
}; RECORDS];

/// What the calling thread is to be counted under.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// It is the process's first thread.
    First,
    /// It began in the function with this key (of its first instruction).
    In(FrameKey),
    /// Not known.
    Anywhere,
}

/// Counts the calling thread into its record and returns the record's number. With `alone`, the record is its
/// own as long as there are any.
pub fn enter(start: Start, alone: bool) -> u32 {
    let word = match start {
        Start::First => FIRST,
        Start::In(key) => key.0,
        Start::Anywhere if alone => SINGLE,
        Start::Anywhere => ANYWHERE,
    };
    let number = claim(word, alone && start != Start::First)
        .or_else(|| claim(ANYWHERE, false))
        .unwrap_or(RECORDS as u32 - 1);
    let record = &TABLE[number as usize];
    if record.count.fetch_add(1, Ordering::Relaxed) == 0 {
        record.id.store(sys::thread_id(), Ordering::Relaxed);
        note_name(number);
    }
    number
}

/// The record for `word`, found or made. The last one is kept for [`ANYWHERE`].
fn claim(word: u64, fresh: bool) -> Option<u32> {
    let room = if word == ANYWHERE { RECORDS } else { RECORDS - 1 };
    for (number, record) in TABLE[..room].iter().enumerate() {
        let found = match record.start.compare_exchange(FREE, word, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => return Some(number as u32),
            Err(found) => found,
        };
        if found == word && !fresh {
            return Some(number as u32);
        }
    }
    None
}

/// Takes over the calling thread's present name, if the record is named after it.
pub fn note_name(number: u32) {
    let Some(record) = TABLE.get(number as usize) else { return };
    if record.id.load(Ordering::Relaxed) == sys::thread_id() {
        let name = sys::thread_name();
        for (half, bytes) in record.name.iter().zip(name.as_chunks::<8>().0) {
            half.store(u64::from_le_bytes(*bytes), Ordering::Relaxed);
        }
    }
}

/// A thread record, for a dump.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// NUL-padded name.
    pub name: [u8; 16],
    /// Kernel's thread id.
    pub id: u32,
    /// Threads counted.
    pub count: u64,
    /// Key of the start function's first instruction, where there is one.
    pub start: Option<FrameKey>,
}

/// The records in use, by number.
pub fn all() -> impl Iterator<Item = Entry> {
    TABLE.iter().map_while(|record| {
        let start = record.start.load(Ordering::Acquire);
        if start == FREE {
            return None;
        }
        let mut name = [0; 16];
        for (half, bytes) in record.name.iter().zip(name.as_chunks_mut::<8>().0) {
            *bytes = half.load(Ordering::Relaxed).to_le_bytes();
        }
        Some(Entry {
            name,
            id: record.id.load(Ordering::Relaxed),
            count: record.count.load(Ordering::Relaxed),
            start: (start < SINGLE).then_some(FrameKey(start)),
        })
    })
}

/// In a child after a fork: its thread is the first and only one.
pub fn forget_all() {
    for record in &TABLE {
        if record.start.swap(FREE, Ordering::Relaxed) == FREE {
            break;
        }
        record.count.store(0, Ordering::Relaxed);
    }
}
