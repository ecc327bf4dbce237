//! A process of ours in the program's memory: it may stop the program's threads (no thread can stop its siblings), and
//! a fault in it is no fault of the program. As LeakSanitizer's tracer thread.

use core::arch::asm;
use core::ffi::c_void;
use core::sync::atomic::{AtomicU32, Ordering};

use crate::seccomp;
use crate::sys::{self, syscall};

use super::memory;

/// Length of its stack, bytes.
const STACK: usize = 256 * 1024;

struct Errand<'a> {
    work: &'a mut dyn FnMut(),
    /// Id of the program's process.
    parent: u32,
    /// Whether the helper may begin: it may trace the program from then on.
    begin: AtomicU32,
}

/// Runs `work` in a process of its own that shares this one's memory, while the calling thread waits. False where no
/// such process can be made. Where `work` is not to its end after this, the helper was killed.
///
/// The calling thread has blocked all signals that can be.
pub(super) fn run(work: &mut dyn FnMut()) -> bool {
    let Some(stack) = sys::map(STACK) else { return false };
    let errand = Errand { work, parent: sys::process_id(), begin: AtomicU32::new(0) };
    // SAFETY: the stack is fresh; the errand lives until the helper has ended.
    let child = unsafe { start(stack as usize + STACK, &raw const errand as *mut c_void) };
    if child > 0 {
        allow_tracing(child as usize);
        errand.begin.store(1, Ordering::Release);
        wait(child as usize);
        allow_tracing(0);
    }
    // SAFETY: the helper has ended, or never was.
    unsafe { sys::unmap(stack, STACK) };
    child > 0
}

/// The helper's first function.
unsafe extern "C" fn begin(errand: *mut c_void) {
    // SAFETY: `run` passes its errand, and waits.
    let errand = unsafe { &mut *errand.cast::<Errand<'_>>() };
    die_with_parent(errand.parent);
    // SAFETY: signal handlers are not shared: the flags of `start` say so. The process runs nothing but this.
    unsafe { memory::catch_faults() };
    while errand.begin.load(Ordering::Acquire) == 0 {
        sys::sleep_microseconds(50);
    }
    (errand.work)();
}

/// clone(2): memory is shared, descriptors and signal handlers are copied, no signal is sent at the end, and who
/// traces the program does not trace the helper.
///
/// # Safety
/// `stack` is the upper end of memory that nobody uses; what `argument` points to lives until the child has ended.
unsafe fn start(stack: usize, argument: *mut c_void) -> isize {
    const CLONE: usize = 56;
    const EXIT_GROUP: usize = 231;
    const VM_FS_UNTRACED: usize = 0x100 | 0x200 | 0x0080_0000;
    let calls = [(CLONE, [VM_FS_UNTRACED, stack, 0, 0, 0, 0]), (EXIT_GROUP, [0; 6])];
    if !seccomp::permits_all(&calls) {
        return -1;
    }
    let child: isize;
    // SAFETY: the child calls `begin` on its own stack, which is aligned, and exits; it never returns into this frame.
    // In the parent the system call changes only what is declared.
    unsafe {
        asm!(
            "syscall",
            "test rax, rax",
            "jnz 2f",
            "mov rdi, {argument}",
            "xor ebp, ebp",
            "call {begin}",
            "xor edi, edi",
            "mov eax, {exit}",
            "syscall",
            "ud2",
            "2:",
            argument = in(reg) argument,
            begin = in(reg) begin as unsafe extern "C" fn(*mut c_void),
            exit = const EXIT_GROUP,
            inlateout("rax") CLONE as isize => child,
            inlateout("rdi") VM_FS_UNTRACED => _,
            inlateout("rsi") stack => _,
            inlateout("rdx") 0usize => _,
            inlateout("r10") 0usize => _,
            inlateout("r8") 0usize => _,
            out("rcx") _,
            out("r11") _,
        );
    }
    child
}

/// Has the helper killed when the thread that waits for it is.
fn die_with_parent(parent: u32) {
    const SET_PARENT_DEATH_SIGNAL: usize = 1;
    const SIGKILL: usize = 9;
    prctl(SET_PARENT_DEATH_SIGNAL, SIGKILL);
    if sys::parent_process_id() != parent {
        sys::exit_process(1);
    }
}

/// Where the Yama security module restricts tracing to descendents, lets this process trace us; 0: none.
fn allow_tracing(process: usize) {
    const SET_TRACER: usize = 0x5961_6d61;
    prctl(SET_TRACER, process);
}

fn prctl(option: usize, argument: usize) {
    const PRCTL: usize = 157;
    // SAFETY: the options used here take no pointer.
    let _ = unsafe { syscall(PRCTL, [option, argument, 0, 0, 0, 0]) };
}

fn wait(child: usize) {
    const WAIT4: usize = 61;
    const WALL: usize = 0x4000_0000;
    // SAFETY: no status is asked for.
    while unsafe { syscall(WAIT4, [child, 0, WALL, 0, 0, 0]) } == Err(sys::EINTR) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reach::memory::Memory;

    #[test]
    fn what_the_helper_writes_is_in_our_memory() {
        let mut seen = 0;
        assert!(run(&mut || seen = sys::process_id()));
        assert!(seen != 0 && seen != sys::process_id());
    }

    #[test]
    fn a_fault_while_copying_is_survived() {
        let mut read = (usize::MAX, usize::MAX);
        let good = [1u64, 2, 3];
        run(&mut || {
            // SAFETY: the helper catches faults.
            let memory = unsafe { Memory::guarded() };
            read = (memory.read(8, &mut [0; 4]), memory.read(good.as_ptr() as usize, &mut [0; 3]));
        });
        assert_eq!(read, (0, 3));
    }

    #[test]
    fn any_other_fault_ends_the_helper_alone() {
        let mut steps = 0;
        run(&mut || {
            steps += 1;
            // SAFETY: none; this is the fault.
            unsafe { core::ptr::without_provenance::<u8>(8).read_volatile() };
            steps += 1;
        });
        assert_eq!(steps, 1);
    }
}
