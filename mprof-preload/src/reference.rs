//! The `backtrace` crate as a second opinion on call chains (`MPROF_VERIFY=1`).

use core::sync::atomic::{AtomicU32, Ordering};

use mprof_core::note;
use mprof_core::process::OPTIONS;
use mprof_core::verify;

/// Makes the reference known to the engine, if it was asked for.
pub fn offer() {
    if OPTIONS.verify.load(Ordering::Relaxed) {
        verify::set_reference(agrees);
    }
}

/// Differences described in a line each; further ones are only counted.
const DESCRIBED: u32 = 3;
static DESCRIPTIONS: AtomicU32 = AtomicU32::new(0);

/// Whether the reference unwinder finds the same chain: it is equal to ours, or it stops earlier where it finds no
/// unwind information (we may go on by frame pointer), or ours was cut.
fn agrees(first: usize, chain: &mut dyn Iterator<Item = usize>, whole: bool) -> bool {
    let mut inside = true;
    let mut depth = 0;
    let mut difference = None;
    let mut look = |frame: &backtrace::Frame| {
        let address = frame.ip() as usize;
        if inside && address != first {
            return true; // our own frames
        }
        inside = false;
        if address == 0 {
            return false; // libgcc counts the outermost frame's missing caller
        }
        let ours = chain.next();
        if ours != Some(address) && (ours.is_some() || whole) {
            difference = Some((depth, ours.unwrap_or(0), address));
        }
        depth += 1;
        ours == Some(address)
    };
    // SAFETY: the unwinder is used by this thread alone while it is in a hook; libgcc's takes no lock where the C
    // library has `_dl_find_object`.
    unsafe { backtrace::trace_unsynchronized(&mut look) };
    if inside {
        difference = Some((0, first, 0));
    }
    if let Some((depth, ours, theirs)) = difference
        && DESCRIPTIONS.fetch_add(1, Ordering::Relaxed) < DESCRIBED
    {
        note::say(format_args!("verify: frame {depth} is at {ours:#x}, for the reference at {theirs:#x}"));
    }
    difference.is_none()
}
