//! System calls that the program has forbidden itself (seccomp(2)).
//!
//! A filter can kill the process for a call that it does not list, and the program never made the calls that we
//! make. So the filters that the program sets are kept, and each call of ours is put to them first: what they would
//! not answer with an error or a result is not made.
//!
//! A filter is a program for the classic BPF machine (Linux, Documentation/networking/filter.rst), in the dialect
//! that seccomp allows.

use core::alloc::Layout;
use core::mem::{offset_of, size_of};
use core::ptr::null_mut;
use core::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

use allocator_api2::alloc::Allocator;

use crate::arena::Arena;
use crate::sys;

/// `struct seccomp_data`: what a filter looks at.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct Call {
    number: u32,
    architecture: u32,
    instruction: u64,
    arguments: [u64; 6],
}

const CALL: u32 = size_of::<Call>() as u32;

impl Call {
    /// A call of this number with these arguments.
    pub fn new(number: usize, arguments: [usize; 6]) -> Call {
        /// `AUDIT_ARCH_X86_64`.
        const X86_64: u32 = 0xc000_003e;
        Call {
            number: number as u32,
            architecture: X86_64,
            instruction: Call::new as *const () as u64, // near enough
            arguments: arguments.map(|argument| argument as u64),
        }
    }

    /// The 32 bits at an offset; filters read at multiples of 4.
    fn word(&self, offset: u32) -> Option<u32> {
        let half = |value: u64, low: bool| if low { value as u32 } else { (value >> 32) as u32 };
        const INSTRUCTION: u32 = offset_of!(Call, instruction) as u32;
        const ARGUMENTS: u32 = offset_of!(Call, arguments) as u32;
        match offset {
            0 => Some(self.number),
            4 => Some(self.architecture),
            INSTRUCTION..ARGUMENTS => Some(half(self.instruction, offset == INSTRUCTION)),
            ARGUMENTS..CALL if offset.is_multiple_of(4) => {
                let index = (offset - ARGUMENTS) as usize;
                Some(half(self.arguments[index / 8], index.is_multiple_of(8)))
            }
            _ => None,
        }
    }
}

/// `struct sock_filter`: an instruction.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct Instruction {
    code: u16,
    if_true: u8,
    if_false: u8,
    operand: u32,
}

/// `struct sock_fprog`: what the program hands to the kernel.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct Program {
    length: u16,
    instructions: *const Instruction,
}

/// What the kernel does with a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It is made.
    Allowed,
    /// It returns an error.
    Refused,
    /// It is not to be tried: the process would be killed or sent a signal, or another process asked.
    Fatal,
}

impl Verdict {
    fn of(result: u32) -> Verdict {
        match result & 0xffff_0000 {
            0x7fff_0000 | 0x7ffc_0000 | 0x7ff0_0000 => Verdict::Allowed, // ALLOW, LOG, TRACE
            0x0005_0000 => Verdict::Refused,                             // ERRNO
            _ => Verdict::Fatal,
        }
    }

    fn worse(self, other: Verdict) -> Verdict {
        match (self, other) {
            (Verdict::Fatal, _) | (_, Verdict::Fatal) => Verdict::Fatal,
            (Verdict::Refused, _) | (_, Verdict::Refused) => Verdict::Refused,
            _ => Verdict::Allowed,
        }
    }
}

/// What a filter says of a call. What the kernel would not take for a filter is fatal.
fn run(filter: &[Instruction], call: &Call) -> Verdict {
    run_machine(filter, call).map_or(Verdict::Fatal, Verdict::of)
}

fn run_machine(filter: &[Instruction], call: &Call) -> Option<u32> {
    let (mut a, mut x, mut memory) = (0u32, 0u32, [0u32; 16]);
    let mut at = 0;
    loop {
        let Instruction { code, if_true, if_false, operand: k } = *filter.get(at)?;
        at += 1; // jumps go forward only, so this ends
        let source = if code & 8 != 0 { x } else { k };
        match code {
            0x20 => a = call.word(k)?,
            0x80 => a = CALL,
            0x81 => x = CALL,
            0x00 => a = k,
            0x01 => x = k,
            0x60 => a = *memory.get(k as usize)?,
            0x61 => x = *memory.get(k as usize)?,
            0x02 => *memory.get_mut(k as usize)? = a,
            0x03 => *memory.get_mut(k as usize)? = x,
            0x07 => x = a,
            0x87 => a = x,
            0x06 => return Some(k),
            0x16 => return Some(a),
            0x05 => at = at.checked_add(k as usize)?,
            _ if code & 7 == 4 => a = calculate(code & 0xf0, a, source)?,
            _ if code & 7 == 5 => {
                let holds = match code & 0xf0 {
                    0x10 => a == source,
                    0x20 => a > source,
                    0x30 => a >= source,
                    0x40 => a & source != 0,
                    _ => return None,
                };
                at += usize::from(if holds { if_true } else { if_false });
            }
            _ => return None,
        }
    }
}

fn calculate(operation: u16, a: u32, source: u32) -> Option<u32> {
    Some(match operation {
        0x00 => a.wrapping_add(source),
        0x10 => a.wrapping_sub(source),
        0x20 => a.wrapping_mul(source),
        0x30 => a.checked_div(source).unwrap_or(0),
        0x40 => a | source,
        0x50 => a & source,
        0x60 => a.checked_shl(source).unwrap_or(0),
        0x70 => a.checked_shr(source).unwrap_or(0),
        0x80 => a.wrapping_neg(),
        0xa0 => a ^ source,
        _ => return None,
    })
}

/// A filter that the program has set.
#[derive(Debug)]
pub struct Filter {
    /// `None`: strict mode.
    instructions: Option<&'static [Instruction]>,
    before: *const Filter,
}

/// The filter set last; null: none.
static FILTERS: AtomicPtr<Filter> = AtomicPtr::new(null_mut());
/// Whether a call of ours was not made.
static HELD_BACK: AtomicBool = AtomicBool::new(false);

impl Filter {
    /// The filter of strict mode: read, write, exit, return from a signal handler.
    pub fn strict() -> Option<&'static mut Filter> {
        Filter::keep(None)
    }

    /// A copy of a filter; `None` without memory, or if it is none.
    ///
    /// # Safety
    /// The pointer is what the program hands to the kernel as a filter, and readable.
    pub unsafe fn copy(program: *const Program) -> Option<&'static mut Filter> {
        // SAFETY: the caller vouches.
        let program = unsafe { program.as_ref() }?;
        let length = usize::from(program.length);
        if length == 0 || program.instructions.is_null() {
            return None;
        }
        let memory = Arena.allocate(Layout::array::<Instruction>(length).ok()?).ok()?.cast::<Instruction>();
        // SAFETY: the memory is ours and never freed; the caller vouches for the instructions.
        let instructions = unsafe {
            memory.as_ptr().copy_from(program.instructions, length);
            core::slice::from_raw_parts(memory.as_ptr(), length)
        };
        Filter::keep(Some(instructions))
    }

    #[allow(clippy::mut_from_ref)] // the result is fresh memory, not the instructions
    fn keep(instructions: Option<&'static [Instruction]>) -> Option<&'static mut Filter> {
        let memory = Arena.allocate(Layout::new::<Filter>()).ok()?.cast::<Filter>();
        // SAFETY: the memory fits, is ours and never freed.
        unsafe {
            memory.write(Filter { instructions, before: null_mut() });
            Some(&mut *memory.as_ptr())
        }
    }

    /// What it says of a call.
    pub fn verdict(&self, call: &Call) -> Verdict {
        const STRICT: [u32; 4] = [0, 1, 15, 60];
        match self.instructions {
            Some(instructions) => run(instructions, call),
            None if STRICT.contains(&call.number) => Verdict::Allowed,
            None => Verdict::Fatal,
        }
    }

    /// From now on our calls are put to it too. To be called before the kernel has it.
    pub fn publish(&'static mut self) {
        let this: *mut Filter = self;
        let mut before = FILTERS.load(Ordering::Acquire);
        loop {
            // SAFETY: no one else knows it yet.
            unsafe { (*this).before = before };
            match FILTERS.compare_exchange(before, this, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return,
                Err(other) => before = other,
            }
        }
    }
}

/// Takes back the filter published last: the kernel did not want it.
pub fn withdraw() {
    // SAFETY: filters are never freed.
    if let Some(last) = unsafe { FILTERS.load(Ordering::Acquire).as_ref() } {
        FILTERS.store(last.before.cast_mut(), Ordering::Release);
    }
}

/// Whether there are filters.
#[inline(always)]
pub fn is_in_force() -> bool {
    !FILTERS.load(Ordering::Relaxed).is_null()
}

/// What all filters together say of a call.
pub fn verdict(number: usize, arguments: [usize; 6]) -> Verdict {
    let call = Call::new(number, arguments);
    let mut next = FILTERS.load(Ordering::Acquire).cast_const();
    let mut verdict = Verdict::Allowed;
    // SAFETY: filters are never freed.
    while let Some(filter) = unsafe { next.as_ref() } {
        verdict = verdict.worse(filter.verdict(&call));
        next = filter.before;
    }
    verdict
}

/// Whether a call may be made by the calling thread. Threads that were there before a filter may not be under it:
/// the kernel is asked, if that is allowed.
#[cold]
pub fn permits(number: usize, arguments: [usize; 6]) -> bool {
    let permitted = verdict(number, arguments) != Verdict::Fatal || !sys::is_filtered();
    if !permitted {
        HELD_BACK.store(true, Ordering::Relaxed);
    }
    permitted
}

/// Whether all of these calls may be made, each given by its number and arguments.
#[cold]
pub fn permits_all(calls: &[(usize, [usize; 6])]) -> bool {
    !is_in_force() || calls.iter().all(|&(number, arguments)| permits(number, arguments))
}

/// Whether a call of ours was not made because of a filter.
pub fn has_held_back() -> bool {
    HELD_BACK.load(Ordering::Relaxed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn instruction(code: u16, if_true: u8, if_false: u8, operand: u32) -> Instruction {
        Instruction { code, if_true, if_false, operand }
    }

    const ALLOW: u32 = 0x7fff_0000;
    const KILL: u32 = 0x8000_0000;
    const ERRNO: u32 = 0x0005_0001;

    #[test]
    fn a_list_of_numbers() {
        let filter = [
            instruction(0x20, 0, 0, 4),
            instruction(0x15, 1, 0, 0xc000_003e),
            instruction(0x06, 0, 0, KILL),
            instruction(0x20, 0, 0, 0),
            instruction(0x15, 2, 0, 1),
            instruction(0x15, 2, 0, 257),
            instruction(0x06, 0, 0, KILL),
            instruction(0x06, 0, 0, ALLOW),
            instruction(0x06, 0, 0, ERRNO),
        ];
        assert_eq!(run(&filter, &Call::new(1, [0; 6])), Verdict::Allowed);
        assert_eq!(run(&filter, &Call::new(257, [0; 6])), Verdict::Refused);
        assert_eq!(run(&filter, &Call::new(9, [0; 6])), Verdict::Fatal);
    }

    #[test]
    fn arguments_are_seen_in_halves() {
        // Allowed if the second argument is 0x1_0000_0002 and the third has bit 4.
        let filter = [
            instruction(0x20, 0, 0, 24),
            instruction(0x15, 0, 5, 2),
            instruction(0x20, 0, 0, 28),
            instruction(0x15, 0, 3, 1),
            instruction(0x20, 0, 0, 32),
            instruction(0x45, 0, 1, 16),
            instruction(0x06, 0, 0, ALLOW),
            instruction(0x06, 0, 0, KILL),
        ];
        let call = |second, third| Call::new(5, [0, second, third, 0, 0, 0]);
        assert_eq!(run(&filter, &call(0x1_0000_0002, 0x30)), Verdict::Allowed);
        assert_eq!(run(&filter, &call(0x1_0000_0002, 0x20)), Verdict::Fatal);
        assert_eq!(run(&filter, &call(2, 0x30)), Verdict::Fatal);
    }

    #[test]
    fn arithmetic_and_memory() {
        let filter = [
            instruction(0x00, 0, 0, 40),
            instruction(0x04, 0, 0, 2),
            instruction(0x02, 0, 0, 3),
            instruction(0x61, 0, 0, 3),
            instruction(0x00, 0, 0, 0),
            instruction(0x1d, 0, 0, 0),
            instruction(0x0c, 0, 0, 0),
            instruction(0x15, 0, 1, 42),
            instruction(0x06, 0, 0, ALLOW),
            instruction(0x06, 0, 0, KILL),
        ];
        assert_eq!(run(&filter, &Call::new(0, [0; 6])), Verdict::Allowed);
    }

    #[test]
    fn what_is_no_filter_is_fatal() {
        assert_eq!(run(&[], &Call::new(0, [0; 6])), Verdict::Fatal);
        assert_eq!(run(&[instruction(0x20, 0, 0, 64)], &Call::new(0, [0; 6])), Verdict::Fatal);
        assert_eq!(run(&[instruction(0x05, 0, 0, u32::MAX)], &Call::new(0, [0; 6])), Verdict::Fatal);
        assert_eq!(run(&[instruction(0xff, 0, 0, 0)], &Call::new(0, [0; 6])), Verdict::Fatal);
    }
}
