//! Lisp: ECL in the process is found by itself, and what it allocates is recorded by type, under Lisp names.
//!
//! ```text
//! our constructor       libecl is loaded? then calls of its allocator, of what makes compiled functions and of cl_boot
//!                       are redirected to our hooks, in all objects there are
//! cl_boot               names of compiled functions are gathered
//! cl_boot returns       the types are checked; from here on objects are counted
//! a compiled file       is loaded by dlopen: when ECL then looks up its entry point, its calls are redirected too
//! ```
//!
//! Where there is no libecl, nothing of this happens.

pub mod ecl;
pub mod interpreter;
pub mod kinds;
pub mod names;

use core::sync::atomic::{AtomicU8, Ordering};

use mprof_core::lisp::functions;
use mprof_core::lisp::interpreter::Interpreter;
use mprof_core::{modules, note, process};

use crate::elf::Object;
use crate::options::{self, Lisp};

/// How far the Lisp system has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum State {
    /// There is none, or it is not recorded.
    Off,
    /// Its objects are recorded.
    Recording,
}

static STATE: AtomicU8 = AtomicU8::new(State::Off as u8);

/// Whether objects are to be recorded.
#[inline(always)]
pub fn is_recording() -> bool {
    STATE.load(Ordering::Relaxed) == State::Recording as u8
}

fn set(state: State) {
    STATE.store(state as u8, Ordering::Release);
}

/// Does something that allocates, which is not to be recorded. No other thread is Lisp's yet.
pub fn quietly(work: impl FnOnce()) {
    let before = STATE.swap(State::Off as u8, Ordering::AcqRel);
    work();
    STATE.store(before, Ordering::Release);
}

/// Whether an object is ECL's library.
pub fn is_ecl(object: &Object<'_>) -> bool {
    object.file_name().starts_with(b"libecl.so")
}

/// How a Lisp system can be recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// By its own functions, with types and Lisp names.
    ByType,
    /// By what it asks of its collector: by size, under C names.
    BySize,
    /// Not at all.
    None,
}

/// Finds in ECL's library and in the collector that it uses what we need of them. Returns how ECL can be recorded; where
/// that is not by type, it is said.
pub fn find(ecl: &Object<'_>, collector: Option<&Object<'_>>) -> Way {
    if let Some(found) = modules::find(ecl.range.start) {
        functions::set_system(found.space);
    }
    let missing = match collector {
        Some(collector) => ecl::in_ecl(ecl).and(ecl::in_collector(collector)),
        None => Err("libgc.so"),
    };
    if let Err(missing) = missing {
        note::say(format_args!("Lisp: not recorded: this ECL or its collector has no {missing}"));
        Way::None
    } else if !ecl.calls(c"ecl_cons") {
        note::say(format_args!(
            "Lisp: recorded by size alone: this ECL was linked to call its allocator directly"
        ));
        Way::BySize
    } else {
        Way::ByType
    }
}

/// Before the Lisp system starts itself.
pub fn before_boot() {
    kinds::assume();
    if options::lisp() == Lisp::Boot {
        set(State::Recording);
    }
}

/// When it has started.
pub fn after_boot() {
    set(State::Off);
    if !kinds::check() {
        note::say(format_args!("Lisp: not recorded: types of this ECL have numbers that are not understood"));
        return;
    }
    static INTERPRETER: Interpreter =
        Interpreter { find: interpreter::find, function: interpreter::function };
    mprof_core::lisp::interpreter::set(ecl::interpreter(), &INTERPRETER);
    process::step_generation();
    set(State::Recording);
}
