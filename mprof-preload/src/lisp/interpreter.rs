//! What a frame of ECL's interpreter runs: the record of the invocation history that it keeps on its stack says so.

use core::sync::atomic::{AtomicU8, AtomicU32, AtomicUsize, Ordering};

use mprof_core::lisp::functions;
use mprof_core::note;
use mprof_core::process;
use mprof_core::unwind::read_word;

use super::ecl::{self, Values, Word, small_integer};
use super::names::Name;

/// From a record's function to its index, bytes (`struct ecl_ihs_frame` of `<ecl/stacks.h>`).
const INDEX: usize = 16;
/// Frames in which the record may be looked for in vain before it is given up.
const ATTEMPTS: u32 = 64;

static FAILURES: AtomicU32 = AtomicU32::new(0);
/// Type of interpreted functions; 0 before the first was seen.
static TYPE: AtomicU8 = AtomicU8::new(0);

/// Address of the word, in the interpreter's frame from `low` to `high`, that says which function it runs: in a record
/// whose function and index are those that the invocation history has.
pub fn find(low: usize, high: usize) -> Option<usize> {
    if FAILURES.load(Ordering::Relaxed) >= ATTEMPTS {
        return None;
    }
    let found = find_record(low, high);
    if found.is_none() && FAILURES.fetch_add(1, Ordering::Relaxed) + 1 == ATTEMPTS {
        note::say(format_args!(
            "Lisp: frames of the interpreter are not as expected; interpreted functions have no names"
        ));
    }
    found
}

fn find_record(low: usize, high: usize) -> Option<usize> {
    let _values = Values::keep()?;
    // SAFETY: the thread is one of Lisp's.
    let top = unsafe { ecl::si_ihs_top()() } >> 2;
    for index in (1..=top).rev() {
        // SAFETY: the index is that of a record.
        let function = unsafe { ecl::si_ihs_fun()(small_integer(index)) };
        let is_record = |&at: &usize| {
            // SAFETY: both words lie in the frame.
            let (word, number) = unsafe { (read_word(at), read_word(at + INDEX)) };
            word == function && number == index
        };
        // SAFETY: the history's functions are alive.
        if let Some(kind) = unsafe { ecl::type_of(function) }
            && let Some(at) = (low..high.saturating_sub(INDEX)).step_by(8).find(is_record)
        {
            TYPE.store(kind, Ordering::Relaxed);
            return Some(at);
        }
    }
    None
}

/// Slots of the table of functions seen; a power of two.
const SLOTS: usize = 1 << 14;
/// Slots that are tried for a function.
const TRIES: usize = 16;

/// Functions seen: their addresses, and their numbers plus 1; 0 where the address may be another's by now.
static SEEN: [(AtomicUsize, AtomicU32); SLOTS] = [const { (AtomicUsize::new(0), AtomicU32::new(0)) }; SLOTS];

fn slots(function: Word) -> impl Iterator<Item = &'static (AtomicUsize, AtomicU32)> {
    let first = function.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
    (0..TRIES).map(move |step| &SEEN[(first + step) % SLOTS])
}

/// The Lisp function that the word of a frame stands for, by its number.
pub fn function(word: usize) -> Option<u32> {
    // Before the interpreter has filled the record in (a signal may come then) the word is anything.
    if word == 0 || word & 7 != 0 {
        return None;
    }
    let base = ecl::GC_base();
    // SAFETY: the function judges any address.
    if unsafe { base(word as *mut _) } as usize != word {
        return None;
    }
    // SAFETY: it is an object of the collector's.
    if unsafe { ecl::type_of(word) } != Some(TYPE.load(Ordering::Relaxed)) {
        return None;
    }
    let known = slots(word).find(|(address, _)| address.load(Ordering::Acquire) == word);
    if let Some((_, number)) = known
        && let Some(number) = number.load(Ordering::Relaxed).checked_sub(1)
    {
        return Some(number);
    }
    let number = enter(word)?;
    let free = |slot: &&(AtomicUsize, AtomicU32)| {
        slot.0.compare_exchange(0, word, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    };
    if let Some((_, place)) = known.or_else(|| slots(word).find(free)) {
        place.store(number + 1, Ordering::Release);
    }
    Some(number)
}

/// Enters a function by its name.
fn enter(function: Word) -> Option<u32> {
    let _values = Values::keep()?;
    // SAFETY: the function runs, so it is alive and has its name.
    let name = unsafe { Name::of(ecl::si_compiled_function_name()(function)) };
    functions::interpreted(name.text.as_bytes(), name.package.as_bytes())
}

/// An object was made. If it is a function in the place of one that was seen, what is known of that one is forgotten, and
/// the chains with it.
#[inline(always)]
pub fn made(object: Word, kind: u8) {
    if kind == TYPE.load(Ordering::Relaxed) && kind != 0 {
        forget(object);
    }
}

#[cold]
#[inline(never)]
fn forget(function: Word) {
    let mut known = slots(function).filter(|(address, _)| address.load(Ordering::Acquire) == function);
    let is_known = known.any(|(_, number)| number.swap(0, Ordering::Relaxed) != 0);
    let is_full = slots(function).all(|(address, _)| address.load(Ordering::Relaxed) != 0);
    if is_known || is_full {
        process::step_generation();
    }
}
