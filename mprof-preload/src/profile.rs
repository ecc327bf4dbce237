//! Writing the profile: when, and into which file.

use core::cell::UnsafeCell;
use core::ffi::CStr;
use core::fmt::Write;
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use mprof_core::dump::{self, Facts, Rest};
use mprof_core::note::{self, Printable, Text};
use mprof_core::{process, reference, sys};
use mprof_format::kinds::Reason;
use mprof_format::write::Sink;

use crate::{identity, leak_check, options, registers, startup};

/// Longest path of a data file, bytes.
const PATH: usize = 4096;
const BUFFER: usize = 64 * 1024;

struct Buffer(UnsafeCell<[u8; BUFFER]>);

// SAFETY: used by the thread that holds `WRITER` only.
unsafe impl Sync for Buffer {}

/// The record buffer. It is there from the start: at the end there may be no memory left.
static RECORD: Buffer = Buffer(UnsafeCell::new([0; BUFFER]));
/// Id of the thread that writes; 0: none.
static WRITER: AtomicU32 = AtomicU32::new(0);
/// Whether it was said that nothing can be recorded.
static EXCUSED: AtomicBool = AtomicBool::new(false);

/// Writes the profile of this process, for this reason. Says so in one line if that cannot be done.
#[inline(never)]
pub fn write(reason: Reason, signal: u32) {
    registers::save(|sp| write_above(reason, signal, sp));
}

/// [`write`]. `sp`: see [`registers::save`].
fn write_above(reason: Reason, signal: u32, sp: usize) {
    if process::id() != sys::process_id() {
        // A vfork child borrows its parent's memory; a fork child that has done nothing has nothing to write.
        return;
    }
    if !startup::malloc_is_ours() && !has_events() {
        if !EXCUSED.swap(true, Ordering::Relaxed) {
            note::say(format_args!(
                "{}: nothing was recorded: the program defines malloc itself, so its calls do not reach the library",
                Printable(identity::program())
            ));
        }
        return;
    }
    if options::first_process_only() && !identity::is_first(process::id()) {
        return;
    }
    let thread = sys::thread_id();
    while let Err(writer) = WRITER.compare_exchange(0, thread, Ordering::Acquire, Ordering::Relaxed) {
        if writer == thread {
            return;
        }
        sys::sleep_microseconds(100);
    }
    sys::with_signals_blocked(sys::ASYNCHRONOUS, sys::SIGXFSZ | sys::SIGPIPE, || {
        write_alone(reason, signal, sp)
    });
    WRITER.store(0, Ordering::Release);
}

/// [`write`], as the only thread that does, with no signal handler to come between.
fn write_alone(reason: Reason, signal: u32, sp: usize) {
    let rest = Rest::ask();
    leak_check::run(reason, sp);
    let mut name = Text::<PATH>::new();
    push_file_name(&mut name);
    let mut temporary = name.clone();
    let _ = write!(temporary, ".{}.tmp", process::id());
    let outcome = match (name.as_c_str(), temporary.as_c_str()) {
        (Some(name), Some(temporary)) => write_file(name, temporary, reason, signal),
        _ => Err(sys::Errno(libc::ENAMETOOLONG)),
    };
    drop(rest);
    if let Err(error) = outcome {
        note::say(format_args!("cannot write {}: {}", Printable(name.as_bytes()), reason_text(error)));
    }
    let (compared, different) = reference::counts();
    if compared != 0 {
        note::say(format_args!("verify: {compared} chains compared, {different} differ"));
    }
}

/// Where this process writes: `MPROF_DATA`, or `mprof.data` in the directory of the start; other processes than
/// the first add their id, unless the name has it already.
fn push_file_name(name: &mut Text<PATH>) {
    let pattern = options::data().unwrap_or(b"mprof.data");
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
    if !has_id && !identity::is_first(id) {
        let _ = write!(name, ".{id}");
    }
}

/// Writes the file under a name of its own and then gives it the final one, so that no one sees half a file and
/// an earlier one is replaced whole.
fn write_file(name: &CStr, temporary: &CStr, reason: Reason, signal: u32) -> Result<(), sys::Errno> {
    let mut outcome = create_and_fill(temporary, reason, signal);
    if outcome == Err(sys::EMFILE) {
        // The program has used up its descriptors, and none of them is ours to close. A child with a table of
        // its own can.
        sys::with_own_descriptors(&mut || {
            sys::close(0);
            outcome = create_and_fill(temporary, reason, signal);
        });
    }
    outcome.and_then(|()| sys::rename(temporary, name)).inspect_err(|_| {
        let _ = sys::unlink(temporary);
    })
}

fn create_and_fill(temporary: &CStr, reason: Reason, signal: u32) -> Result<(), sys::Errno> {
    let descriptor = match sys::create_new(temporary) {
        Err(sys::EEXIST) => {
            // Left over from a process with our id that was killed while writing.
            sys::unlink(temporary)?;
            sys::create_new(temporary)?
        }
        other => other?,
    };
    let facts = Facts { reason, signal, program: identity::program(), arguments: identity::arguments() };
    // SAFETY: this thread holds `WRITER`, or is the child that its holder waits for.
    let buffer = unsafe { &mut *RECORD.0.get() };
    let written = dump::write(File { descriptor, flawed: None }, buffer, facts);
    sys::close(descriptor);
    written.map(drop)
}

/// An open file.
struct File {
    descriptor: i32,
    flawed: Option<sys::Errno>,
}

impl Sink for File {
    type Error = sys::Errno;

    fn write_all(&mut self, mut bytes: &[u8]) -> Result<(), sys::Errno> {
        if let Some(error) = self.flawed {
            return Err(error);
        }
        while !bytes.is_empty() {
            match sys::write(self.descriptor, bytes) {
                Ok(0) => return Err(*self.flawed.insert(sys::Errno(libc::ENOSPC))),
                Ok(written) => bytes = &bytes[written..],
                Err(sys::EINTR) => {}
                Err(error) => return Err(*self.flawed.insert(error)),
            }
        }
        Ok(())
    }
}

/// What an error number means, for those that writing a file can end with.
fn reason_text(error: sys::Errno) -> impl core::fmt::Display {
    let text = match error.0 {
        libc::ENOENT => "the folder does not exist (any more)",
        libc::EACCES | libc::EPERM => "permission denied",
        libc::EROFS => "the file system is read-only",
        libc::ENOSPC => "the disk is full",
        libc::EDQUOT => "the disk quota is used up",
        libc::EFBIG => "the file would be larger than allowed",
        libc::EISDIR | libc::ENOTEMPTY | libc::EEXIST => "there is a folder of that name",
        libc::ENOTDIR => "part of the path is no folder",
        libc::EMFILE | libc::ENFILE => "there are too many open files",
        libc::ENAMETOOLONG => "the name is too long",
        libc::ELOOP => "the path has too many symbolic links",
        _ => "",
    };
    core::fmt::from_fn(move |f| {
        if text.is_empty() { write!(f, "error {} of errno(3)", error.0) } else { f.write_str(text) }
    })
}

/// Whether anything was recorded in this process.
pub fn has_events() -> bool {
    mprof_core::heap::all().any(|heap| !heap.tree().is_empty())
}
