//! A hook that begins while its thread is still in another: how come?

use crate::unwind::eh_frame::Workspace;
use crate::unwind::general::{Registers, Step};

/// Why a hook begins inside of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nesting {
    /// A signal handler interrupted the other one.
    Signal,
    /// The other one called something that called this one.
    Direct,
    /// The other one is gone: a jump (`siglongjmp`) left it.
    Stale,
}

/// How far out to look, in frames.
const FRAMES: usize = 256;
/// A hook's own frames, and the real allocator's below it, end within this many bytes of its entry.
const HOOK_STACK: usize = 256 * 1024;

/// How the hook entered at stack pointer `inner` comes to begin while the one entered at `outer` has not returned.
///
/// The stack is walked outward from here. A frame that a signal interrupted and that lies below the outer hook's
/// entry was in that hook; the outer hook's own frames found without such a one mean a plain call; a stack that
/// ends without either means that the outer hook is not on it any more.
#[cold]
#[inline(never)]
pub fn of(inner: usize, outer: usize) -> Nesting {
    let mut storage = core::mem::MaybeUninit::<Workspace>::uninit();
    // SAFETY: the storage is a workspace's; nothing in it needs to be dropped.
    let workspace = unsafe {
        Workspace::start(storage.as_mut_ptr());
        storage.assume_init_mut()
    };
    let mut registers = Registers::here();
    let mut signal = false;
    for _ in 0..FRAMES {
        if registers.step(workspace) != Step::Caller {
            break;
        }
        let sp = registers.state().sp;
        signal |= registers.is_interrupted();
        let in_hook = sp <= outer && outer - sp < HOOK_STACK;
        if signal && registers.is_interrupted() && in_hook {
            return Nesting::Signal;
        }
        if sp > outer && inner < outer && outer - inner < HOOK_STACK {
            // The walk came past the outer hook's entry on the same stack.
            return if signal { Nesting::Signal } else { Nesting::Direct };
        }
    }
    if inner > outer { Nesting::Stale } else { Nesting::Signal }
}
