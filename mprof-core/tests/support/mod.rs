//! The engine under test: hooks like those of the preloaded library, call sites to tell apart, and the profile that
//! comes of it.
#![allow(dead_code, reason = "each test file uses its own part of this")]

pub(crate) mod crew;
pub(crate) mod history;
pub(crate) mod truth;

use std::cell::Cell;
use std::ffi::c_void;
use std::sync::{Mutex, MutexGuard, PoisonError};

use mprof_core::dump::{self, Facts};
use mprof_core::events::{self, Pointer, Request};
use mprof_core::heap::Rest;
use mprof_core::process::{self, OPTIONS};
use mprof_core::unwind::Entry;
use mprof_core::{ledger, sys};
use mprof_format::IoSink;
use mprof_format::kinds::{Frame, Reason};
use mprof_format::model::Profile;
use std::sync::atomic::Ordering;

unsafe extern "C" {
    fn malloc(size: usize) -> *mut c_void;
    fn realloc(block: *mut c_void, size: usize) -> *mut c_void;
    fn free(block: *mut c_void);
}

/// The engine is one for the process: one test has it at a time, as if the process had just begun.
pub(crate) fn engine() -> MutexGuard<'static, ()> {
    static ENGINE: Mutex<()> = Mutex::new(());
    let engine = ENGINE.lock().unwrap_or_else(PoisonError::into_inner);
    sys::register_barrier();
    OPTIONS.peak_batch.store(ledger::USUAL_BATCH, Ordering::Relaxed);
    renew();
    engine
}

/// The engine forgets everything, as in a child after a fork. No other thread may be using it.
pub(crate) fn renew() {
    process::become_child();
}

thread_local! {
    /// Return address of the last call.
    static CALLER: Cell<usize> = const { Cell::new(0) };
}

/// A naked function, as the library's shims are, that adds stack and frame pointer to the arguments.
macro_rules! shim {
    ($name:ident => $hook:path, $sp:literal, $bp:literal) => {
        #[unsafe(naked)]
        unsafe extern "C" fn $name() {
            core::arch::naked_asm!(
                concat!("mov ", $sp, ", rsp"),
                concat!("mov ", $bp, ", rbp"),
                "jmp {hook}",
                hook = sym $hook,
            )
        }
    };
}

shim!(shim_malloc => hook_malloc, "rsi", "rdx");
shim!(shim_realloc => hook_realloc, "rdx", "rcx");
shim!(shim_free => hook_free, "rsi", "rdx");

unsafe extern "C" fn hook_malloc(size: usize, sp: usize, bp: usize) -> *mut u8 {
    // SAFETY: the shim gives the registers at its entry; malloc(3) is what it is.
    unsafe {
        CALLER.set(*(sp as *const usize));
        events::allocate(Entry { sp, bp }, Request::plain(size), |size| malloc(size).cast())
    }
}

unsafe extern "C" fn hook_realloc(object: *mut u8, size: usize, sp: usize, bp: usize) -> *mut u8 {
    // SAFETY: as above; the object is one of ours.
    unsafe {
        CALLER.set(*(sp as *const usize));
        let Pointer::Ours(object) = events::identify(object) else { panic!("not an object") };
        events::reallocate(Entry { sp, bp }, object, size, |block, size| realloc(block.cast(), size).cast())
    }
}

unsafe extern "C" fn hook_free(object: *mut u8, sp: usize, bp: usize) {
    // SAFETY: as above.
    unsafe {
        let Pointer::Ours(object) = events::identify(object) else { panic!("not an object") };
        let block = object.block();
        events::free(Entry { sp, bp }, object);
        free(block.cast());
    }
}

/// An object, and the return address of the call that made it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Made {
    pub(crate) object: usize,
    pub(crate) site: usize,
}

/// A function that allocates, of which there are as many as there are numbers.
#[inline(never)]
fn allocate_at<const N: usize>(size: usize) -> Made {
    // SAFETY: the shim is a function of this type.
    let object = unsafe {
        let shim: unsafe extern "C" fn(usize) -> *mut u8 =
            std::mem::transmute(shim_malloc as unsafe extern "C" fn());
        shim(std::hint::black_box(size))
    };
    std::hint::black_box(N);
    Made { object: object as usize, site: CALLER.get() }
}

#[inline(never)]
fn reallocate_at<const N: usize>(object: usize, size: usize) -> Made {
    // SAFETY: the shim is a function of this type.
    let object = unsafe {
        let shim: unsafe extern "C" fn(*mut u8, usize) -> *mut u8 =
            std::mem::transmute(shim_realloc as unsafe extern "C" fn());
        shim(object as *mut u8, std::hint::black_box(size))
    };
    std::hint::black_box(N);
    Made { object: object as usize, site: CALLER.get() }
}

/// Allocates, by one of [`SITES`] functions.
pub(crate) fn allocate(site: usize, size: usize) -> Made {
    const CALLS: [fn(usize) -> Made; SITES] = [
        allocate_at::<0>,
        allocate_at::<1>,
        allocate_at::<2>,
        allocate_at::<3>,
        allocate_at::<4>,
        allocate_at::<5>,
        allocate_at::<6>,
        allocate_at::<7>,
    ];
    CALLS[site](size)
}

/// Reallocates, by one of two functions.
pub(crate) fn reallocate(site: usize, object: usize, size: usize) -> Made {
    if site.is_multiple_of(2) { reallocate_at::<0>(object, size) } else { reallocate_at::<1>(object, size) }
}

/// Frees.
pub(crate) fn release(object: usize) {
    // SAFETY: the shim is a function of this type; the object is ours.
    unsafe {
        let shim: unsafe extern "C" fn(*mut u8) = std::mem::transmute(shim_free as unsafe extern "C" fn());
        shim(object as *mut u8);
    }
}

/// Functions that allocate.
pub(crate) const SITES: usize = 8;

/// The profile as it would be written now.
pub(crate) fn profile() -> Profile {
    let mut buffer = vec![0; mprof_format::write::BEFORE_RECORD + 56 * 1024];
    let facts =
        Facts { reason: Reason::Snapshot, signal: 0, program: b"/bin/test", arguments: std::iter::empty() };
    let rest = Rest::ask();
    let IoSink(bytes) = dump::write(IoSink(Vec::new()), &mut buffer, facts).unwrap();
    drop(rest);
    let loaded = mprof_format::read(&bytes).unwrap();
    assert_eq!(loaded.damage, None);
    loaded.profile
}

/// The return address that a context's innermost frame stands for; 0 where it is no code.
pub(crate) fn site_of(profile: &Profile, context: u32) -> usize {
    match profile.contexts[context as usize].frame {
        Frame::Code { module, address, .. } => {
            address.wrapping_add(profile.modules[module as usize].bias) as usize
        }
        Frame::Anonymous { address, .. } => address as usize,
        _ => 0,
    }
}
