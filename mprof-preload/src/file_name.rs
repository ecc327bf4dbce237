//! Which file a process writes.

use core::fmt::Write;
use core::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

use mprof_core::arena::keep_bytes;
use mprof_core::note::Text;
use mprof_core::{process, sys};

use crate::{identity, options};

/// Longest path of a data file, bytes.
pub const PATH: usize = 4096;

/// The name that the program gave in this run, absolute; null: none.
static GIVEN: AtomicPtr<&'static [u8]> = AtomicPtr::new(core::ptr::null_mut());
/// The process that gave it: its file bears just that name.
static GIVER: AtomicU32 = AtomicU32::new(0);

/// From now on the profile goes to this file, which is seen from the current directory.
pub fn give(name: &[u8]) {
    let mut path = Text::<PATH>::new();
    let mut buffer = [0u8; PATH];
    if name.first() != Some(&b'/') {
        path.push(sys::current_directory(&mut buffer).unwrap_or(identity::directory()));
        path.push(b"/");
    }
    path.push(name);
    if let Some(path) = keep_bytes(path.as_bytes()) {
        identity::keep_forever(&GIVEN, path);
        GIVER.store(process::id(), Ordering::Release);
    }
}

/// Whether process `id` gave the name that is in force.
pub fn was_given_by(id: u32) -> bool {
    GIVER.load(Ordering::Acquire) == id
}

/// Where this process writes: the name that it gave, `MPROF_DATA`, or `mprof.data`, in the directory of the start;
/// other processes than the first add their id, unless the name has it already or is their own.
pub fn push(name: &mut Text<PATH>) {
    // SAFETY: only `give` stores there, a reference that is never freed.
    let given = unsafe { GIVEN.load(Ordering::Acquire).as_ref() }.copied();
    let pattern = given.or(options::data()).unwrap_or(b"mprof.data");
    if pattern.first() != Some(&b'/') && !identity::directory().is_empty() {
        name.push(identity::directory());
        name.push(b"/");
    }
    let id = process::id();
    let mut has_id = false;
    let mut bytes = pattern.iter();
    while let Some(&byte) = bytes.next() {
        match (byte, if byte == b'%' { bytes.clone().next() } else { None }) {
            (b'%', Some(b'p')) => {
                has_id = true;
                let _ = write!(name, "{id}");
                bytes.next();
            }
            (b'%', Some(b'n')) => {
                let program = identity::program();
                name.push(program.rsplit(|&byte| byte == b'/').next().unwrap_or(program));
                bytes.next();
            }
            (b'%', Some(b'%')) => {
                name.push(b"%");
                bytes.next();
            }
            _ => name.push(&[byte]),
        }
    }
    let is_own = if given.is_some() { was_given_by(id) } else { identity::is_first(id) };
    if !has_id && !is_own {
        let _ = write!(name, ".{id}");
    }
}
