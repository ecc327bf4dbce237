//! One step outward, from a frame to its caller, by the rule for the frame's location.

use crate::location::Location;
use crate::modules;
use crate::stack_bounds::StackBounds;
use crate::sys::PAGE;
use crate::unwind::rule::{PackedRule, Rule};
use crate::unwind::{State, read_word};

/// How a chain ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// At the outermost frame, which has no caller.
    Complete,
    /// For want of unwind information.
    Unknown,
    /// At frame `joint` of the kept chain, from where on it is the same.
    Joint(usize),
    /// A frame that needs all registers.
    General,
}

/// One step outward.
pub(super) enum Next {
    Caller(State),
    /// A caller that a signal interrupted: its stack may be any other.
    Interrupted(State),
    /// A caller found by the frame pointer of code without unwind information: it may be none.
    Doubtful(State),
    End(End),
}

/// Signal frames in one chain at most. More are a stack that leads round in circles.
pub(super) const SIGNALS: u32 = 64;

/// Applies a rule to a state.
#[inline(always)]
pub(super) fn step(rule: PackedRule, state: State, bounds: &mut StackBounds) -> Next {
    if rule.kind() == PackedRule::STACK_POINTER {
        // The common case, without a test more than it needs.
        let cfa = state.sp.wrapping_add_signed(rule.first());
        // SAFETY: the frame is live and its rule says that these words are its own.
        let (pc, bp) = unsafe {
            let bp =
                if rule.saves_bp() { read_word(cfa.wrapping_add_signed(rule.second())) } else { state.bp };
            (read_word(cfa - 8), bp)
        };
        return arrive(pc, cfa, bp, state.sp);
    }
    step_uncommon(rule, state, bounds)
}

/// The caller's state, unless it shows that there is no caller.
#[inline(always)]
fn arrive(pc: usize, sp: usize, bp: usize, callee_sp: usize) -> Next {
    if pc == 0 {
        return Next::End(End::Complete);
    }
    if sp <= callee_sp {
        return Next::End(End::Unknown);
    }
    Next::Caller(State { location: Location::returning_to(pc), sp, bp })
}

#[inline(never)]
fn step_uncommon(rule: PackedRule, state: State, bounds: &mut StackBounds) -> Next {
    let saved = match Rule::from(rule) {
        Rule::End => return Next::End(End::Complete),
        Rule::General => return Next::End(End::General),
        rule => saved_state(rule, state, bounds),
    };
    let Some(saved) = saved else { return Next::End(End::Unknown) };
    // SAFETY: the frame is live, and these are the words of its own that its rule names.
    let (pc, bp) = unsafe { (read_word(saved.pc), saved.bp.map_or(state.bp, |bp| read_word(bp))) };
    match saved.sp {
        CallerSp::Is(sp) if Rule::from(rule) == Rule::None => match arrive(pc, sp, bp, state.sp) {
            Next::Caller(_) if !may_be_code(pc, state.location) => Next::End(End::Unknown),
            Next::Caller(caller) => Next::Doubtful(caller),
            end => end,
        },
        CallerSp::Is(sp) => arrive(pc, sp, bp, state.sp),
        CallerSp::ReadFrom(_, sp) if pc != 0 && Rule::from(rule).is_signal() => {
            Next::Interrupted(State { location: Location::interrupted_at(pc), sp, bp })
        }
        CallerSp::ReadFrom(_, sp) => arrive(pc, sp, bp, state.sp),
    }
}

/// Where a frame keeps its caller's state.
pub(super) struct SavedState {
    /// Address of the word with the return address (or the interrupted instruction's).
    pub(super) pc: usize,
    /// Address of the word with the frame pointer, where it was saved.
    pub(super) bp: Option<usize>,
    /// The stack pointer.
    pub(super) sp: CallerSp,
}

/// The caller's stack pointer.
pub(super) enum CallerSp {
    /// It follows from the frame's own registers.
    Is(usize),
    /// It is the word at this address, which holds this value.
    ReadFrom(usize, usize),
}

/// Where a frame with this rule keeps its caller's state. `None` where the frame pointer is needed and is not in
/// line with the stack, so that nothing can be read by it.
pub(super) fn saved_state(rule: Rule, state: State, bounds: &mut StackBounds) -> Option<SavedState> {
    let at = |base: usize, offset: i32| base.wrapping_add_signed(offset as isize);
    let bp_in_line = state.bp.is_multiple_of(8) && state.bp >= state.sp.wrapping_sub(PAGE);
    let above = |cfa: usize| cfa > state.sp && cfa.is_multiple_of(8);
    match rule {
        Rule::StackPointer { cfa, bp } => {
            let cfa = at(state.sp, cfa);
            Some(SavedState { pc: cfa - 8, bp: bp.map(|bp| at(cfa, bp)), sp: CallerSp::Is(cfa) })
        }
        Rule::FramePointer { cfa, bp } => {
            let cfa = at(state.bp, cfa);
            (bp_in_line && above(cfa)).then(|| SavedState {
                pc: cfa - 8,
                bp: bp.map(|bp| at(cfa, bp)),
                sp: CallerSp::Is(cfa),
            })
        }
        Rule::Realigned { cfa, bp } if bp_in_line => {
            let word = at(state.bp, cfa);
            // SAFETY: the frame is live and its rule says that the word is its own.
            let cfa = unsafe { read_word(word) };
            let bp = Some(at(state.bp, bp));
            above(cfa).then_some(SavedState { pc: cfa - 8, bp, sp: CallerSp::ReadFrom(word, cfa) })
        }
        Rule::Signal { sp, bp } => {
            let word = at(state.sp, sp);
            // SAFETY: the kernel wrote the signal frame.
            let sp = unsafe { read_word(word) };
            Some(SavedState { pc: word + 8, bp: Some(at(state.sp, bp)), sp: CallerSp::ReadFrom(word, sp) })
        }
        Rule::None if bounds.allow(state.sp, state.bp, 16) => {
            Some(SavedState { pc: state.bp + 8, bp: Some(state.bp), sp: CallerSp::Is(state.bp + 16) })
        }
        _ => None,
    }
}

/// [`step`] for a frame that was found through code without unwind information: it may be no frame at all, so
/// nothing is read but what is certainly stack.
#[cold]
pub(super) fn step_in_doubt(rule: PackedRule, state: State, bounds: &mut StackBounds) -> Next {
    let saved = match Rule::from(rule) {
        Rule::End => return Next::End(End::Complete),
        rule @ (Rule::StackPointer { .. } | Rule::FramePointer { .. } | Rule::None) => {
            saved_state(rule, state, bounds)
        }
        Rule::Realigned { .. } | Rule::Signal { .. } | Rule::General => None,
    };
    let Some(saved) = saved else { return Next::End(End::Unknown) };
    if !bounds.allow(state.sp, saved.pc, 8) || saved.bp.is_some_and(|bp| !bounds.allow(state.sp, bp, 8)) {
        return Next::End(End::Unknown);
    }
    step(rule, state, bounds)
}

/// Whether a word found by frame pointer can be a return address: it lies in a loaded object or, where `from` is
/// generated code, near that.
fn may_be_code(address: usize, from: Location) -> bool {
    const CODE_CACHE: usize = 256 << 20;
    const LOWEST: usize = 0x10000;
    if address < LOWEST || address >> 47 != 0 {
        return false;
    }
    modules::contains(address - 1)
        || (address.abs_diff(from.address()) < CODE_CACHE && !modules::contains(from.lookup_address()))
}
