//! Lisp: objects that a garbage collector frees, counted by type, on chains that have interpreted functions on them
//! (paper, section 3.4).
//!
//! The engine knows no Lisp system. Whoever does (the preloaded library) tells it
//!
//! * which types there are: [`kinds`];
//! * where the interpreter is, and how to find out which function one of its frames runs: [`interpreter`];
//! * which code belongs to which Lisp function: [`functions`];
//! * what is allocated: [`objects`].
//!
//! In a process without Lisp none of this does anything.

pub mod dump;
pub mod functions;
pub mod interpreter;
pub mod kinds;
pub mod objects;

use crate::location::{FrameKey, Location};
use crate::unwind::eh_frame;
use crate::unwind::rule::PackedRule;

/// Looks at a location whose key and rule were just derived: notes the Lisp function that it lies in, and marks the rule
/// if it lies in the interpreter.
#[inline(always)]
pub fn look_at(location: Location, key: FrameKey, rule: PackedRule) -> PackedRule {
    if interpreter::is_known() { look_closely(location, key, rule) } else { rule }
}

#[cold]
#[inline(never)]
fn look_closely(location: Location, key: FrameKey, rule: PackedRule) -> PackedRule {
    let Some(start) = eh_frame::function_start(location) else { return rule };
    if functions::use_code(FrameKey::code(key.space(), Location::interrupted_at(start))) {
        rule.of_compiled_lisp()
    } else if interpreter::starts_at(start) && !location.is_interrupted() {
        rule.of_interpreter()
    } else {
        rule
    }
}
