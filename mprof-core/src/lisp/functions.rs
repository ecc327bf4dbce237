//! Lisp functions: their names, copied when they are first seen, and the machine code of those that are compiled.
//!
//! A function that is interpreted is entered when it is first met on a chain, one that is compiled when the Lisp system
//! makes it, so that its name is known whatever becomes of it. Entries never move or go. There is no lock: two threads
//! that enter the same name at once may make two entries of it, which readers join.

use core::alloc::Layout;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU16, AtomicU32, Ordering};

use allocator_api2::alloc::Allocator;

use crate::arena::{Arena, keep_bytes};
use crate::location::{FrameKey, SPACE_LISP};

/// Frame space of the Lisp system's own code; 0: none.
static SYSTEM: AtomicU16 = AtomicU16::new(0);

/// Says which frame space the Lisp system's own code is in.
pub fn set_system(space: u16) {
    SYSTEM.store(space, Ordering::Relaxed);
}

/// Whether a key is of the Lisp system's own code.
pub fn is_system(key: FrameKey) -> bool {
    key.space() == SYSTEM.load(Ordering::Relaxed)
}

/// Functions that can be told apart; further compiled ones go by the names of their code, further interpreted ones by
/// that of the interpreter.
const FUNCTIONS: usize = 1 << 17;
/// Slots of the index: more than there are functions.
const SLOTS: usize = 2 * FUNCTIONS;

/// A Lisp function.
#[derive(Debug)]
pub struct Function {
    /// Name as it is printed, without package; empty where it has none.
    pub name: &'static [u8],
    /// Package of the name; empty where it has none.
    pub package: &'static [u8],
    /// Key of the first instruction; [`FrameKey::NONE`] where it is interpreted.
    pub start: FrameKey,
    /// Length of the code, bytes; 0 where it is interpreted.
    pub length: u32,
    /// Whether some chain is known to need it.
    used: AtomicBool,
    /// Its id in the file that is being written.
    pub id: AtomicU32,
}

static TABLE: [AtomicPtr<Function>; FUNCTIONS] = [const { AtomicPtr::new(null_mut()) }; FUNCTIONS];
static COUNT: AtomicU32 = AtomicU32::new(0);
/// Numbers of functions, plus 1, by hash: of name and package where they are interpreted, else of the code's start.
static INDEX: [AtomicU32; SLOTS] = [const { AtomicU32::new(0) }; SLOTS];

/// A function by number.
pub fn get(number: u32) -> Option<&'static Function> {
    // SAFETY: functions are published whole and never freed.
    unsafe { TABLE.get(number as usize)?.load(Ordering::Acquire).as_ref() }
}

/// How many numbers were given out.
pub fn count() -> u32 {
    COUNT.load(Ordering::Acquire).min(FUNCTIONS as u32)
}

/// The key of an interpreted function's frame.
pub fn key(number: u32) -> FrameKey {
    FrameKey(u64::from(SPACE_LISP) << 48 | u64::from(number))
}

impl Function {
    /// Whether it is interpreted.
    pub fn is_interpreted(&self) -> bool {
        self.start == FrameKey::NONE
    }

    /// Whether some chain is known to need it.
    pub fn is_used(&self) -> bool {
        self.used.load(Ordering::Relaxed)
    }
}

/// FNV-1a.
fn hash_bytes(hash: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(hash, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

fn hash_name(name: &[u8], package: &[u8]) -> u64 {
    const BASIS: u64 = 0xcbf2_9ce4_8422_2325;
    hash_bytes(hash_bytes(BASIS, name) ^ 0xff, package)
}

fn hash_start(start: FrameKey) -> u64 {
    start.0.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// Where a function is in the index, or would be.
struct Place {
    slot: &'static AtomicU32,
    number: Option<u32>,
}

/// Looks a function up; `None` where the index is full.
fn find(hash: u64, is: impl Fn(&Function) -> bool) -> Option<Place> {
    let first = (hash >> 20) as usize;
    for step in 0..SLOTS {
        let slot = &INDEX[(first + step) % SLOTS];
        let found = slot.load(Ordering::Acquire);
        if found == 0 {
            return Some(Place { slot, number: None });
        }
        if get(found - 1).is_some_and(&is) {
            return Some(Place { slot, number: Some(found - 1) });
        }
    }
    None
}

/// Adds a function; `None` when there are too many, or no memory.
fn add(name: &[u8], package: &[u8], start: FrameKey, length: u32) -> Option<u32> {
    if COUNT.load(Ordering::Relaxed) as usize >= FUNCTIONS {
        return None;
    }
    let (name, package) = (keep_bytes(name)?, keep_bytes(package)?);
    let memory = Arena.allocate(Layout::new::<Function>()).ok()?.cast::<Function>().as_ptr();
    let used = AtomicBool::new(start == FrameKey::NONE);
    // SAFETY: the memory fits the layout and no one else knows it.
    unsafe { memory.write(Function { name, package, start, length, used, id: AtomicU32::new(0) }) };
    let number = COUNT.fetch_add(1, Ordering::AcqRel);
    TABLE.get(number as usize)?.store(memory, Ordering::Release);
    Some(number)
}

/// Puts a number into the slot that was found free, or the next free one.
fn enter(hash: u64, slot: &AtomicU32, number: u32) {
    let first = (hash >> 20) as usize;
    let others = (0..SLOTS).map(|step| &INDEX[(first + step) % SLOTS]);
    for slot in core::iter::once(slot).chain(others) {
        if slot.compare_exchange(0, number + 1, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
            return;
        }
    }
}

/// The number of the interpreted function of this name, entered now if it is new.
pub fn interpreted(name: &[u8], package: &[u8]) -> Option<u32> {
    let hash = hash_name(name, package);
    let is = |function: &Function| {
        function.is_interpreted() && function.name == name && function.package == package
    };
    let Place { slot, number } = find(hash, is)?;
    if number.is_some() {
        return number;
    }
    let number = add(name, package, FrameKey::NONE, 0)?;
    enter(hash, slot, number);
    Some(number)
}

/// Enters a compiled function: name, package, key of the first instruction, length of the code in bytes. Where one was
/// entered with the same start before, that one stays.
pub fn compiled(name: &[u8], package: &[u8], start: FrameKey, length: u32) {
    let hash = hash_start(start);
    let Some(Place { slot, number: None }) = find(hash, |function| function.start == start) else { return };
    if let Some(number) = add(name, package, start, length) {
        enter(hash, slot, number);
    }
}

/// Notes that the code which starts here is on a chain; returns whether it is a Lisp function's.
pub fn use_code(start: FrameKey) -> bool {
    let place = find(hash_start(start), |function| function.start == start);
    let Some(function) = place.and_then(|place| get(place.number?)) else { return false };
    function.used.store(true, Ordering::Relaxed);
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::location::Location;

    #[test]
    fn a_name_is_one_function_in_each_package() {
        let number = interpreted(b"AREA", b"CL-USER").unwrap();
        assert_eq!(interpreted(b"AREA", b"CL-USER"), Some(number));
        assert_ne!(interpreted(b"AREA", b"SHAPES"), Some(number));
        let function = get(number).unwrap();
        assert_eq!((function.name, function.package), (&b"AREA"[..], &b"CL-USER"[..]));
        assert!(function.is_interpreted() && function.is_used());
        assert_eq!(key(number).space(), SPACE_LISP);
    }

    #[test]
    fn code_is_used_once_it_is_on_a_chain() {
        let start = FrameKey::code(20, Location::interrupted_at(0x5000));
        compiled(b"MAPCAR", b"COMMON-LISP", start, 64);
        compiled(b"ALIAS", b"COMMON-LISP", start, 64);
        let number = (0..count()).find(|&number| get(number).unwrap().start == start).unwrap();
        let function = get(number).unwrap();
        assert_eq!((function.name, function.length, function.is_used()), (&b"MAPCAR"[..], 64, false));
        assert!(use_code(start));
        assert!(function.is_used());
        assert!(!use_code(FrameKey::code(20, Location::interrupted_at(0x6000))));
    }

    #[test]
    fn many_functions_are_told_apart() {
        let numbers: alloc::vec::Vec<u32> = (0..5000u32)
            .map(|index| interpreted(alloc::format!("F{index}").as_bytes(), b"MANY").unwrap())
            .collect();
        for (index, &number) in numbers.iter().enumerate() {
            assert_eq!(get(number).unwrap().name, alloc::format!("F{index}").as_bytes());
        }
    }
}
