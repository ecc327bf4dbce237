//! Calls that come to us besides those of the C library: those of a Lisp system's library and of a garbage collector's,
//! where there are such libraries. In other processes nothing is changed.

use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::elf::{self, Object};
use crate::hooks;
use crate::lisp::{self, Way};
use crate::options::{self, Lisp};

/// Whether the Lisp system's calls come to us.
static LISP: AtomicBool = AtomicBool::new(false);
/// Whether the collector's do.
static COLLECTOR: AtomicBool = AtomicBool::new(false);
/// How many objects had been loaded when calls were redirected last.
static LOADED: AtomicU64 = AtomicU64::new(0);

/// Whether an object is the collector's library.
fn is_collector(object: &Object<'_>) -> bool {
    object.file_name().starts_with(b"libgc.so")
}

/// At the start, when all objects that the program is linked with are loaded.
pub fn start() {
    let (wants_lisp, wants_collector) = (options::lisp() != Lisp::Off, options::collector());
    if !wants_lisp && !wants_collector {
        return;
    }
    if wants_collector {
        find_collector();
    }
    if wants_lisp {
        elf::each(&mut |object| {
            if lisp::is_ecl(object) {
                match find_lisp(object) {
                    Way::ByType => LISP.store(true, Ordering::Release),
                    Way::BySize => find_collector(),
                    Way::None => {}
                }
            }
        });
    }
    apply();
}

/// From now on the collector's calls come to us, if there is one.
fn find_collector() {
    elf::each(&mut |collector| {
        if is_collector(collector) {
            hooks::collector::find(collector);
            COLLECTOR.store(true, Ordering::Release);
        }
    });
}

/// Finds what is needed of ECL, which uses the collector.
fn find_lisp(ecl: &Object<'_>) -> Way {
    let mut found = None;
    elf::each(&mut |collector| {
        if is_collector(collector) {
            found = Some(lisp::find(ecl, Some(collector)));
        }
    });
    found.unwrap_or_else(|| lisp::find(ecl, None))
}

/// Has the calls of all objects come to us, where that is not done yet: before something is looked up, perhaps in a
/// file that has just been loaded.
pub fn apply() {
    let (lisp, collector) = (LISP.load(Ordering::Acquire), COLLECTOR.load(Ordering::Acquire));
    if !(lisp || collector) {
        return;
    }
    let loaded = elf::loaded();
    if LOADED.swap(loaded, Ordering::AcqRel) == loaded {
        return;
    }
    let ours = apply as *const () as usize;
    elf::each(&mut |object| {
        if object.range.contains(&ours) || is_collector(object) {
            return;
        }
        if lisp {
            object.redirect(&hooks::lisp::redirections());
        }
        // What ECL asks of the collector is part of its objects.
        if collector && !(lisp && lisp::is_ecl(object)) {
            hooks::collector::redirect(object);
        }
    });
}
