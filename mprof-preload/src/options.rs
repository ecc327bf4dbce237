//! What was asked for in the environment.
//!
//! The environment is read from the process's initial stack, where the kernel put it: our first code runs before
//! the C library has set `environ`.

use core::ffi::{CStr, c_char};
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicU32, Ordering};

use mprof_core::process::{self, OPTIONS};
use mprof_core::{note, recording, snapshots, watch};

use crate::{identity, originals, profile, reachability, signals};

unsafe extern "C" {
    /// Where the initial stack begins: the argument count, then the arguments (`<ld.so>`, GLIBC_2.2.5).
    static __libc_stack_end: *const usize;
}

/// The initial stack's upper end; 0 where the loader does not say.
pub fn initial_stack() -> usize {
    // SAFETY: the loader sets the variable before any of our code runs.
    unsafe { __libc_stack_end as usize }
}

/// The argument vector that the program was started with; empty where it is not found.
pub fn arguments() -> impl Iterator<Item = &'static CStr> {
    let start = initial_stack() as *const usize;
    // SAFETY: the layout of the initial stack (System V ABI, section 3.4.1): a count, that many pointers, null.
    let count = if start.is_null() { 0 } else { unsafe { *start } };
    (0..count).map_while(move |index| {
        // SAFETY: as above.
        let argument = unsafe { *start.add(1 + index) as *const c_char };
        // SAFETY: a non-null entry is a string.
        (!argument.is_null()).then(|| unsafe { CStr::from_ptr(argument) })
    })
}

/// The environment that the program was started with, as `NAME=value` strings.
pub fn environment() -> impl Iterator<Item = &'static CStr> {
    let start = initial_stack() as *const usize;
    // SAFETY: as in `arguments`; the environment follows the null that ends the arguments.
    let mut next = if start.is_null() { start } else { unsafe { start.add(2 + *start) } };
    core::iter::from_fn(move || {
        if next.is_null() {
            return None;
        }
        // SAFETY: the entries end with a null, at which this stops.
        let entry = unsafe { *next as *const c_char };
        if entry.is_null() {
            return None;
        }
        // SAFETY: as above.
        next = unsafe { next.add(1) };
        // SAFETY: a non-null entry is a string.
        Some(unsafe { CStr::from_ptr(entry) })
    })
}

/// The value of a variable in the initial environment. None is heard where the program runs with more rights than
/// its caller has.
pub fn variable(name: &[u8]) -> Option<&'static [u8]> {
    if is_secure() {
        return None;
    }
    environment().find_map(|entry| entry.to_bytes().strip_prefix(name)?.strip_prefix(b"="))
}

/// Whether the program runs with more rights than its caller has (getauxval(3), `AT_SECURE`). The loader leaves us
/// out then, unless the administrator has put us into `/etc/ld.so.preload`.
pub fn is_secure() -> bool {
    // SAFETY: plain getauxval(3), which reads what the loader noted before any of our code ran.
    unsafe { libc::getauxval(libc::AT_SECURE) != 0 }
}

/// `MPROF_DATA`, copied: where to write. Null: the default.
static DATA: AtomicPtr<&'static [u8]> = AtomicPtr::new(core::ptr::null_mut());
/// `MPROF_FOLLOW=0`: only the first process writes a profile.
static FIRST_ONLY: AtomicBool = AtomicBool::new(false);

/// `MPROF_LEAK_EXIT`: the status of a process that leaks; 0: none.
static LEAK_EXIT: AtomicU32 = AtomicU32::new(0);
/// `MPROF_REPORT=1`: the leaks are told at the end.
static REPORT: AtomicBool = AtomicBool::new(false);

/// The status that a process ends with in place of 0 if it leaks, where that was asked for.
pub fn leak_exit() -> Option<i32> {
    Some(LEAK_EXIT.load(Ordering::Relaxed) as i32).filter(|&status| status != 0)
}

/// Whether the leaks are told at the end.
pub fn report() -> bool {
    REPORT.load(Ordering::Relaxed)
}

/// The name of the data file as it was given; `None` for the default.
pub fn data() -> Option<&'static [u8]> {
    // SAFETY: only `read` stores here, a reference that is never freed.
    unsafe { DATA.load(Ordering::Acquire).as_ref() }.copied()
}

/// Whether only the first process writes a profile.
pub fn first_process_only() -> bool {
    FIRST_ONLY.load(Ordering::Relaxed)
}

/// What is recorded of a Lisp system in the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lisp {
    /// Nothing.
    Off,
    /// What is allocated after it has started.
    On,
    /// What is allocated while it starts, too.
    Boot,
}

/// `MPROF_LISP`, by number.
static LISP: AtomicU8 = AtomicU8::new(Lisp::On as u8);

/// What is to be recorded of a Lisp system in the process.
pub fn lisp() -> Lisp {
    match LISP.load(Ordering::Relaxed) {
        0 => Lisp::Off,
        1 => Lisp::On,
        _ => Lisp::Boot,
    }
}

static COLLECTOR: AtomicBool = AtomicBool::new(false);

/// Whether what libgc gives out is to be recorded.
pub fn collector() -> bool {
    COLLECTOR.load(Ordering::Relaxed)
}

/// Reads the options. A value that cannot be understood is said in one line, and the default stands.
pub fn read() {
    number(b"MPROF_DEPTH", |value| OPTIONS.depth.store(value, Ordering::Relaxed));
    number(b"MPROF_MAX_CONTEXTS", |value| OPTIONS.contexts.store(value, Ordering::Relaxed));
    choice(b"MPROF_VERIFY", &[b"0", b"1"], |value| {
        if value == 1 {
            process::start_verifying();
        }
    });
    choice(b"MPROF_UNWIND", &[b"rules", b"backtrace"], |value| {
        OPTIONS.reference.store(value == 1, Ordering::Relaxed);
    });
    choice(b"MPROF_THREADS", &[b"shared", b"each"], |value| {
        OPTIONS.each_thread.store(value == 1, Ordering::Relaxed)
    });
    choice(b"MPROF_LEAK_CHECK", &[b"0", b"1"], |value| {
        if value == 1 {
            reachability::ask();
        }
    });
    number(b"MPROF_PEAK_BATCH", |value| OPTIONS.peak_batch.store(value.max(1), Ordering::Relaxed));
    number(b"MPROF_SNAPSHOTS", snapshots::ask_for);
    choice(b"MPROF_LIFETIMES", &[b"0", b"1"], |value| {
        if value == 1 {
            watch::start_lifetimes();
        }
    });
    choice(b"MPROF_USABLE", &[b"0", b"1"], |value| {
        if value == 1 {
            watch::start_usable(originals::usable_size);
        }
    });
    choice(b"MPROF_LISP", &[b"off", b"on", b"boot"], |value| LISP.store(value as u8, Ordering::Relaxed));
    choice(b"MPROF_GC", &[b"0", b"1"], |value| COLLECTOR.store(value == 1, Ordering::Relaxed));
    choice(b"MPROF_START", &[b"on", b"off"], |value| {
        if value == 1 {
            recording::stop();
        }
    });
    number(b"MPROF_AUTOSAVE", |value| recording::write_every(value.into(), profile::autosave));
    choice(b"MPROF_ON_SIGNAL", &[b"0", b"1"], |value| {
        if value == 1 {
            signals::ask_on_death();
        }
    });
    if let Some(name) = variable(b"MPROF_SIGNAL").filter(|name| !name.is_empty()) {
        match signals::number(name) {
            Some(signal) => signals::ask_for_snapshots(signal),
            None => note::say(format_args!(
                "MPROF_SIGNAL={} is no signal that can be caught; it is left out",
                note::Printable(name)
            )),
        }
    }
    choice(b"MPROF_FOLLOW", &[b"0", b"1"], |value| FIRST_ONLY.store(value == 0, Ordering::Relaxed));
    choice(b"MPROF_REPORT", &[b"0", b"1"], |value| REPORT.store(value == 1, Ordering::Relaxed));
    number(b"MPROF_LEAK_EXIT", |value| match value {
        0..=255 => LEAK_EXIT.store(value, Ordering::Relaxed),
        _ => note::say(format_args!("MPROF_LEAK_EXIT={value} is no exit status (1 to 255); it is left out")),
    });
    if let Some(data) = variable(b"MPROF_DATA").filter(|data| !data.is_empty())
        && let Some(data) = mprof_core::arena::keep_bytes(data)
    {
        identity::keep_forever(&DATA, data);
    }
}

fn number(name: &[u8], set: impl FnOnce(u32)) {
    let Some(value) = variable(name).filter(|value| !value.is_empty()) else { return };
    match core::str::from_utf8(value).ok().and_then(|value| value.parse().ok()) {
        Some(value) => set(value),
        None => note::say(format_args!(
            "{}={} is not a number; it is left out",
            note::Printable(name),
            note::Printable(value)
        )),
    }
}

fn choice(name: &[u8], choices: &[&[u8]], set: impl FnOnce(usize)) {
    let Some(value) = variable(name).filter(|value| !value.is_empty()) else { return };
    match choices.iter().position(|choice| *choice == value) {
        Some(index) => set(index),
        None => note::say(format_args!(
            "{}={} is none of {}; it is left out",
            note::Printable(name),
            note::Printable(value),
            Listed(choices)
        )),
    }
}

/// Values that a variable may have.
struct Listed<'a>(&'a [&'a [u8]]);

impl core::fmt::Display for Listed<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        for (index, choice) in self.0.iter().enumerate() {
            let separator = if index == 0 { "" } else { ", " };
            write!(f, "{separator}{}", note::Printable(choice))?;
        }
        Ok(())
    }
}
