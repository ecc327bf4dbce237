//! A hook that begins while its thread is still in another: how come?

use crate::modules;
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
const FRAMES: usize = 100_000;

/// How the hook entered at stack pointer `inner` comes to begin while the one entered at `outer` has not returned.
///
/// The stack is walked outward from here. The outer hook is still there if a frame of ours has its caller where
/// that hook's entry was; then a signal came in between, or none did. A stack that ends without such a frame does
/// not hold the outer hook any more. Where a stack cannot be walked to its end, the stack pointers decide.
#[cold]
#[inline(never)]
pub fn of(inner: usize, outer: usize) -> Nesting {
    let mut storage = core::mem::MaybeUninit::<Workspace>::uninit();
    // SAFETY: the storage is a workspace's; nothing in it needs to be dropped.
    let workspace = unsafe {
        Workspace::start(storage.as_mut_ptr());
        storage.assume_init_mut()
    };
    let own_code = modules::range(of as *const () as usize);
    let mut registers = Registers::here();
    let mut signal = false;
    for _ in 0..FRAMES {
        let is_ours = own_code.contains(&registers.state().location.lookup_address());
        match registers.step(workspace) {
            Step::Caller => {}
            Step::End => return Nesting::Stale,
            Step::NoInformation => break,
        }
        signal |= registers.is_interrupted();
        // A hook's caller has its stack pointer above the return address.
        if is_ours && registers.state().sp == outer + size_of::<usize>() {
            return if signal { Nesting::Signal } else { Nesting::Direct };
        }
    }
    if inner > outer { Nesting::Stale } else { Nesting::Signal }
}
