//! Processes of the monitor's own: for what it cannot do in the program's process without the program noticing.
//!
//! A child is made by clone(2) with `CLONE_VM | CLONE_VFORK`: it works in this process's memory, on the stack of the
//! calling thread, which is suspended meanwhile; descriptors, signal actions and folder are its own. It has no exit
//! signal, so that no handler of the program hears of its end and no wait(2) of the program gets it.

use core::arch::asm;
use core::ffi::c_char;

use crate::seccomp;
use crate::sys::{self, CPath, EINTR, Errno, syscall};

const NR_CLONE: usize = 56;
const NR_EXIT: usize = 60;
const NR_WAIT4: usize = 61;
const NR_EXECVE: usize = 59;
const NR_CHDIR: usize = 80;
const NR_DUP2: usize = 33;
const NR_OPENAT: usize = 257;
const NR_RT_SIGACTION: usize = 13;
const NR_CLOSE_RANGE: usize = 436;

/// Runs `work` in a child, and waits for it. For the one thing that a full descriptor table forbids: opening a file
/// without closing one of the program's.
///
/// Returns false where no child could be made.
pub fn with_own_descriptors(work: &mut dyn FnMut()) -> bool {
    run(work).is_ok()
}

/// Another program, for [`run_program`].
#[derive(Debug, Clone, Copy)]
pub struct Program<'a> {
    /// Where it may be, tried in this order.
    pub candidates: &'a [CPath<'a>],
    /// The folder that it is to be started in; an empty path: this process's.
    pub folder: CPath<'a>,
    /// Its arguments, with its name; ended by a null.
    pub arguments: &'a [*const c_char],
    /// Its environment; ended by a null.
    pub environment: &'a [*const c_char],
    /// Where its standard output goes.
    pub output: Output,
    /// Whether it gets our standard error.
    pub talks: bool,
}

/// Where a program's standard output goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Output {
    /// To standard error.
    StandardError,
    /// Nowhere.
    Nowhere,
}

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// With a status.
    Status(u8),
    /// By a signal.
    Signal(u8),
}

/// Runs a program to its end, with no input, with all signals at their defaults and no descriptors but the first three.
///
/// A child that becomes another program gets SIGCHLD back as its exit signal (`de_thread` in the kernel). So it is
/// the child of a child, whose end nobody is told of.
///
/// # Errors
/// When no process can be made; the error of the last candidate when none can be run, or that of the first that is
/// there but cannot be run.
pub fn run_program(program: &Program<'_>) -> Result<End, Errno> {
    let mut outcome = Err(sys::ENOENT);
    let mut work = || {
        // Where SIGCHLD is ignored no status is kept.
        default_action(SIGCHLD);
        outcome = run_from_here(program);
    };
    // No handler of the program may run in the child either.
    sys::with_signals_blocked(sys::ASYNCHRONOUS, 0, || run(&mut work))?;
    outcome
}

const SIGCHLD: usize = 17;

fn run_from_here(program: &Program<'_>) -> Result<End, Errno> {
    let mut failure = None;
    let status = run(&mut || failure = Some(become_program(program)))?;
    match failure {
        Some(error) => Err(error),
        None if status & 0x7f == 0 => Ok(End::Status((status >> 8) as u8)),
        None => Ok(End::Signal((status & 0x7f) as u8)),
    }
}

/// In a child: becomes the first candidate that can be run. Comes back where none can.
fn become_program(program: &Program<'_>) -> Errno {
    // A handler of the program must not run in this process, which has its memory.
    for signal in 1..=64 {
        default_action(signal);
    }
    redirect(program);
    // SAFETY: takes no pointer but a string. Where the folder is gone the program starts in this process's.
    unsafe {
        if !program.folder.is_empty() {
            let _ = syscall(NR_CHDIR, [program.folder.as_ptr() as usize, 0, 0, 0, 0, 0]);
        }
        let _ = syscall(NR_CLOSE_RANGE, [3, u32::MAX as usize, 0, 0, 0, 0]);
    }
    sys::restore_signals(0);
    let (arguments, environment) = (program.arguments.as_ptr(), program.environment.as_ptr());
    let mut failure = sys::ENOENT;
    for path in program.candidates {
        // SAFETY: strings, and arrays of strings that end with a null.
        let call = unsafe {
            syscall(NR_EXECVE, [path.as_ptr() as usize, arguments as usize, environment as usize, 0, 0, 0])
        };
        failure = match call {
            Err(error @ (sys::ENOENT | sys::ENOTDIR)) => error,
            Err(error) => return error,
            Ok(_) => continue,
        };
    }
    failure
}

/// Gives the program its three descriptors.
fn redirect(program: &Program<'_>) {
    const READ_WRITE: usize = 2;
    const AT_FDCWD: usize = -100isize as usize;
    let duplicate = |from: usize, to: usize| {
        // SAFETY: takes no pointer.
        let _ = unsafe { syscall(NR_DUP2, [from, to, 0, 0, 0, 0]) };
    };
    // The lowest number that is free is now 0, also where all are in use.
    sys::close(0);
    // SAFETY: a path. Where there is none the program's own runtime deals with missing descriptors.
    let _ = unsafe { syscall(NR_OPENAT, [AT_FDCWD, c"/dev/null".as_ptr() as usize, READ_WRITE, 0, 0, 0]) };
    if !program.talks {
        duplicate(0, 2);
    }
    match program.output {
        Output::StandardError => duplicate(2, 1),
        Output::Nowhere => duplicate(0, 1),
    }
}

/// Puts a signal to its default action unless it is ignored on purpose (SIGCHLD never is).
fn default_action(signal: usize) {
    const IGNORE: usize = 1;
    let mut action = [0usize; 4];
    // SAFETY: the kernel's struct sigaction is 32 bytes, with a set of 8. All zeros is the default action.
    unsafe {
        let _ = syscall(NR_RT_SIGACTION, [signal, 0, action.as_mut_ptr() as usize, 8, 0, 0]);
        if action[0] == IGNORE && signal != SIGCHLD {
            return;
        }
        action = [0; 4];
        let _ = syscall(NR_RT_SIGACTION, [signal, action.as_ptr() as usize, 0, 8, 0, 0]);
    }
}

/// Runs `work` in a child and waits for it; gives its status as wait(2) has it.
fn run(work: &mut dyn FnMut()) -> Result<u32, Errno> {
    const VM_VFORK: usize = 0x100 | 0x4000;
    extern "C" fn call(work: *mut &mut dyn FnMut()) {
        // SAFETY: `work` points at the caller's closure reference, whose thread sleeps until this child is gone.
        unsafe { (*work)() };
    }
    let calls = [(NR_CLONE, [VM_VFORK, 0, 0, 0, 0, 0]), (NR_EXIT, [0; 6]), (NR_WAIT4, [0; 6])];
    if !seccomp::permits_all(&calls) {
        return Err(sys::FORBIDDEN);
    }
    let mut work = work;
    let child: isize;
    // SAFETY: the child runs on the parent's stack below the parent's frame while the parent sleeps in vfork
    // manner: it calls `call` with an aligned stack and then exits; it never returns into this frame. Calls in
    // the child clobber only what is declared, and the parent resumes with the registers the kernel kept.
    unsafe {
        asm!(
            "syscall",
            "test rax, rax",
            "jnz 2f",
            "mov rdi, {argument}",
            "mov rbp, rsp",
            "and rsp, -16",
            "call {call}",
            "xor edi, edi",
            "mov eax, {exit}",
            "syscall",
            "ud2",
            "2:",
            argument = in(reg) &raw mut work,
            call = in(reg) call as extern "C" fn(*mut &mut dyn FnMut()),
            exit = const NR_EXIT,
            inlateout("rax") NR_CLONE as isize => child,
            inlateout("rdi") VM_VFORK => _,
            inlateout("rsi") 0usize => _,
            inlateout("rdx") 0usize => _,
            inlateout("r10") 0usize => _,
            inlateout("r8") 0usize => _,
            out("rcx") _,
            out("r11") _,
        );
    }
    if child <= 0 {
        return Err(Errno(-child as i32));
    }
    // __WALL and __WCLONE: children of every kind, and those without SIGCHLD.
    const ALL_KINDS: usize = 0x4000_0000 | 0x8000_0000;
    let mut status = 0u32;
    loop {
        // SAFETY: the kernel writes four bytes.
        match unsafe { syscall(NR_WAIT4, [child as usize, &raw mut status as usize, ALL_KINDS, 0, 0, 0]) } {
            Err(EINTR) => {}
            Err(error) => return Err(error),
            Ok(_) => return Ok(status),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::ptr::null;

    fn shell(script: &core::ffi::CStr, candidates: &[CPath<'_>]) -> Result<End, Errno> {
        run_program(&Program {
            candidates,
            folder: c"/",
            arguments: &[c"sh".as_ptr(), c"-c".as_ptr(), script.as_ptr(), null()],
            environment: &[c"A=b".as_ptr(), null()],
            output: Output::Nowhere,
            talks: false,
        })
    }

    #[test]
    #[cfg_attr(miri, ignore = "makes processes")]
    fn a_program_is_looked_for_and_its_end_is_told() {
        let candidates = [c"/nonexistent/sh", c"/bin/sh"];
        assert_eq!(shell(c"exit 7", &candidates), Ok(End::Status(7)));
        assert_eq!(shell(c"kill -9 $$", &candidates), Ok(End::Signal(9)));
        assert_eq!(shell(c"", &candidates[..1]), Err(sys::ENOENT));
        assert_eq!(shell(c"", &[c"/etc/passwd"]), Err(Errno(13)));
    }

    #[test]
    #[cfg_attr(miri, ignore = "makes processes")]
    fn it_gets_folder_environment_and_three_descriptors() {
        let script = c"test $PWD = / && test \"$(env | grep -c ^A=b)\" = 1 && test ! -e /proc/self/fd/9 && \
                       test \"$(readlink /proc/$$/fd/1)\" = /dev/null && exit 5";
        assert_eq!(shell(script, &[c"/bin/sh"]), Ok(End::Status(5)));
    }
}
