//! Who we are: the program, its arguments, the directory of the start, and whether this is the first process.
//!
//! The first process puts `MPROF_ROOT=pid:starttime` into its environment. A process image that finds its own
//! there is the first process after an `exec`, and writes the same file; one that finds another's is a descendant,
//! and writes a file of its own. The start time tells a process from a later one with the same id.

use core::alloc::Layout;
use core::ffi::{CStr, c_char};
use core::fmt::Write;
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, Ordering};
use std::alloc::GlobalAlloc;

use mprof_core::arena::{Arena, keep_bytes};
use mprof_core::note::Text;
use mprof_core::reach::ranges::Range;
use mprof_core::sys;

use crate::options;

/// Name of the variable.
pub const ROOT: &[u8] = b"MPROF_ROOT";

static PROGRAM: AtomicPtr<&'static [u8]> = AtomicPtr::new(core::ptr::null_mut());
static DIRECTORY: AtomicPtr<&'static [u8]> = AtomicPtr::new(core::ptr::null_mut());
/// The arguments, one after the other, each ended by a NUL.
static ARGUMENTS: AtomicPtr<&'static [u8]> = AtomicPtr::new(core::ptr::null_mut());
/// Process id of the first process; 0 where this image descends from another.
static FIRST: AtomicU32 = AtomicU32::new(0);
/// Whether the environment lacks the variable and is to be given it.
static UNNAMED: AtomicBool = AtomicBool::new(false);
/// `MPROF_ROOT=…` of this process, with its NUL.
static ROOT_ENTRY: AtomicPtr<&'static [u8]> = AtomicPtr::new(core::ptr::null_mut());

/// Publishes a slice that is never freed.
pub fn keep_forever(place: &AtomicPtr<&'static [u8]>, bytes: &'static [u8]) {
    // SAFETY: the arena's memory fits the layout and is never freed.
    unsafe {
        let memory = Arena.alloc(Layout::new::<&'static [u8]>()).cast::<&'static [u8]>();
        if !memory.is_null() {
            memory.write(bytes);
            place.store(memory, Ordering::Release);
        }
    }
}

fn kept(place: &AtomicPtr<&'static [u8]>) -> &'static [u8] {
    // SAFETY: only `keep_forever` stores in these places.
    unsafe { place.load(Ordering::Acquire).as_ref() }.copied().unwrap_or_default()
}

/// Absolute path of the program; empty where it could not be found out.
pub fn program() -> &'static [u8] {
    kept(&PROGRAM)
}

/// The directory of the start; empty where there was none.
pub fn directory() -> &'static [u8] {
    kept(&DIRECTORY)
}

/// The command line as it was at the start.
pub fn arguments() -> impl Iterator<Item = &'static [u8]> {
    kept(&ARGUMENTS).split_inclusive(|&byte| byte == 0).map(|argument| &argument[..argument.len() - 1])
}

/// Whether process `id` is the first.
pub fn is_first(id: u32) -> bool {
    FIRST.load(Ordering::Relaxed) == id
}

/// Finds out who we are; once, at the start.
pub fn find() {
    let mut buffer = [0u8; 4096];
    if let Ok(path) = sys::read_link(c"/proc/self/exe", &mut buffer)
        && let Some(path) = keep_bytes(path)
    {
        keep_forever(&PROGRAM, path);
    }
    if let Some(path) = sys::current_directory(&mut buffer)
        && let Some(path) = keep_bytes(path)
    {
        keep_forever(&DIRECTORY, path);
    }
    keep_arguments();
    let id = sys::process_id();
    let mut entry = Text::<64>::new();
    let _ = write!(entry, "MPROF_ROOT={}:{}", id, start_time(&mut buffer).unwrap_or(0));
    let own = &entry.as_bytes()[ROOT.len() + 1..];
    match options::variable(ROOT) {
        Some(root) if root == own => FIRST.store(id, Ordering::Relaxed),
        Some(_) => {}
        None => {
            FIRST.store(id, Ordering::Relaxed);
            UNNAMED.store(true, Ordering::Relaxed);
        }
    }
    let _ = entry.write_char('\0');
    if let Some(entry) = keep_bytes(entry.as_bytes()) {
        keep_forever(&ROOT_ENTRY, entry);
    }
}

/// The program may overwrite its arguments: they are copied.
fn keep_arguments() {
    let length = options::arguments().map(|argument| argument.count_bytes() + 1).sum();
    let Ok(layout) = Layout::from_size_align(length, 1) else { return };
    if length == 0 {
        return;
    }
    // SAFETY: the memory is as long as all arguments with their NULs, which are written one after the other.
    let bytes = unsafe {
        let memory = Arena.alloc(layout);
        if memory.is_null() {
            return;
        }
        let mut at = memory;
        for argument in options::arguments() {
            let argument = argument.to_bytes_with_nul();
            at.copy_from_nonoverlapping(argument.as_ptr(), argument.len());
            at = at.add(argument.len());
        }
        core::slice::from_raw_parts(memory, length)
    };
    keep_forever(&ARGUMENTS, bytes);
}

/// When this process started, in the kernel's ticks (proc(5), field 22 of /proc/self/stat).
fn start_time(buffer: &mut [u8]) -> Option<u64> {
    let file = sys::open_read(c"/proc/self/stat").ok()?;
    let length = sys::read(file, buffer);
    sys::close(file);
    let text = &buffer[..length.ok()?];
    // Field 2 is the name in parentheses, which may hold anything; field 3 comes after the last of these.
    let after_name = text.iter().rposition(|&byte| byte == b')')? + 2;
    let field = text.get(after_name..)?.split(|&byte| byte == b' ').nth(22 - 3)?;
    core::str::from_utf8(field).ok()?.parse().ok()
}

unsafe extern "C" {
    static mut environ: *const *const c_char;
}

/// The environment that we gave the program; null: none.
static ENVIRONMENT: AtomicPtr<*const c_char> = AtomicPtr::new(core::ptr::null_mut());

/// Where the array of the environment lies that we gave the program: it stores pointers of its own there. Empty where
/// we gave none.
pub fn environment_range() -> Range {
    let array = ENVIRONMENT.load(Ordering::Relaxed);
    let mut end = array;
    // SAFETY: the array is ours, is never freed, and has a null at its end, behind which nobody writes.
    unsafe {
        while !end.is_null() && !(*end).is_null() {
            end = end.add(1);
        }
    }
    Range { start: array as usize, end: end as usize }
}

/// Gives the program an environment with `MPROF_ROOT`, if it is the first process. To be called when the C
/// library has set `environ` and no thread but the first runs.
pub fn name_root() {
    if !UNNAMED.swap(false, Ordering::Relaxed) {
        return;
    }
    // SAFETY: `environ` is the C library's, and only this thread runs.
    unsafe {
        let old = environ;
        if let Some(fresh) = with_root(old, |layout| Arena.alloc(layout)) {
            environ = fresh;
            ENVIRONMENT.store(fresh.cast_mut(), Ordering::Relaxed);
        }
    }
}

/// A copy of `environment` with `MPROF_ROOT` of this process; `None` if it has one, lacks `LD_PRELOAD` (so that we
/// shall not be there to read it), or there is no memory.
///
/// # Safety
/// `environment` is null or an array of strings that ends with a null.
pub unsafe fn with_root(
    environment: *const *const c_char,
    allocate: impl FnOnce(Layout) -> *mut u8,
) -> Option<*const *const c_char> {
    let entry = kept(&ROOT_ENTRY);
    if environment.is_null() || entry.is_empty() {
        return None;
    }
    let starts_with = |variable: *const c_char, name: &[u8]| {
        // SAFETY: the entries are strings.
        let variable = unsafe { CStr::from_ptr(variable) }.to_bytes();
        variable.strip_prefix(name).is_some_and(|rest| rest.first() == Some(&b'='))
    };
    let mut length = 0;
    let mut preloads = false;
    // SAFETY: the array ends with a null, at which this stops.
    unsafe {
        while !(*environment.add(length)).is_null() {
            let variable = *environment.add(length);
            if starts_with(variable, ROOT) {
                return None;
            }
            preloads |= starts_with(variable, b"LD_PRELOAD");
            length += 1;
        }
    }
    if !preloads {
        return None;
    }
    let fresh = allocate(Layout::array::<*const c_char>(length + 2).ok()?).cast::<*const c_char>();
    if fresh.is_null() {
        return None;
    }
    // SAFETY: the new array has room for two entries more than the old one.
    unsafe {
        fresh.copy_from_nonoverlapping(environment, length);
        fresh.add(length).write(entry.as_ptr().cast());
        fresh.add(length + 1).write(core::ptr::null());
    }
    Some(fresh)
}
