//! mpdisplay, run as a child when the program ends.

use core::ffi::{CStr, c_char};
use core::sync::atomic::{AtomicPtr, Ordering};

use mprof_core::arena::keep_bytes;
use mprof_core::child::{self, End, Output, Program};
use mprof_core::note::{self, Text};
use mprof_core::sys::Errno;

use crate::file_name::{self, PATH};
use crate::{identity, options};

const NAME: &[u8] = b"mpdisplay";

/// All that it takes, kept at the start: at the end the program may have written over its environment, and the
/// environment that it has then may be changed by another thread.
struct Prepared {
    candidates: Vec<&'static CStr>,
    folder: &'static CStr,
    environment: Vec<*const c_char>,
}

static PREPARED: AtomicPtr<Prepared> = AtomicPtr::new(core::ptr::null_mut());

/// Keeps what is needed to run it; once, at the start. `library`: path of this library.
pub fn prepare(library: &[u8]) {
    let prepared = Prepared {
        candidates: candidates(library),
        folder: kept(&[identity::directory()]).unwrap_or_default(),
        environment: environment(),
    };
    PREPARED.store(Box::into_raw(Box::new(prepared)), Ordering::Release);
}

/// Bytes one after the other, in memory that stays.
fn kept(parts: &[&[u8]]) -> Option<&'static CStr> {
    let mut text = Text::<PATH>::new();
    parts.iter().for_each(|part| text.push(part));
    CStr::from_bytes_with_nul(keep_bytes(text.as_c_str()?.to_bytes_with_nul())?).ok()
}

/// Where it may be: beside the library, in the `bin` of the tree whose `lib`, or `lib/x86_64-linux-gnu`, the library
/// is in, or in a folder of `PATH`.
fn candidates(library: &[u8]) -> Vec<&'static CStr> {
    let mut all = Vec::new();
    if let Some(end) = library.iter().rposition(|&byte| byte == b'/') {
        let mut folder = kept(&[&library[..end]]).unwrap_or_default().to_bytes();
        // The loader has it as LD_PRELOAD gave it, which counts from the folder of the start.
        if folder.first() != Some(&b'/') && end != 0 {
            folder = kept(&[identity::directory(), b"/", folder]).unwrap_or_default().to_bytes();
        }
        for way in [&b"/"[..], b"/../bin/", b"/../../bin/"] {
            all.extend(kept(&[folder, way, NAME]));
        }
    }
    let path = options::variable(b"PATH").unwrap_or(b"/usr/local/bin:/usr/bin:/bin");
    for folder in path.split(|&byte| byte == b':').filter(|folder| folder.first() == Some(&b'/')) {
        all.extend(kept(&[folder, b"/", NAME]));
    }
    all
}

/// The environment of the start without what would have the child profiled, and with the suppressions.
fn environment() -> Vec<*const c_char> {
    let is_for_it = |entry: &&CStr| {
        let entry = entry.to_bytes();
        entry.starts_with(b"MPROF_SUPPRESSIONS=")
            || !entry.starts_with(b"MPROF_") && !entry.starts_with(b"LD_")
    };
    let entries = options::environment().filter(is_for_it);
    let mut all: Vec<_> = entries
        .filter_map(|entry| keep_bytes(entry.to_bytes_with_nul()).map(|entry| entry.as_ptr().cast()))
        .collect();
    all.push(core::ptr::null());
    all
}

/// Has the leaks in this process's profile looked at, and printed on standard error if `printed`. The status is 0 if
/// there are none but suppressed ones, 1 if there are, something else if that cannot be told.
pub fn show_leaks(printed: bool) -> Result<End, Errno> {
    // SAFETY: only `prepare` stores here, what is never freed.
    let Some(prepared) = (unsafe { PREPARED.load(Ordering::Acquire).as_ref() }) else {
        return Err(mprof_core::sys::ENOENT);
    };
    let mut name = Text::<PATH>::new();
    file_name::push(&mut name);
    let file = name.as_c_str().ok_or(Errno(libc::ENAMETOOLONG))?;
    let words = [c"mpdisplay", c"--no-pager", c"--fail-on-leak", c"--tables", c"leaks", c"--", file];
    let mut arguments = [core::ptr::null(); 8];
    for (argument, word) in arguments.iter_mut().zip(words) {
        *argument = word.as_ptr();
    }
    child::run_program(&Program {
        candidates: &prepared.candidates,
        folder: prepared.folder,
        arguments: &arguments,
        environment: &prepared.environment,
        output: if printed { Output::StandardError } else { Output::Nowhere },
        talks: note::is_stderr_there(),
    })
}
