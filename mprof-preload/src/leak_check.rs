//! What leaks bring about when the process ends: a report, and another exit status.

use core::ffi::c_int;
use core::sync::atomic::{AtomicU32, Ordering};

use mprof_core::child::End;
use mprof_core::note::{self, Printable};
use mprof_core::{kept, process, recording, sys};

use crate::{addresses, options, profile, startup, viewer};

/// Id of the process that was checked last: each is checked once.
static CHECKED: AtomicU32 = AtomicU32::new(0);

/// What mpdisplay found.
enum Finding {
    /// Nothing is kept but what is suppressed.
    Clean,
    /// More is kept than that.
    Leaks,
    /// It could not be found out.
    Unknown,
}

/// At the end of the process, after its profile is written (or not): reports leaks if that was asked for, and gives
/// the exit status to end with in place of `status`.
pub fn at_end(status: c_int, has_profile: bool) -> Option<c_int> {
    let report = options::report();
    // The kernel keeps eight bits of it.
    let exit = options::leak_exit().filter(|_| status & 0xff == 0);
    if !report && exit.is_none() || !is_checked_here() {
        return None;
    }
    if kept::total().objects == 0 {
        if report {
            note::say(format_args!("no objects were kept"));
        }
        return None;
    }
    match find_out(report, has_profile) {
        Finding::Clean => None,
        // What was not checked has not passed.
        Finding::Leaks | Finding::Unknown => exit,
    }
}

/// Whether this process has counts of its own, and is checked for the first time.
fn is_checked_here() -> bool {
    let id = process::id();
    !options::is_secure() && profile::is_ours_to_write() && CHECKED.swap(id, Ordering::Relaxed) != id
}

fn find_out(report: bool, has_profile: bool) -> Finding {
    // One that was told to stop has left its profile then.
    if has_profile || recording::is_stopped() {
        match viewer::show_leaks(report) {
            Ok(End::Status(0)) => return Finding::Clean,
            Ok(End::Status(1)) => return Finding::Leaks,
            // It has said why.
            Ok(End::Status(_)) => return Finding::Unknown,
            Ok(End::Signal(signal)) => {
                note::say(format_args!("leaks cannot be checked: signal {signal} ended mpdisplay"));
            }
            Err(sys::ENOENT | sys::ENOTDIR) => note::say(format_args!(
                "leaks are neither named nor suppressed: mpdisplay is not beside {}, in ../bin or on PATH",
                Printable(startup::library())
            )),
            Err(error) => note::say(format_args!(
                "leaks are neither named nor suppressed: mpdisplay cannot be run: {}",
                profile::reason_text(error)
            )),
        }
    }
    if report {
        addresses::print();
    }
    Finding::Unknown
}
