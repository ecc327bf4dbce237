//! Writing the profile: when, and into which file.

use core::cell::UnsafeCell;
use core::ffi::CStr;
use core::fmt::Write;
use core::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicU64, Ordering};

use mprof_core::dump::{self, Facts};
use mprof_core::heap::Rest;
use mprof_core::note::{self, Printable, Text};
use mprof_core::{child, process, recording, reference, sys};
use mprof_format::kinds::Reason;
use mprof_format::write::{BEFORE_RECORD, Sink};

use crate::registers::Program;
use crate::{file_name, identity, options, own_stack, reachability, registers, startup};

use crate::file_name::PATH;

/// With records of up to 56 KiB.
const BUFFER: usize = BEFORE_RECORD + 56 * 1024;

struct Buffer(UnsafeCell<[u8; BUFFER]>);

// SAFETY: used by the thread that holds `WRITER` only.
unsafe impl Sync for Buffer {}

/// The record buffer. It is there from the start: at the end there may be no memory left.
static RECORD: Buffer = Buffer(UnsafeCell::new([0; BUFFER]));
/// Process and thread that write, 0: none. In a child that was forked meanwhile, it is its parent's.
static WRITER: AtomicU64 = AtomicU64::new(0);
/// Process and thread that wait to write, likewise; where there are several, one of them.
static WAITING: AtomicU64 = AtomicU64::new(0);
/// The process that has written its last profile: its other threads, which go on for a moment, neither write over that
/// nor leave half a file.
static ENDED: AtomicU32 = AtomicU32::new(0);
/// How long to wait for another thread that writes, in turns of 100 microseconds.
const PATIENCE: u32 = 100_000;
/// How often the threads are asked to rest before a recording cannot begin anew. (Each asking has its own patience.)
const TRIES: u32 = 50;
/// Whether it was said that nothing can be recorded.
static EXCUSED: AtomicBool = AtomicBool::new(false);

/// Writes the profile of this process, for this reason. Says so in one line if that cannot be done.
///
/// Returns whether it is written now, or was for the last time.
#[inline(never)]
pub fn write(reason: Reason, signal: u32) -> bool {
    let mut written = false;
    registers::save(|program| written = write_for(reason, signal, program));
    written
}

/// [`write`]. `program`: what the program wants back when we return to it.
pub fn write_for(reason: Reason, signal: u32, program: Program) -> bool {
    let mut written = false;
    if is_ours_to_write() && !recording::is_stopped() {
        alone(PATIENCE, &mut || written = write_alone(reason, signal, program));
        written |= ENDED.load(Ordering::Relaxed) == process::id();
    }
    written
}

/// Writes the profile as often as it is asked for, unless another thread is at it, or waits for its turn: where all
/// threads come to this again and again, that one would wait for long.
pub fn autosave() {
    let waits = WAITING.load(Ordering::Relaxed) >> 32 == u64::from(process::id());
    if waits || !is_ours_to_write() || recording::is_stopped() {
        return;
    }
    alone(0, &mut || {
        write_alone(Reason::Autosave, 0, Program::NOTHING);
    });
    if SNAPSHOT.load(Ordering::SeqCst) {
        // It was asked for when this had begun.
        write_snapshot();
    }
}

/// Whether a snapshot is asked for.
static SNAPSHOT: AtomicBool = AtomicBool::new(false);

/// Writes the profile while the program goes on; where another thread is at it, has that one do it again. To wait here
/// would not do: the signal may have come between in a hook, and the other thread wait for that to end.
pub fn write_snapshot() {
    if !is_ours_to_write() || recording::is_stopped() {
        return;
    }
    SNAPSHOT.store(true, Ordering::SeqCst);
    let mut goes_on = true;
    while goes_on && SNAPSHOT.load(Ordering::SeqCst) {
        goes_on = false;
        alone(0, &mut || {
            goes_on = true;
            if SNAPSHOT.swap(false, Ordering::SeqCst) {
                write_alone(Reason::Snapshot, 0, Program::NOTHING);
            }
        });
    }
}

/// Writes what was recorded so far, and records nothing from then on.
pub fn stop() {
    if is_ours_to_write() && !recording::is_stopped() {
        recording::stop();
        alone(PATIENCE, &mut || {
            write_alone(Reason::Stop, 0, Program::NOTHING);
        });
    }
}

/// Writes what was recorded so far, forgets it, and records anew, for the file that `rename` says.
pub fn begin_anew(rename: &mut dyn FnMut()) {
    if process::id() != sys::process_id() {
        return;
    }
    alone(PATIENCE, &mut || {
        if !recording::is_stopped() && has_events() {
            write_alone(Reason::Stop, 0, Program::NOTHING);
        }
        let rest = (0..TRIES).map(|_| Rest::ask()).find(Rest::is_complete);
        if rest.is_none() {
            note::say(format_args!(
                "cannot begin anew: a thread does not come out of malloc; the recording goes on"
            ));
            return;
        }
        recording::begin_anew();
        rename();
        drop(rest);
    });
}

/// Whether this process has something to write, and is to write it.
pub fn is_ours_to_write() -> bool {
    if process::id() != sys::process_id() {
        // A vfork child borrows its parent's memory; a fork child that has done nothing has nothing to write.
        return false;
    }
    if !startup::malloc_is_ours() && !has_events() {
        if !EXCUSED.swap(true, Ordering::Relaxed) && !recording::is_stopped() {
            note::say(format_args!(
                "{}: nothing was recorded: the program defines malloc itself, so its calls do not reach the library",
                Printable(identity::program())
            ));
        }
        return false;
    }
    let id = process::id();
    !options::first_process_only() || identity::is_first(id) || file_name::was_given_by(id)
}

/// Runs `work` as the only thread that writes, on a stack of our own, with no signal handler to come between. Does
/// nothing where this thread is at it already, or another one after so many turns of 100 microseconds, or where the
/// last profile is written.
fn alone(mut patience: u32, work: &mut dyn FnMut()) {
    sys::with_signals_blocked(sys::ASYNCHRONOUS, sys::SIGXFSZ | sys::SIGPIPE, || {
        let (id, thread) = (u64::from(process::id()), u64::from(sys::thread_id()));
        let this = id << 32 | thread;
        let wait_no_more = || {
            let _ = WAITING.compare_exchange(this, 0, Ordering::Relaxed, Ordering::Relaxed);
        };
        while let Err(writer) = WRITER.compare_exchange(0, this, Ordering::Acquire, Ordering::Relaxed) {
            if writer >> 32 != id {
                // A parent was at it when this process was forked.
                let _ = WRITER.compare_exchange(writer, 0, Ordering::Relaxed, Ordering::Relaxed);
                continue;
            }
            if writer == this || patience == 0 {
                wait_no_more();
                return;
            }
            patience -= 1;
            WAITING.store(this, Ordering::Relaxed);
            sys::sleep_microseconds(100);
        }
        wait_no_more();
        if ENDED.load(Ordering::Relaxed) != process::id() {
            // SAFETY: this thread alone is here.
            unsafe { own_stack::run(work) };
        }
        WRITER.store(0, Ordering::SeqCst);
    });
}

/// Writes the profile, within [`alone`]. Returns whether that succeeded.
fn write_alone(reason: Reason, signal: u32, program: Program) -> bool {
    let rest = Rest::ask();
    reachability::run(reason, program);
    let mut name = Text::<PATH>::new();
    file_name::push(&mut name);
    let mut temporary = name.clone();
    let _ = write!(temporary, ".{}.tmp", process::id());
    let outcome = match (name.as_c_str(), temporary.as_c_str()) {
        (Some(name), Some(temporary)) => write_file(name, temporary, reason, signal),
        _ => Err(sys::Errno(libc::ENAMETOOLONG)),
    };
    drop(rest);
    match outcome {
        Ok(()) if ends_process(reason) => ENDED.store(process::id(), Ordering::Relaxed),
        Ok(()) => {}
        Err(error) => {
            note::say(format_args!("cannot write {}: {}", Printable(name.as_bytes()), reason_text(error)));
        }
    }
    let (compared, different) = reference::counts();
    if compared != 0 {
        note::say(format_args!("verify: {compared} chains compared, {different} differ"));
    }
    outcome.is_ok()
}

/// Whether the process ends for sure. (It goes on where exec fails, and may where a handler sees SIGABRT.)
fn ends_process(reason: Reason) -> bool {
    matches!(reason, Reason::Exit | Reason::ImmediateExit | Reason::QuickExit | Reason::Signal)
}

/// Writes the file under a name of its own and then gives it the final one, so that no one sees half a file and
/// an earlier one is replaced whole.
fn write_file(name: &CStr, temporary: &CStr, reason: Reason, signal: u32) -> Result<(), sys::Errno> {
    let mut outcome = create_and_fill(temporary, reason, signal, &DESCRIPTOR);
    if outcome == Err(sys::EMFILE) {
        // The program has used up its descriptors, and none of them is ours to close. A child with a table of
        // its own can.
        child::with_own_descriptors(&mut || {
            sys::close(0);
            outcome = create_and_fill(temporary, reason, signal, &AtomicI32::new(NONE));
        });
    }
    outcome.and_then(|()| sys::rename(temporary, name)).inspect_err(|_| {
        let _ = sys::unlink(temporary);
    })
}

/// The descriptor of the file that is being written.
static DESCRIPTOR: AtomicI32 = AtomicI32::new(NONE);
const NONE: i32 = -1;

/// In a child after a fork: closes the file that another thread of its parent was writing, unless the fork came in the
/// very moment of its opening or closing.
pub fn close_inherited() {
    let descriptor = DESCRIPTOR.swap(NONE, Ordering::Relaxed);
    if descriptor != NONE {
        sys::close(descriptor);
    }
}

/// Writes the profile into a new file. `open` has its descriptor while no other file can have it: it is noted after the
/// opening, and forgotten before the closing.
fn create_and_fill(
    temporary: &CStr,
    reason: Reason,
    signal: u32,
    open: &AtomicI32,
) -> Result<(), sys::Errno> {
    let descriptor = match sys::create_new(temporary) {
        Err(sys::EEXIST) => {
            // Left over from a process with our id that was killed while writing.
            sys::unlink(temporary)?;
            sys::create_new(temporary)?
        }
        other => other?,
    };
    open.store(descriptor, Ordering::SeqCst);
    let facts = Facts { reason, signal, program: identity::program(), arguments: identity::arguments() };
    // SAFETY: this thread is alone here, or it is the child that the one that is waits for.
    let buffer = unsafe { &mut *RECORD.0.get() };
    let written = dump::write(File { descriptor, flawed: None }, buffer, facts);
    open.store(NONE, Ordering::SeqCst);
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
pub fn reason_text(error: sys::Errno) -> impl core::fmt::Display {
    let text = match error.0 {
        _ if error == sys::FORBIDDEN => "a system call filter of the program's forbids it",
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
