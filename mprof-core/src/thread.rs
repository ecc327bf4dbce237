//! What belongs to the calling thread.
//!
//! | way to keep a thread's own word | what is wrong with it |
//! |---|---|
//! | `thread_local!` | in a shared library it asks `__tls_get_addr`, which may allocate |
//! | … with a destructor | registers it with `__cxa_thread_atexit_impl`, which allocates |
//! | `pthread_getspecific` | a call into the C library; keys over 31 allocate |
//! | a table by thread id | a system call, or a guess at the thread control block |
//! | initial-exec TLS (this) | takes space that the loader sets aside at start: 16 bytes |

use core::arch::{asm, global_asm};
use core::sync::atomic::{AtomicPtr, Ordering};

use crate::heap::Heap;
use crate::mark::{Doing, Mark};
use crate::process;

global_asm!(
    ".pushsection .tbss.mprof_thread,\"awT\",@nobits",
    ".globl mprof_thread",
    ".hidden mprof_thread",
    ".type mprof_thread,@object",
    ".size mprof_thread,16",
    ".p2align 4",
    "mprof_thread: .zero 16",
    ".popsection",
);

/// The calling thread's words: its mark and its heap. Where the process is watched (see [`crate::watch`]) the mark is
/// hidden, so that no hook takes the short way.
#[derive(Debug, Clone, Copy)]
pub struct Thread {
    mark: *const Mark,
    heap: *mut Heap,
}

/// What stands for a mark that is hidden: it is never idle.
static HIDDEN: Mark = Mark::new();

/// The mark of threads that have given up their heap because they are about to end.
static ENDING: Mark = Mark::new();

/// Told about each thread that gets a heap, so that it can be told when the thread ends.
static ON_ATTACH: AtomicPtr<()> = AtomicPtr::new(core::ptr::null_mut());

/// Has `hook` called, in each thread that gets a heap from now on, with a non-null pointer that is of no other
/// use. When the thread ends, [`detach`] is to be called in it.
pub fn on_attach(hook: fn(*const ())) {
    ON_ATTACH.store(hook as *mut (), Ordering::Release);
}

impl Thread {
    /// The calling thread.
    #[inline(always)]
    pub fn current() -> Thread {
        let (mark, heap): (*const Mark, *mut Heap);
        // SAFETY: reads the two words of the calling thread; the assembler and the linker know where they are.
        unsafe {
            asm!(
                "mov {heap}, qword ptr [rip + mprof_thread@GOTTPOFF]",
                "mov {mark}, qword ptr fs:[{heap}]",
                "mov {heap}, qword ptr fs:[{heap} + 8]",
                mark = out(reg) mark,
                heap = out(reg) heap,
                options(nostack, preserves_flags, readonly),
            );
        }
        Thread { mark, heap }
    }

    /// Makes these the calling thread's words: both by one instruction, for a signal handler that saw the one
    /// without the other would take the thread for ready.
    fn store(self) {
        // SAFETY: as in `current`; the words are 16-byte aligned.
        unsafe {
            asm!(
                "mov {scratch}, qword ptr [rip + mprof_thread@GOTTPOFF]",
                "movq {both}, {mark}",
                "movq {high}, {heap}",
                "punpcklqdq {both}, {high}",
                "movaps xmmword ptr fs:[{scratch}], {both}",
                scratch = out(reg) _,
                both = out(xmm_reg) _,
                high = out(xmm_reg) _,
                mark = in(reg) self.mark,
                heap = in(reg) self.heap,
                options(nostack, preserves_flags),
            );
        }
    }

    /// The thread's mark and heap if it has them, is in the program, and is not watched: then a hook may begin.
    #[inline(always)]
    pub fn ready(&self) -> Option<(&'static Mark, *mut Heap)> {
        if self.mark.is_null() {
            return None;
        }
        // SAFETY: marks are never freed.
        let mark = unsafe { &*self.mark };
        mark.is_idle().then_some((mark, self.heap))
    }

    /// The thread's mark and heap, whatever it is doing.
    pub fn attached(&self) -> Option<(&'static Mark, *mut Heap)> {
        // (A signal handler in which the thread got both may have come between the reading of the two.)
        if self.heap.is_null() || self.mark.is_null() {
            return None;
        }
        if core::ptr::eq(self.mark, &HIDDEN) {
            // SAFETY: heaps are never freed.
            return Some((unsafe { Heap::mark_of(self.heap) }, self.heap));
        }
        // SAFETY: marks are never freed.
        Some((unsafe { &*self.mark }, self.heap))
    }

    /// Whether the thread has given up its heap.
    pub fn is_ending(&self) -> bool {
        core::ptr::eq(self.mark, &ENDING)
    }

    /// Gives the calling thread a heap, which it must not have yet. `None` without memory.
    pub fn attach() -> Option<(&'static Mark, *mut Heap)> {
        let id = process::id();
        let (mark, heap) = crate::heap::acquire()?;
        mark.set(Doing::Program);
        let shown: *const Mark = if crate::watch::is_on() { &HIDDEN } else { mark };
        Thread { mark: shown, heap }.store();
        if process::id() != id {
            // A signal handler has forked in the midst of this: that heap is the parent's. (From here on the mark tells.)
            Thread::forget();
            return Thread::attach();
        }
        let hook = ON_ATTACH.load(Ordering::Acquire);
        if !hook.is_null() {
            // SAFETY: only `on_attach` stores here, and it stores such a function.
            let hook = unsafe { core::mem::transmute::<*mut (), fn(*const ())>(hook) };
            hook(heap.cast());
        }
        Some((mark, heap))
    }

    /// From now on the calling thread is watched.
    pub fn hide_mark() {
        let Thread { heap, .. } = Thread::current();
        if !heap.is_null() {
            Thread { mark: &HIDDEN, heap }.store();
        }
    }

    /// Takes the calling thread's heap away, because it is about to end. What it does after this is counted in
    /// no heap.
    pub fn detach() {
        let thread = Thread::current();
        if let Some((mark, heap)) = thread.attached() {
            Thread { mark: &ENDING, heap: core::ptr::null_mut() }.store();
            mark.set(Doing::Program);
            // SAFETY: the thread has just lost it.
            unsafe { crate::heap::release(heap) };
        }
    }

    /// In a child after a fork: the thread has no heap yet.
    pub fn forget() {
        Thread { mark: core::ptr::null(), heap: core::ptr::null_mut() }.store();
    }
}

/// The thread pointer, which on x86-64 is the address of the thread control block (ELF TLS, variant II). The C
/// library puts that block at the upper end of the stack of every thread but the first.
pub fn control_block() -> usize {
    let address: usize;
    // SAFETY: the first word of the block is its own address (System V ABI).
    unsafe {
        asm!("mov {}, qword ptr fs:[0]", out(reg) address, options(nostack, preserves_flags, readonly))
    };
    address
}
