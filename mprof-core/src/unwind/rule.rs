//! An unwind rule in a word.
//!
//! ```text
//! bits 0–3    kind
//! bit  4      the frame saved its caller's frame pointer
//! bit  5      the frame is a Lisp interpreter's
//! bit  6      the frame is a compiled Lisp function's
//! bits 8–35   first offset, signed, bytes
//! bits 36–63  second offset, signed, bytes
//! ```
//!
//! With CFA for the canonical frame address (DWARF 5, section 6.4): the return address is at CFA − 8 and the
//! caller's stack pointer is CFA, in all kinds but `Signal`.

/// What to do in a frame to get to its caller. Offsets are bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// CFA = sp + `cfa`; the caller's frame pointer is saved at CFA + `bp`, where it is saved.
    StackPointer {
        /// From sp to the CFA.
        cfa: i32,
        /// From the CFA to the saved frame pointer.
        bp: Option<i32>,
    },
    /// CFA = bp + `cfa`; otherwise the same.
    FramePointer {
        /// From bp to the CFA.
        cfa: i32,
        /// From the CFA to the saved frame pointer.
        bp: Option<i32>,
    },
    /// CFA = the word at bp + `cfa` (gcc's realigned stacks); the caller's frame pointer is at bp + `bp`.
    Realigned {
        /// From bp to the word that holds the CFA.
        cfa: i32,
        /// From bp to the saved frame pointer.
        bp: i32,
    },
    /// The kernel's signal frame: the interrupted sp and bp are at these distances from sp, the interrupted
    /// instruction's address in the word after the one of sp.
    Signal {
        /// From sp to the saved sp.
        sp: i32,
        /// From sp to the saved bp.
        bp: i32,
    },
    /// The outermost frame: it has no caller.
    End,
    /// No unwind information here.
    None,
    /// Unwind information that needs all registers.
    General,
}

impl Rule {
    /// Whether this is the kernel's signal frame.
    pub fn is_signal(self) -> bool {
        matches!(self, Rule::Signal { .. })
    }
}

const SAVED: u64 = 1 << 4;
const INTERPRETER: u64 = 1 << 5;
const COMPILED: u64 = 1 << 6;
const OFFSET_BITS: u32 = 28;

/// A packed rule; 0 is no rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub struct PackedRule(pub u64);

impl PackedRule {
    /// What an empty slot of the cache holds.
    pub const EMPTY: PackedRule = PackedRule(0);

    /// The kind bits of [`Rule::StackPointer`].
    pub const STACK_POINTER: u64 = 1;
    const FRAME_POINTER: u64 = 2;
    const REALIGNED: u64 = 3;
    const SIGNAL: u64 = 4;
    const END: u64 = 5;
    const NONE: u64 = 6;
    const GENERAL: u64 = 7;

    /// The kind bits.
    #[inline(always)]
    pub fn kind(self) -> u64 {
        self.0 & 0xf
    }

    /// The first offset, bytes.
    #[inline(always)]
    pub fn first(self) -> isize {
        (self.0 << OFFSET_BITS) as isize >> (64 - OFFSET_BITS)
    }

    /// The second offset, bytes.
    #[inline(always)]
    pub fn second(self) -> isize {
        self.0 as isize >> (64 - OFFSET_BITS)
    }

    /// The same rule, of a frame of a Lisp interpreter's.
    pub fn of_interpreter(self) -> PackedRule {
        PackedRule(self.0 | INTERPRETER)
    }

    /// The same rule, of a frame of a compiled Lisp function's.
    pub fn of_compiled_lisp(self) -> PackedRule {
        PackedRule(self.0 | COMPILED)
    }

    /// Whether the frame is a Lisp function's, interpreted or compiled.
    pub fn is_lisp(self) -> bool {
        self.0 & (INTERPRETER | COMPILED) != 0
    }

    /// Whether the frame is a Lisp interpreter's.
    #[inline(always)]
    pub fn is_interpreter(self) -> bool {
        self.0 & INTERPRETER != 0
    }

    /// Whether the frame saved its caller's frame pointer.
    #[inline(always)]
    pub fn saves_bp(self) -> bool {
        self.0 & SAVED != 0
    }
}

/// Packs offsets, or says that they do not fit.
fn pack(kind: u64, saved: bool, first: i32, second: i32) -> Option<PackedRule> {
    let fits = |offset: i32| (-(1 << (OFFSET_BITS - 1))..1 << (OFFSET_BITS - 1)).contains(&offset);
    let mask = (1u64 << OFFSET_BITS) - 1;
    let saved = if saved { SAVED } else { 0 };
    let word = kind | saved | (first as u64 & mask) << 8 | (second as u64 & mask) << (64 - OFFSET_BITS);
    (fits(first) && fits(second)).then_some(PackedRule(word))
}

impl From<Rule> for PackedRule {
    fn from(rule: Rule) -> PackedRule {
        let packed = match rule {
            Rule::StackPointer { cfa, bp } => {
                pack(PackedRule::STACK_POINTER, bp.is_some(), cfa, bp.unwrap_or(0))
            }
            Rule::FramePointer { cfa, bp } => {
                pack(PackedRule::FRAME_POINTER, bp.is_some(), cfa, bp.unwrap_or(0))
            }
            Rule::Realigned { cfa, bp } => pack(PackedRule::REALIGNED, true, cfa, bp),
            Rule::Signal { sp, bp } => pack(PackedRule::SIGNAL, true, sp, bp),
            Rule::End => Some(PackedRule(PackedRule::END)),
            Rule::None => Some(PackedRule(PackedRule::NONE)),
            Rule::General => None,
        };
        packed.unwrap_or(PackedRule(PackedRule::GENERAL))
    }
}

impl From<PackedRule> for Rule {
    #[inline]
    fn from(packed: PackedRule) -> Rule {
        let (first, second) = (packed.first() as i32, packed.second() as i32);
        let bp = packed.saves_bp().then_some(second);
        match packed.kind() {
            PackedRule::STACK_POINTER => Rule::StackPointer { cfa: first, bp },
            PackedRule::FRAME_POINTER => Rule::FramePointer { cfa: first, bp },
            PackedRule::REALIGNED => Rule::Realigned { cfa: first, bp: second },
            PackedRule::SIGNAL => Rule::Signal { sp: first, bp: second },
            PackedRule::END => Rule::End,
            PackedRule::NONE => Rule::None,
            _ => Rule::General,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_survive_packing() {
        for rule in [
            Rule::StackPointer { cfa: 8, bp: None },
            Rule::StackPointer { cfa: 1 << 26, bp: Some(-16) },
            Rule::FramePointer { cfa: 16, bp: Some(-16) },
            Rule::FramePointer { cfa: -(1 << 27), bp: Some((1 << 27) - 1) },
            Rule::Realigned { cfa: -8, bp: 0 },
            Rule::Signal { sp: 160, bp: 120 },
            Rule::End,
            Rule::None,
            Rule::General,
        ] {
            let packed = PackedRule::from(rule);
            assert_ne!(packed, PackedRule::EMPTY);
            assert_eq!(Rule::from(packed), rule);
        }
    }

    #[test]
    fn offsets_that_do_not_fit_take_the_general_way() {
        assert_eq!(
            Rule::from(PackedRule::from(Rule::StackPointer { cfa: 1 << 27, bp: None })),
            Rule::General
        );
    }
}
