//! Walking with all registers, for frames whose rule fits no word: CFA in a register other than sp and bp (the
//! dynamic loader's lazy binding), expressions (procedure linkage tables), return addresses in odd places.
//!
//! The walk begins in the monitor's own frames, so it needs nothing from the hot path: the callee-saved
//! registers of the program's frame are found where our own functions saved them.

use core::arch::asm;

use gimli::{
    CfaRule, EhFrame, Expression, FrameDescriptionEntry, Operation, Register, RegisterRule, UnwindExpression,
    X86_64,
};

use super::eh_frame::{Bytes, Row, Workspace, with_row};
use super::{State, read_word};
use crate::location::Location;

/// DWARF numbers of the registers that are followed: 0–15 general, 16 the return address (System V ABI,
/// figure 3.36).
const REGISTERS: usize = 17;
const RBP: usize = 6;
const RSP: usize = 7;
const RIP: usize = 16;

/// A thread's registers in one of its frames.
#[derive(Debug, Clone, Copy)]
pub struct Registers {
    values: [usize; REGISTERS],
    location: Location,
}

/// What became of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// The registers are now the caller's.
    Caller,
    /// There is no caller.
    End,
    /// There is no unwind information that could be used.
    NoInformation,
}

impl Registers {
    /// The registers here, in a frame of the calling function.
    #[inline(always)]
    pub fn here() -> Registers {
        let mut values = [0usize; REGISTERS];
        // SAFETY: stores registers into the array and reads the instruction pointer, nothing else.
        unsafe {
            asm!(
                "mov [{at} + 8*3], rbx",
                "mov [{at} + 8*6], rbp",
                "mov [{at} + 8*7], rsp",
                "mov [{at} + 8*12], r12",
                "mov [{at} + 8*13], r13",
                "mov [{at} + 8*14], r14",
                "mov [{at} + 8*15], r15",
                "lea {scratch}, [rip]",
                "mov [{at} + 8*16], {scratch}",
                at = in(reg) values.as_mut_ptr(),
                scratch = out(reg) _,
                options(nostack, preserves_flags),
            );
        }
        let location = Location::interrupted_at(values[RIP]);
        Registers { values, location }
    }

    /// As far as the packed rules need it.
    pub fn state(&self) -> State {
        State { location: self.location, sp: self.values[RSP], bp: self.values[RBP] }
    }

    /// Goes on in a frame that was found in another way; the registers that it does not say keep their values.
    pub fn resume(&mut self, state: State) {
        self.values[RSP] = state.sp;
        self.values[RBP] = state.bp;
        self.values[RIP] = state.location.address();
        self.location = state.location;
    }

    /// Whether a signal handler was entered from this frame.
    pub fn is_interrupted(&self) -> bool {
        self.location.is_interrupted()
    }

    /// Goes to the caller's frame.
    pub fn step(&mut self, workspace: &mut Workspace) -> Step {
        let before = *self;
        let stepped = with_row(workspace, self.location, |row, frames, entry| {
            if matches!(row.register(X86_64::RA), Some(RegisterRule::Undefined)) {
                return Some(None);
            }
            let values = before.caller(row, frames, entry)?;
            Some(Some((values, entry.is_signal_trampoline())))
        });
        match stepped.flatten() {
            None => Step::NoInformation,
            Some(None) => Step::End,
            Some(Some((values, interrupted))) => {
                // A stack that does not shrink would be walked for ever; a signal handler may have had its own.
                if values[RIP] == 0 || (values[RSP] <= self.values[RSP] && !interrupted) {
                    return Step::End;
                }
                self.values = values;
                self.location = if interrupted {
                    Location::interrupted_at(values[RIP])
                } else {
                    Location::returning_to(values[RIP])
                };
                Step::Caller
            }
        }
    }

    /// The caller's registers; `None` where a rule is not understood.
    fn caller(
        &self,
        row: &Row,
        frames: &EhFrame<Bytes>,
        entry: &FrameDescriptionEntry<Bytes>,
    ) -> Option<[usize; REGISTERS]> {
        let cfa = match row.cfa() {
            CfaRule::RegisterAndOffset { register, offset } => {
                self.value(*register)?.wrapping_add(*offset as usize)
            }
            CfaRule::Expression(expression) => self.evaluate(*expression, frames, entry, None)?,
        };
        let mut values = self.values;
        values[RSP] = cfa;
        for (number, value) in values.iter_mut().enumerate() {
            let Some(rule) = row.register(Register(number as u16)) else { continue };
            *value = match rule {
                // SAFETY: the tables say that the word was saved there, in a frame that is live.
                RegisterRule::Offset(offset) => unsafe { read_word(cfa.wrapping_add(offset as usize)) },
                RegisterRule::ValOffset(offset) => cfa.wrapping_add(offset as usize),
                RegisterRule::Register(other) => self.value(other)?,
                RegisterRule::Expression(expression) => {
                    let address = self.evaluate(expression, frames, entry, Some(cfa))?;
                    // SAFETY: as above.
                    unsafe { read_word(address) }
                }
                RegisterRule::ValExpression(expression) => {
                    self.evaluate(expression, frames, entry, Some(cfa))?
                }
                _ => continue,
            };
        }
        Some(values)
    }

    fn value(&self, register: Register) -> Option<usize> {
        self.values.get(usize::from(register.0)).copied()
    }

    /// Evaluates a DWARF expression (DWARF 5, section 2.5) of the kind that unwind tables use. `first`: what lies
    /// on the stack at the start.
    fn evaluate(
        &self,
        expression: UnwindExpression<usize>,
        frames: &EhFrame<Bytes>,
        entry: &FrameDescriptionEntry<Bytes>,
        first: Option<usize>,
    ) -> Option<usize> {
        let expression: Expression<Bytes> = expression.get(frames).ok()?;
        let mut operations = expression.operations(entry.cie().encoding());
        let mut stack = Stack::default();
        if let Some(value) = first {
            stack.push(value)?;
        }
        while let Some(operation) = operations.next().ok()? {
            let value = match operation {
                Operation::RegisterOffset { register, offset, .. } => {
                    self.value(register)?.wrapping_add(offset as usize)
                }
                Operation::UnsignedConstant { value } => value as usize,
                Operation::SignedConstant { value } => value as usize,
                Operation::PlusConstant { value } => stack.pop()?.wrapping_add(value as usize),
                // SAFETY: the tables say that there is a word of the unwound thread's state.
                Operation::Deref { size: 8, space: false, .. } => unsafe { read_word(stack.pop()?) },
                Operation::Plus => stack.pop()?.wrapping_add(stack.pop()?),
                Operation::Minus => {
                    let right = stack.pop()?;
                    stack.pop()?.wrapping_sub(right)
                }
                Operation::And => stack.pop()? & stack.pop()?,
                Operation::Or => stack.pop()? | stack.pop()?,
                Operation::Shl => {
                    let right = stack.pop()?;
                    stack.pop()?.checked_shl(u32::try_from(right).ok()?)?
                }
                Operation::Ge => {
                    let right = stack.pop()? as isize;
                    usize::from(stack.pop()? as isize >= right)
                }
                Operation::Nop => continue,
                _ => return None,
            };
            stack.push(value)?;
        }
        stack.pop()
    }
}

/// The stack of an expression.
#[derive(Default)]
struct Stack {
    values: [usize; 16],
    depth: usize,
}

impl Stack {
    fn push(&mut self, value: usize) -> Option<()> {
        *self.values.get_mut(self.depth)? = value;
        self.depth += 1;
        Some(())
    }

    fn pop(&mut self) -> Option<usize> {
        self.depth = self.depth.checked_sub(1)?;
        Some(self.values[self.depth])
    }
}
