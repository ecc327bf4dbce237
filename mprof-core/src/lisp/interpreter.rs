//! Frames of a Lisp interpreter. All are frames of one function of machine code; which Lisp function each runs is said by
//! a word that lies at the same distance from the canonical frame address in all of them (a local variable's). So such
//! a frame depends on one stack word more than others, which is kept and compared with the words that lead outward.

use core::sync::atomic::{AtomicIsize, AtomicPtr, AtomicUsize, Ordering};

use super::functions;
use crate::location::FrameKey;
use crate::unwind::read_word;

/// What is to be known of a Lisp system with an interpreter.
#[derive(Debug)]
pub struct Interpreter {
    /// Address of the word that says what the frame from `low` to `high` (the canonical frame address) runs; `None`
    /// where it is not found.
    pub find: fn(low: usize, high: usize) -> Option<usize>,
    /// The Lisp function, by its number in [`functions`], that such a word stands for; `None` where it stands for none.
    pub function: fn(word: usize) -> Option<u32>,
}

static START: AtomicUsize = AtomicUsize::new(0);
static INTERPRETER: AtomicPtr<Interpreter> = AtomicPtr::new(core::ptr::null_mut());
/// From the canonical frame address to the word, bytes; 0 while it is not known, for the word lies below that address.
static DISTANCE: AtomicIsize = AtomicIsize::new(0);

/// Makes an interpreter known, whose machine code starts at `start`. What was derived from code addresses before is to
/// be forgotten after.
pub fn set(start: usize, interpreter: &'static Interpreter) {
    INTERPRETER.store((&raw const *interpreter).cast_mut(), Ordering::Release);
    START.store(start, Ordering::Release);
}

/// Whether there is one.
#[inline(always)]
pub fn is_known() -> bool {
    START.load(Ordering::Relaxed) != 0
}

/// Whether the interpreter's machine code starts here.
pub fn starts_at(address: usize) -> bool {
    START.load(Ordering::Relaxed) == address
}

fn get() -> Option<&'static Interpreter> {
    // SAFETY: only `set` stores here, a reference that stays.
    unsafe { INTERPRETER.load(Ordering::Acquire).as_ref() }
}

/// Address of the word that says what the frame with this canonical frame address runs, if its place is known.
#[inline]
pub fn word_of(frame_address: usize) -> Option<usize> {
    match DISTANCE.load(Ordering::Relaxed) {
        0 => None,
        distance => Some(frame_address.wrapping_add_signed(distance)),
    }
}

/// The key of the interpreter's frame from stack pointer `low` to canonical frame address `high`; `None` where it is
/// not found out what it runs.
///
/// # Safety
/// The frame is live.
pub unsafe fn key(low: usize, high: usize) -> Option<FrameKey> {
    let interpreter = get()?;
    let at = match word_of(high) {
        Some(at) => at,
        None => {
            let at = (interpreter.find)(low, high).filter(|at| (low..high).contains(at))?;
            DISTANCE.store(at.wrapping_sub(high) as isize, Ordering::Relaxed);
            at
        }
    };
    // SAFETY: the word is the frame's.
    let function = (interpreter.function)(unsafe { read_word(at) })?;
    Some(functions::key(function))
}
