//! The call chain of the last walk, and how the next one is found from it.
//!
//! A walk by packed rules is a function of the entry state (location, stack pointer, frame pointer) and of the
//! stack words that it reads. So a chain is kept with those words; while they hold what they held, and the state
//! is the same, the chain is the same: this is a proof, not a guess. A new chain is walked from its innermost
//! frame only until it meets a frame of the kept one in the same state (the *joint*); from there outward the
//! kept words are compared instead.
//!
//! The frame pointer, and each word where it was saved, count only where they are *live*: where some frame
//! further out finds its CFA by it before it is restored from another word. Code built without frame pointers
//! keeps other data in that register, which changes all the time and means nothing here.
//!
//! Frames and words are kept outermost first, so that what two chains share stays in place.

mod step;

use crate::arena::{Array, Zeroable};
use crate::lisp::interpreter;
use crate::location::{FrameKey, Location};
use crate::reference::Trace;
use crate::stack_bounds::StackBounds;
use crate::tree::{NO_NODE, Tree};
use crate::unwind::State;
use crate::unwind::cache::{RuleCache, Slot};
use crate::unwind::eh_frame::Workspace;
use crate::unwind::general::{Registers, Step};
use crate::unwind::rule::{PackedRule, Rule};
use crate::words::{self, Word};

pub use step::End;
use step::{CallerSp, Next, SIGNALS, saved_state, step, step_in_doubt};

/// A frame of the kept chain.
#[derive(Debug, Clone, Copy)]
struct Frame {
    state: State,
    /// The words that lead from this frame and all frames further out to their callers are the first so many, with
    /// the one that stops a comparison.
    words_end: u32,
    /// Calling context of the chain from the top to this frame; [`NO_NODE`] where there was no room for it.
    node: u32,
    /// Whether `state.bp` matters.
    live: bool,
}

/// A frame that a walk has just found.
#[derive(Debug, Clone, Copy)]
struct NewFrame {
    state: State,
    rule: PackedRule,
    key: FrameKey,
}

impl NewFrame {
    /// A frame in this state, of which this is known.
    ///
    /// # Safety
    /// The frame is live.
    #[inline(always)]
    unsafe fn new(state: State, Slot { key, rule }: Slot) -> NewFrame {
        // SAFETY: as the caller vouches.
        let key = if rule.is_interpreter() { unsafe { interpreted(state, rule, key) } } else { key };
        NewFrame { state, rule, key }
    }
}

/// The key of a frame of a Lisp interpreter: it stands for the function that it runs.
///
/// # Safety
/// The frame is live.
#[inline(never)]
unsafe fn interpreted(state: State, rule: PackedRule, key: FrameKey) -> FrameKey {
    // SAFETY: as the caller vouches.
    frame_address(state, rule).and_then(|cfa| unsafe { interpreter::key(state.sp, cfa) }).unwrap_or(key)
}

/// The canonical frame address of a frame with a simple rule.
fn frame_address(state: State, rule: PackedRule) -> Option<usize> {
    match Rule::from(rule) {
        Rule::StackPointer { cfa, .. } => Some(state.sp.wrapping_add_signed(cfa as isize)),
        Rule::FramePointer { cfa, .. } => Some(state.bp.wrapping_add_signed(cfa as isize)),
        _ => None,
    }
}

/// The kept chain, and room for the next.
#[derive(Debug, Default)]
pub struct Chain {
    frames: Array<Frame>,
    words: Array<Word>,
    fresh: Array<NewFrame>,
}

// SAFETY: all-zero arrays are empty arrays.
unsafe impl Zeroable for Chain {}

/// What a walk needs besides the chain.
pub struct Walk<'a> {
    /// Rules by location.
    pub rules: &'a mut RuleCache,
    /// gimli's working memory.
    pub workspace: &'a mut Workspace,
    /// The heap's tree.
    pub tree: &'a mut Tree,
    /// Where a doubtful frame pointer may be followed.
    pub bounds: &'a mut StackBounds,
}

/// A chain that was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Found {
    /// Whether the chain may be compared next time (no frame in it needed all registers).
    pub comparable: bool,
    /// How the walk ended.
    pub end: End,
}

impl Chain {
    /// Forgets the kept chain.
    pub fn clear(&mut self) {
        self.frames.truncate(0);
        self.words.truncate(0);
        self.fresh.truncate(0);
    }

    /// Finds the chain of `entry`, as far as it differs from the kept one, by rules. `None` when out of memory.
    ///
    /// [`Chain::keep`] must follow; then the chain is the kept one.
    ///
    /// # Safety
    /// `entry` is the state of a live frame of the calling thread.
    pub unsafe fn find(&mut self, walk: &mut Walk<'_>, entry: State) -> Option<Found> {
        self.fresh.truncate(0);
        let mut state = entry;
        // Kept frames from this index on are further in than `state`, or known to differ further out.
        let mut candidates = self.frames.len();
        let mut signals = 0;
        loop {
            while candidates > 0 {
                // SAFETY: the index is below the number of frames.
                let kept = unsafe { self.frames.at(candidates - 1) };
                if kept.state.sp >= state.sp {
                    if kept.state.sp == state.sp
                        && kept.state.location == state.location
                        && (!kept.live || kept.state.bp == state.bp)
                    {
                        match self.compare(candidates - 1) {
                            None => return Some(Found { comparable: true, end: End::Joint(candidates - 1) }),
                            Some(differing) => candidates = differing,
                        }
                    }
                    break;
                }
                candidates -= 1;
            }
            let slot = walk.rules.lookup(walk.workspace, state.location)?;
            // SAFETY: the walk has just come to the frame.
            if !self.fresh.push(unsafe { NewFrame::new(state, slot) }) {
                return None;
            }
            match step(slot.rule, state, walk.bounds) {
                Next::Caller(next) => state = next,
                Next::Interrupted(next) if signals < SIGNALS => {
                    signals += 1;
                    state = next;
                }
                Next::Interrupted(_) => return Some(Found { comparable: true, end: End::Unknown }),
                Next::Doubtful(next) => return self.find_in_doubt(walk, next),
                Next::End(End::General) => return self.find_generally(walk, entry),
                Next::End(end) => return Some(Found { comparable: true, end }),
            }
        }
    }

    /// Goes on from a frame that may be none.
    #[cold]
    fn find_in_doubt(&mut self, walk: &mut Walk<'_>, mut state: State) -> Option<Found> {
        loop {
            let Slot { key, rule } = walk.rules.lookup(walk.workspace, state.location)?;
            if !self.fresh.push(NewFrame { state, rule, key }) {
                return None;
            }
            match step_in_doubt(rule, state, walk.bounds) {
                Next::Caller(next) | Next::Doubtful(next) | Next::Interrupted(next) => state = next,
                Next::End(end) => {
                    if let Some(last) = self.fresh.last_mut().filter(|_| end == End::Unknown) {
                        // What its rule says may not have been read, and is not to be.
                        last.rule = PackedRule::from(Rule::None);
                    }
                    return Some(Found { comparable: true, end });
                }
            }
        }
    }

    /// Compares the words of kept frame `index` and those further out with the stack. `None`: all equal.
    /// Otherwise the index of the innermost frame that is no longer as it was.
    #[inline]
    fn compare(&self, index: usize) -> Option<usize> {
        // SAFETY: the index is a kept frame's; its words were read by a walk that came through a frame in this state.
        let at = unsafe {
            let last = self.words.start().add(self.frames.at(index).words_end as usize - 1);
            words::compare(last).offset_from(self.words.start()) as usize
        };
        if at == 0 {
            return None;
        }
        // The frame that the differing word leads *from* is as it was, its caller is not.
        Some(self.frames[..=index].partition_point(|frame| frame.words_end as usize <= at))
    }

    /// Walks the whole chain with all registers.
    #[cold]
    #[inline(never)]
    fn find_generally(&mut self, walk: &mut Walk<'_>, entry: State) -> Option<Found> {
        self.clear();
        let mut registers = Registers::here();
        // Out of the monitor's own frames first.
        while registers.state().sp != entry.sp || registers.state().location != entry.location {
            if registers.state().sp > entry.sp || registers.step(walk.workspace) != Step::Caller {
                // Our own frames could not be unwound: the innermost frame is all that is known.
                let slot = walk.rules.lookup(walk.workspace, entry.location)?;
                // SAFETY: it is the innermost frame.
                let frame = unsafe { NewFrame::new(entry, slot) };
                return self.fresh.push(frame).then_some(Found { comparable: false, end: End::Unknown });
            }
        }
        let mut signals = 0;
        let end = loop {
            let state = registers.state();
            let slot = walk.rules.lookup(walk.workspace, state.location)?;
            // SAFETY: the walk has just come to the frame.
            if !self.fresh.push(unsafe { NewFrame::new(state, slot) }) {
                return None;
            }
            signals += u32::from(registers.is_interrupted());
            match registers.step(walk.workspace) {
                Step::Caller if signals > SIGNALS => break End::Unknown,
                Step::Caller => {}
                Step::End => break End::Complete,
                Step::NoInformation => match step(PackedRule::from(Rule::None), state, walk.bounds) {
                    Next::Caller(next) | Next::Doubtful(next) | Next::Interrupted(next) => {
                        let found = self.find_in_doubt(walk, next)?;
                        return Some(Found { comparable: false, ..found });
                    }
                    Next::End(end) => break end,
                },
            }
        };
        Some(Found { comparable: false, end })
    }

    /// Takes the chain of `entry` from the reference unwinder instead. `None` when out of memory.
    #[cold]
    pub fn find_by_reference(&mut self, walk: &mut Walk<'_>, entry: State, trace: Trace) -> Option<Found> {
        self.clear();
        let mut room = true;
        trace(entry.location.address(), &mut |address| {
            let location = Location::returning_to(address);
            room = walk.rules.lookup(walk.workspace, location).is_some_and(|Slot { key, rule }| {
                // The frame's state is not known: an interpreter's frame stands for itself.
                self.fresh.push(NewFrame { state: State { location, ..entry }, rule, key })
            });
            room
        });
        let end = match self.fresh.last().map(|outermost| Rule::from(outermost.rule)) {
            Some(Rule::None) => End::Unknown,
            _ => End::Complete,
        };
        room.then_some(Found { comparable: false, end })
    }

    /// Makes what [`Chain::find`] found the kept chain and returns its calling context. `top` is the context that
    /// a whole chain begins in. With `contexts` false no context is looked up or made.
    pub fn keep(&mut self, walk: &mut Walk<'_>, found: Found, top: u32, contexts: bool) -> u32 {
        let mut live = false;
        let mut node = match found.end {
            End::Joint(joint) => {
                // SAFETY: a joint is the index of a kept frame.
                let Frame { words_end, node, live: outer_live, .. } = unsafe { *self.frames.at(joint) };
                live = outer_live;
                self.frames.truncate(joint + 1);
                self.words.truncate(words_end as usize);
                node
            }
            end => {
                self.forget();
                if end == End::Complete || !contexts || top == NO_NODE {
                    top
                } else {
                    walk.tree.child(top, FrameKey::UNKNOWN)
                }
            }
        };
        let keeping = found.comparable && self.reserve(self.fresh.len());
        if !keeping {
            self.forget();
        }
        for index in (0..self.fresh.len()).rev() {
            // SAFETY: the index is below the length.
            let frame = unsafe { *self.fresh.at(index) };
            node = if contexts && node != NO_NODE { walk.tree.child(node, frame.key) } else { NO_NODE };
            if keeping {
                // SAFETY: room was made.
                live = unsafe { self.keep_frame(frame, node, live, walk.bounds) };
            }
        }
        node
    }

    /// The calling context of the chain just kept, cut to its innermost `count` callers; whole where it has no
    /// more than these. [`NO_NODE`] without memory. Where Lisp functions are on the chain, only these are counted.
    pub fn truncated(&mut self, walk: &mut Walk<'_>, found: Found, top: u32, count: usize) -> u32 {
        let length = if self.frames.is_empty() { self.fresh.len() } else { self.frames.len() };
        let first = match self.outermost_lisp_function(walk, length, count) {
            Some(first) => first,
            None => length.saturating_sub(count),
        };
        let mut node = if first > 0 {
            walk.tree.child_beyond_limit(top, FrameKey::TRUNCATED)
        } else if found.end == End::Unknown {
            walk.tree.child_beyond_limit(top, FrameKey::UNKNOWN)
        } else {
            top
        };
        for index in first..length {
            let Some(frame) = self.frame(walk, index) else { return NO_NODE };
            if node == NO_NODE {
                return NO_NODE;
            }
            node = walk.tree.child_beyond_limit(node, frame.key);
        }
        node
    }

    /// A frame of the chain just kept, or just found where it could not be kept; the outermost has index 0.
    fn frame(&self, walk: &mut Walk<'_>, index: usize) -> Option<NewFrame> {
        if self.frames.is_empty() {
            return Some(self.fresh[self.fresh.len() - 1 - index]);
        }
        let state = self.frames[index].state;
        let slot = walk.rules.lookup(walk.workspace, state.location)?;
        // SAFETY: the frame was walked just now.
        Some(unsafe { NewFrame::new(state, slot) })
    }

    /// Index of the frame, of `length`, that runs the outermost of the innermost `count` Lisp functions; `None` where
    /// there are none.
    fn outermost_lisp_function(&self, walk: &mut Walk<'_>, length: usize, count: usize) -> Option<usize> {
        if !interpreter::is_known() {
            return None;
        }
        let mut left = count;
        for index in (0..length).rev() {
            left -= usize::from(self.frame(walk, index)?.rule.is_lisp());
            if left == 0 {
                return Some(index);
            }
        }
        (left < count).then_some(0)
    }

    /// Forgets the kept frames.
    fn forget(&mut self) {
        self.frames.truncate(0);
        self.words.truncate(0);
    }

    /// Makes room for so many frames more, and their words. False without memory.
    fn reserve(&mut self, frames: usize) -> bool {
        let room = self.frames.reserve(self.frames.len() + frames)
            && self.words.reserve(self.words.len() + frames * WORDS_PER_FRAME + 1);
        if room && self.words.is_empty() {
            // SAFETY: there is room.
            unsafe { self.words.push_reserved(Word::stop(0)) };
        }
        room
    }

    /// Appends a frame, inside of those kept already, of which the last has a frame pointer that matters if
    /// `outer_live`. Returns whether its own does.
    ///
    /// # Safety
    /// [`Chain::reserve`] has made room, and the frame was walked just now.
    #[inline]
    unsafe fn keep_frame(
        &mut self,
        frame: NewFrame,
        node: u32,
        outer_live: bool,
        bounds: &mut StackBounds,
    ) -> bool {
        let NewFrame { state, rule, .. } = frame;
        if rule.is_interpreter()
            && let Some(word) = frame_address(state, rule).and_then(interpreter::word_of)
        {
            // SAFETY: there is room; the frame is live, and the word is its own.
            unsafe { self.words.push_reserved(Word::now(word)) };
        }
        // SAFETY (both blocks): there is room; the walk read these words a moment ago, in a frame that is still live.
        let live = if rule.kind() == PackedRule::STACK_POINTER {
            // The common case: a return address, and a frame pointer where it matters.
            let cfa = state.sp.wrapping_add_signed(rule.first());
            // SAFETY: see above.
            unsafe { self.words.push_reserved(Word::now(cfa - 8)) };
            if outer_live && rule.saves_bp() {
                // SAFETY: see above.
                unsafe { self.words.push_reserved(Word::now(cfa.wrapping_add_signed(rule.second()))) };
            }
            outer_live && !rule.saves_bp()
        } else {
            // SAFETY: see above.
            unsafe { keep_words(&mut self.words, frame, outer_live, bounds) }
        };
        // SAFETY: see above.
        unsafe { self.frames.push_reserved(Frame { state, words_end: self.words.len() as u32, node, live }) };
        live
    }

    /// The words of the kept chain, and whether the entry's frame pointer matters. `None` where no chain is kept.
    pub fn proof(&self) -> Option<Proof<'_>> {
        let frame = self.frames.last()?;
        Some(Proof { words: &self.words[1..frame.words_end as usize], live: frame.live })
    }

    /// Locations of the frames just walked, innermost first.
    pub fn walked(&self) -> impl DoubleEndedIterator<Item = Location> + ExactSizeIterator + '_ {
        self.fresh.iter().map(|frame| frame.state.location)
    }
}

/// What a chain depends on besides its entry's location and stack pointer.
#[derive(Debug, Clone, Copy)]
pub struct Proof<'a> {
    /// The stack words.
    pub words: &'a [Word],
    /// Whether the entry's frame pointer matters.
    pub live: bool,
}

/// Words that a frame has at most.
const WORDS_PER_FRAME: usize = 4;

/// Appends the words that lead from a frame to its caller, outermost first. Returns whether the frame's own frame
/// pointer matters.
///
/// # Safety
/// There is room for [`WORDS_PER_FRAME`] words, and the frame was walked just now.
#[inline(never)]
unsafe fn keep_words(
    words: &mut Array<Word>,
    frame: NewFrame,
    outer_live: bool,
    bounds: &mut StackBounds,
) -> bool {
    let rule = Rule::from(frame.rule);
    let by_frame_pointer = matches!(rule, Rule::FramePointer { .. } | Rule::Realigned { .. } | Rule::None);
    let Some(saved) = saved_state(rule, frame.state, bounds) else { return by_frame_pointer };
    // SAFETY: there is room; the walk read these words a moment ago, in a frame that is still live.
    let mut push = |address| unsafe { words.push_reserved(Word::now(address)) };
    push(saved.pc);
    if let CallerSp::ReadFrom(word, _) = saved.sp {
        push(word);
    }
    if let Some(bp) = saved.bp.filter(|_| outer_live) {
        push(bp);
    }
    by_frame_pointer || (saved.bp.is_none() && outer_live)
}
