//! The order of things at the start.
//!
//! ```text
//! the loader maps us and relocates everybody; it may already allocate:
//!     first event of all   → originals::find → before_first_event (secret, identity of the process)
//! constructors, ours first (-z initfirst), when the C library is not initialised yet:
//!     start                → options, who we are, the exit handlers
//! constructors of all other libraries, the C library's among them
//! _start → __libc_start_main (ours, passing): the environment gets MPROF_ROOT
//! main … exit handlers, destructors of all libraries
//!     at_exit              → the profile: our handler was the first to be registered, so it runs last
//! ```

use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use mprof_core::location::SPACE_MODULES;
use mprof_core::thread::Thread;
use mprof_core::{header, modules, note, process, recording, sys};
use mprof_format::kinds::Reason;

use crate::hooks::ending;
use crate::{
    alternate_stack, identity, leak_check, library_calls, options, originals, profile, reference, signals,
    viewer,
};

/// Before the first header is written: whatever comes first, an event or our constructor.
pub fn before_first_event() {
    let mut secret = [0u8; 8];
    if sys::random(&mut secret) {
        header::set_secret(u64::from_ne_bytes(secret));
    }
    process::start(options::initial_stack());
}

/// Whether our malloc is the first in the loader's order.
static FIRST_MALLOC: AtomicBool = AtomicBool::new(true);

/// Whether our malloc is the first in the loader's order. If it is not, the program defines malloc itself, or
/// another preloaded library, which may call on.
pub fn malloc_is_ours() -> bool {
    FIRST_MALLOC.load(Ordering::Relaxed)
}

/// Path of this library as the loader has it; empty where that is not known.
pub fn library() -> &'static [u8] {
    let module = modules::find(start as *const () as usize);
    let number = module.map(|found| usize::from(found.space.saturating_sub(SPACE_MODULES)));
    number.and_then(modules::get).map_or(&[], |module| module.path)
}

#[ctor::ctor(unsafe)]
fn start() {
    note::remember_stderr();
    originals::find();
    modules::set_monitor(start as *const () as usize);
    options::read();
    if options::is_secure() {
        recording::stop(); // what is written would be written with the wrong rights
    }
    identity::find();
    reference::offer();
    sys::register_barrier();
    watch_threads();
    register_handlers();
    signals::start();
    // SAFETY: dlsym(3) with a valid name.
    let malloc = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"malloc".as_ptr()) };
    // (The address of our own `malloc` would not do: the loader gives us the one that comes first, too.)
    let ours = modules::find(start as *const () as usize);
    if (options::report() || options::leak_exit().is_some()) && !options::is_secure() {
        viewer::prepare(library());
    }
    let first = ours.is_none_or(|ours| (ours.start..ours.end).contains(&(malloc as usize)));
    FIRST_MALLOC.store(first, Ordering::Relaxed);
    library_calls::start();
}

unsafe extern "C" {
    fn on_exit(handler: extern "C" fn(c_int, *mut c_void), argument: *mut c_void) -> c_int;
    fn __cxa_at_quick_exit(handler: extern "C" fn(*mut c_void), library: *mut c_void) -> c_int;
    fn __register_atfork(
        prepare: Option<extern "C" fn()>,
        parent: Option<extern "C" fn()>,
        child: Option<extern "C" fn()>,
        library: *mut c_void,
    ) -> c_int;
}

/// Exit handlers run in the reverse order of their registration; those of no library run after the destructors of
/// all libraries.
fn register_handlers() {
    // SAFETY: the handlers stay, for this library is never unloaded.
    unsafe {
        on_exit(at_exit, core::ptr::null_mut());
        __cxa_at_quick_exit(at_quick_exit, core::ptr::null_mut());
        __register_atfork(None, None, Some(in_child), core::ptr::null_mut());
    }
}

extern "C" fn at_exit(status: c_int, _: *mut c_void) {
    let written = profile::write(Reason::Exit, 0);
    if let Some(other) = leak_check::at_end(status, written) {
        // SAFETY: an exit handler may call exit(3) (glibc's manual, "Cleanups on Exit"): it goes on with the
        // handlers that are left, flushes the streams, and ends with this status.
        unsafe { libc::exit(other) }
    }
}

extern "C" fn at_quick_exit(_: *mut c_void) {
    let written = profile::write(Reason::QuickExit, 0);
    if let Some(other) = leak_check::at_end(ending::quick_status(), written) {
        ending::end(other)
    }
}

extern "C" fn in_child() {
    profile::close_inherited();
    process::become_child();
}

/// Key whose destructor tells us that a thread ends.
static KEY: AtomicU32 = AtomicU32::new(u32::MAX);
/// Rounds of destructors that a thread runs before it stops caring for new values (`PTHREAD_DESTRUCTOR_ITERATIONS`).
const ROUNDS: usize = 4;

fn watch_threads() {
    let mut key = 0;
    // SAFETY: plain pthread_key_create(3); with a key this early neither it nor the setter allocates.
    if unsafe { libc::pthread_key_create(&raw mut key, Some(at_thread_end)) } == 0 {
        KEY.store(key, Ordering::Relaxed);
        mprof_core::thread::on_attach(|_| {
            set_rounds(1);
            alternate_stack::set();
        });
    }
}

/// The key's value is the number of the round in which its destructor runs next.
fn set_rounds(round: usize) {
    let key = KEY.load(Ordering::Relaxed);
    // SAFETY: the key exists; its value is never dereferenced.
    unsafe { libc::pthread_setspecific(key, core::ptr::without_provenance::<c_void>(round)) };
}

/// The thread keeps its heap until the last round: other destructors allocate and free as well.
unsafe extern "C" fn at_thread_end(round: *mut c_void) {
    let round = round as usize;
    if round < ROUNDS {
        set_rounds(round + 1);
    } else {
        Thread::detach();
    }
}
