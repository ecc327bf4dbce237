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

use core::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use mprof_core::lisp::functions;
use mprof_core::lisp::interpreter::Interpreter;
use mprof_core::{modules, note, process};

use crate::elf::{self, Object};
use crate::hooks;
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
/// How many objects had been loaded when calls were redirected last.
static LOADED: AtomicU64 = AtomicU64::new(0);

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
fn is_ecl(object: &Object<'_>) -> bool {
    object.file_name().starts_with(b"libecl.so")
}

/// Whether an object is the collector that ECL uses.
pub fn is_collector(object: &Object<'_>) -> bool {
    object.file_name().starts_with(b"libgc.so")
}

/// At the start, when all objects that the program is linked with are loaded: has ECL's calls come to us.
pub fn start() {
    if options::lisp() == Lisp::Off {
        return;
    }
    let (mut in_ecl, mut in_collector) = (None, None);
    elf::each(&mut |object| {
        if is_ecl(object) {
            in_ecl = Some(ecl::in_ecl(object));
            if let Some(found) = modules::find(object.range.start) {
                functions::set_system(found.space);
            }
        } else if is_collector(object) {
            in_collector = Some(ecl::in_collector(object));
        }
    });
    let Some(in_ecl) = in_ecl else { return };
    let found = in_ecl.and(in_collector.unwrap_or(Err("libgc.so")));
    match found {
        Ok(()) => redirect(),
        Err(missing) => {
            note::say(format_args!("Lisp: not recorded: this ECL or its collector has no {missing}"));
        }
    }
}

/// Has the calls of all objects come to us, where that is not done yet.
pub fn redirect() {
    let loaded = elf::loaded();
    if LOADED.swap(loaded, Ordering::AcqRel) == loaded {
        return;
    }
    let ours = redirect as *const () as usize;
    elf::each(&mut |object| {
        if object.range.contains(&ours) || is_collector(object) {
            return;
        }
        object.redirect(&hooks::lisp::redirections());
        if is_ecl(object) {
            object.redirect(&hooks::lisp::redirections_in_ecl());
        }
    });
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
