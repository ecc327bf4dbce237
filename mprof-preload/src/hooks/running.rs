//! Starting other programs: in this process (`exec`) or a new one (`posix_spawn`).
//!
//! A process image that is replaced leaves its profile first. Images that get an environment of the program's own
//! making are told where they come from, or they would take themselves for a first process and write over its
//! file.

use core::alloc::Layout;
use core::ffi::{c_char, c_int, c_void};
use core::mem::MaybeUninit;
use std::alloc::GlobalAlloc;

use mprof_core::arena::Arena;
use mprof_format::kinds::Reason;

use crate::shim::passing_shims;
use crate::{identity, originals, profile};

type Strings = *const *const c_char;

passing_shims! {
    /// execv(3).
    execv => before_exec, originals::address::execv;
    /// execvp(3).
    execvp => before_exec, originals::address::execvp;
    /// execl(3).
    execl => before_exec, originals::address::execl;
    /// execlp(3).
    execlp => before_exec, originals::address::execlp;
}

extern "C" fn before_exec() {
    originals::find();
    if profile::has_events() {
        profile::write(Reason::Exec, 0);
    }
}

/// Room for an environment on the stack: a child of vfork must leave nothing behind in its parent's memory.
struct Room([MaybeUninit<*const c_char>; 512]);

impl Room {
    fn new() -> Room {
        Room([MaybeUninit::uninit(); 512])
    }

    /// The environment with `MPROF_ROOT`, in this room or, where it is too long, in the arena; as it is where
    /// nothing is to be added.
    ///
    /// # Safety
    /// `environment` is null or an array of strings that ends with a null; the result is not used after the room
    /// is gone.
    unsafe fn with_root(&mut self, environment: Strings) -> Strings {
        let allocate = |layout: Layout| {
            if layout.size() <= size_of_val(&self.0) {
                self.0.as_mut_ptr().cast()
            } else {
                // SAFETY: the layout is not empty.
                unsafe { Arena.alloc(layout) }
            }
        };
        // SAFETY: the caller's array.
        unsafe { identity::with_root(environment, allocate) }.unwrap_or(environment)
    }
}

fn missing() -> c_int {
    // SAFETY: the location is the calling thread's own.
    unsafe { *libc::__errno_location() = libc::ENOSYS };
    -1
}

/// execve(2).
///
/// # Safety
/// As the real function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn execve(path: *const c_char, arguments: Strings, environment: Strings) -> c_int {
    before_exec();
    let Some(real) = originals::execve() else { return missing() };
    let mut room = Room::new();
    // SAFETY: the caller's arguments.
    unsafe { real(path, arguments, room.with_root(environment)) }
}

/// execvpe(3).
///
/// # Safety
/// As the real function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn execvpe(path: *const c_char, arguments: Strings, environment: Strings) -> c_int {
    before_exec();
    let Some(real) = originals::execvpe() else { return missing() };
    let mut room = Room::new();
    // SAFETY: the caller's arguments.
    unsafe { real(path, arguments, room.with_root(environment)) }
}

/// fexecve(3).
///
/// # Safety
/// As the real function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fexecve(descriptor: c_int, arguments: Strings, environment: Strings) -> c_int {
    before_exec();
    let Some(real) = originals::fexecve() else { return missing() };
    let mut room = Room::new();
    // SAFETY: the caller's arguments.
    unsafe { real(descriptor, arguments, room.with_root(environment)) }
}

/// execveat(2).
///
/// # Safety
/// As the real function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn execveat(
    folder: c_int,
    path: *const c_char,
    arguments: Strings,
    environment: Strings,
    flags: c_int,
) -> c_int {
    before_exec();
    let Some(real) = originals::execveat() else { return missing() };
    let mut room = Room::new();
    // SAFETY: the caller's arguments.
    unsafe { real(folder, path, arguments, room.with_root(environment), flags) }
}

/// execle(3): the arguments end with a null, after which comes the environment.
///
/// # Safety
/// As the real function.
#[unsafe(no_mangle)]
#[unsafe(naked)]
pub unsafe extern "C" fn execle() {
    core::arch::naked_asm!(
        // The first five of the list are in registers; the rest is on the stack, above the return address.
        // Register words are stored below it so that the list can be read as two runs.
        "sub rsp, 56",
        "mov [rsp], rsi",
        "mov [rsp + 8], rdx",
        "mov [rsp + 16], rcx",
        "mov [rsp + 24], r8",
        "mov [rsp + 32], r9",
        "mov rsi, rsp",          // the first five
        "lea rdx, [rsp + 64]",   // the rest
        "call {hook}",
        "add rsp, 56",
        "ret",
        hook = sym exec_list,
    )
}

/// Collects the list of execle(3) and calls execve.
unsafe extern "C" fn exec_list(path: *const c_char, registers: Strings, stack: Strings) -> c_int {
    const IN_REGISTERS: usize = 5;
    // SAFETY: the list goes on in this way up to its null and the environment after it.
    let entry = |index: usize| unsafe {
        if index < IN_REGISTERS { *registers.add(index) } else { *stack.add(index - IN_REGISTERS) }
    };
    let length = (0..).take_while(|&index| !entry(index).is_null()).count();
    let environment: Strings = entry(length + 1).cast();
    let mut room = Room::new();
    let arguments: *mut *const c_char = if length < room.0.len() {
        room.0.as_mut_ptr().cast()
    } else {
        match Layout::array::<*const c_char>(length + 1) {
            // SAFETY: the layout is not empty.
            Ok(layout) => unsafe { Arena.alloc(layout).cast() },
            Err(_) => core::ptr::null_mut(),
        }
    };
    if arguments.is_null() {
        // SAFETY: the location is the calling thread's own.
        unsafe { *libc::__errno_location() = libc::E2BIG };
        return -1;
    }
    // SAFETY: there is room for the arguments and the null.
    unsafe {
        for index in 0..=length {
            arguments.add(index).write(entry(index));
        }
        execve(path, arguments, environment)
    }
}

/// posix_spawn(3).
///
/// # Safety
/// As the real function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn posix_spawn(
    process: *mut c_void,
    path: *const c_char,
    actions: *mut c_void,
    attributes: *mut c_void,
    arguments: Strings,
    environment: Strings,
) -> c_int {
    originals::find();
    let Some(real) = originals::posix_spawn() else { return libc::ENOSYS };
    let mut room = Room::new();
    // SAFETY: the caller's arguments.
    unsafe { real(process, path, actions, attributes, arguments, room.with_root(environment)) }
}

/// posix_spawnp(3).
///
/// # Safety
/// As the real function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn posix_spawnp(
    process: *mut c_void,
    file: *const c_char,
    actions: *mut c_void,
    attributes: *mut c_void,
    arguments: Strings,
    environment: Strings,
) -> c_int {
    originals::find();
    let Some(real) = originals::posix_spawnp() else { return libc::ENOSYS };
    let mut room = Room::new();
    // SAFETY: the caller's arguments.
    unsafe { real(process, file, actions, attributes, arguments, room.with_root(environment)) }
}
