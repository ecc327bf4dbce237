//! The `backtrace` crate as the reference unwinder.

use core::sync::atomic::Ordering;

use mprof_core::process::OPTIONS;
use mprof_core::reference;

/// Makes it known to the engine, if it was asked for.
pub fn offer() {
    if OPTIONS.verify.load(Ordering::Relaxed) || OPTIONS.reference.load(Ordering::Relaxed) {
        reference::set(trace);
    }
}

fn trace(first: usize, visit: &mut dyn FnMut(usize) -> bool) {
    let mut inside = true;
    let mut look = |frame: &backtrace::Frame| {
        let address = frame.ip() as usize;
        inside &= address != first; // the monitor's own frames
        // libgcc counts the outermost frame's missing caller, at address 0.
        inside || (address != 0 && visit(address))
    };
    // SAFETY: the unwinder is used by this thread alone while it is in a hook; libgcc's takes no lock where the C
    // library has `_dl_find_object`.
    unsafe { backtrace::trace_unsynchronized(&mut look) };
}
