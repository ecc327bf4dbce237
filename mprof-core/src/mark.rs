//! Whether a thread is inside a hook.
//!
//! Each thread has a word that says so, on a page that children see as zeros (`MADV_WIPEONFORK`): the same
//! compare that keeps a signal handler out of a half-updated heap tells a child, by whatever system call it was
//! made, that the heap it inherited is its parent's.

use core::sync::atomic::{AtomicPtr, AtomicUsize, Ordering, compiler_fence};

use crate::sys;

/// The word. It holds what [`Mark::get`] decodes; a cache line, so that threads do not share one.
#[derive(Debug)]
#[repr(align(64))]
pub struct Mark(AtomicUsize);

/// What a thread is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Doing {
    /// This process has not used the mark yet: it is a child that has just been forked.
    Nothing,
    /// The thread is in the program.
    Program,
    /// The thread is in the real allocator, called from a hook that was entered at this stack pointer.
    Real(usize),
    /// The thread is in a heap, changing it, in a hook that was entered at this stack pointer.
    Heap(usize),
}

const IDLE: usize = 1;
const IN_HEAP: usize = 2;
const IN_REAL: usize = 4;
const KIND: usize = 7;

impl Mark {
    /// A mark that is not in use.
    pub const fn new() -> Mark {
        Mark(AtomicUsize::new(0))
    }

    /// Whether the thread is in the program, so that a hook may begin.
    #[inline(always)]
    pub fn is_idle(&self) -> bool {
        self.0.load(Ordering::Relaxed) == IDLE
    }

    /// What the thread is doing.
    pub fn get(&self) -> Doing {
        let word = self.0.load(Ordering::Relaxed);
        match word & KIND {
            IN_HEAP => Doing::Heap(word & !KIND),
            IN_REAL => Doing::Real(word & !KIND),
            IDLE => Doing::Program,
            _ => Doing::Nothing,
        }
    }

    /// Says what the thread is going to do; the stack pointers are multiples of 8.
    #[inline(always)]
    pub fn set(&self, doing: Doing) {
        let word = match doing {
            Doing::Nothing => 0,
            Doing::Program => IDLE,
            Doing::Real(sp) => sp | IN_REAL,
            Doing::Heap(sp) => sp | IN_HEAP,
        };
        // Only a signal handler of this thread, or a dump behind a barrier, cares about the order.
        compiler_fence(Ordering::SeqCst);
        self.0.store(word, Ordering::Relaxed);
        compiler_fence(Ordering::SeqCst);
    }
}

impl Default for Mark {
    fn default() -> Self {
        Mark::new()
    }
}

const PER_PAGE: usize = sys::PAGE / size_of::<Mark>();

/// A page of marks. The first is no mark but counts how many of the others are given out.
struct Page([Mark; PER_PAGE]);

/// The page that marks are being given out from; null before the first.
static PAGE: AtomicPtr<Page> = AtomicPtr::new(core::ptr::null_mut());

/// A mark that children see as [`Doing::Nothing`]; `None` without memory.
pub fn create() -> Option<&'static Mark> {
    loop {
        let page = PAGE.load(Ordering::Acquire);
        // SAFETY: pages of marks are never unmapped once they are published.
        if let Some(Page(marks)) = unsafe { page.as_ref() } {
            let index = marks[0].0.fetch_add(1, Ordering::Relaxed) + 1;
            if let Some(mark) = marks.get(index) {
                return Some(mark);
            }
        }
        let fresh = crate::arena::map(sys::PAGE)?;
        // SAFETY: the page is ours. (On a kernel that cannot wipe it, `fork` handlers do what is left to do.)
        unsafe { sys::wipe_on_fork(fresh, sys::PAGE) };
        if PAGE.compare_exchange(page, fresh.cast(), Ordering::AcqRel, Ordering::Acquire).is_err() {
            // SAFETY: no one else saw it.
            unsafe { sys::unmap(fresh, sys::PAGE) };
        }
    }
}

/// In a child after a fork: the marks of before are its parent's.
pub fn forget_all() {
    PAGE.store(core::ptr::null_mut(), Ordering::Relaxed);
}
