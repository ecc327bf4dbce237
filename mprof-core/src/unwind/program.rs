//! Call frame programs (DWARF 5, section 6.4.2), followed in one pass, for the three things that a simple rule says: the
//! CFA, and where the frame pointer and the return address are saved.
//!
//! gimli's rows have rules for all registers and are copied whole from one location to the next; that is several times the
//! work. Most programs do nothing but move the CFA and save registers at offsets from it; those that do more are left to
//! gimli. The program of a long function is thousands of instructions, and a function that calls many others is asked
//! about at one location after the other: so the way through long programs is kept, and gone on from.

use gimli::{DW_EH_PE_sdata4, DW_EH_PE_udata4, FrameDescriptionEntry, Register, X86_64};

use super::eh_frame::Bytes;
use super::rule::Rule;
use crate::arena::Zeroable;

/// What a program has said so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Row {
    /// Register that the CFA is found by.
    register: u64,
    /// From that register to the CFA, bytes.
    cfa: i64,
    bp: Saved,
    return_address: Saved,
}

/// Where a register is saved: at an offset from the CFA, bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C, u8)]
enum Saved {
    No,
    At(i64),
    /// It has no value.
    Undefined,
}

const NOTHING: Row = Row { register: 0, cfa: 0, bp: Saved::No, return_address: Saved::No };

impl Row {
    fn rule(&self) -> Option<Rule> {
        let bp = match self.bp {
            Saved::At(offset) => Some(i32::try_from(offset).ok()?),
            Saved::No | Saved::Undefined => None,
        };
        let cfa = i32::try_from(self.cfa).ok()?;
        match (self.return_address, Register(u16::try_from(self.register).ok()?)) {
            (Saved::Undefined, _) => Some(Rule::End),
            (Saved::At(-8), X86_64::RSP) => Some(Rule::StackPointer { cfa, bp }),
            (Saved::At(-8), X86_64::RBP) => Some(Rule::FramePointer { cfa, bp }),
            _ => None,
        }
    }

    /// What is said of a register, if it is one that matters.
    fn saved(&mut self, register: u64) -> Option<&mut Saved> {
        const RBP: u64 = X86_64::RBP.0 as u64;
        const RA: u64 = X86_64::RA.0 as u64;
        match register {
            RBP => Some(&mut self.bp),
            RA => Some(&mut self.return_address),
            _ => None,
        }
    }

    fn set(&mut self, register: u64, saved: Saved) {
        if let Some(place) = self.saved(register) {
            *place = saved;
        }
    }
}

/// The two parts of a location's program, and what its numbers mean.
#[derive(Debug, Clone, Copy)]
pub(super) struct Program {
    /// Instructions that it has in common with others.
    common: &'static [u8],
    /// Its own.
    own: &'static [u8],
    /// First address that it is about.
    start: u64,
    /// Bytes of code that a step of the location stands for.
    code_alignment: u64,
    /// Bytes that an offset of one stands for.
    data_alignment: i64,
}

/// Bytes of an entry's length, which comes first, and of what tells the two kinds of entries apart.
const LENGTH: usize = 4;
const KIND: usize = 4;
/// Bytes of the first address and the length of an entry's code.
const EXTENT: usize = 4 + 4;

impl Program {
    /// The program of an entry in a section. `None` where it is not laid out as compilers for x86-64 do it.
    pub(super) fn of(entry: &FrameDescriptionEntry<Bytes>, section: &'static [u8]) -> Option<Program> {
        let common = entry.cie();
        let format = common.fde_address_encoding()?.format();
        let has_short_addresses = format == DW_EH_PE_udata4 || format == DW_EH_PE_sdata4;
        if !has_short_addresses || common.version() != 1 {
            return None;
        }
        let contents =
            |at: usize, length: usize| section.get(at..)?.get(LENGTH..)?.get(..length)?.get(KIND..);
        let mut own = Reader(contents(entry.offset(), entry.entry_len())?.get(EXTENT..)?);
        own.skip_counted()?;
        let mut shared = Reader(contents(common.offset(), common.entry_len())?);
        shared.byte()?; // the version
        while shared.byte()? != 0 {} // the augmentation's letters
        // The two alignments, and the register of the return address.
        shared.unsigned()?;
        shared.signed()?;
        shared.byte()?;
        shared.skip_counted()?;
        Some(Program {
            common: shared.0,
            own: own.0,
            start: entry.initial_address(),
            code_alignment: common.code_alignment_factor(),
            data_alignment: common.data_alignment_factor(),
        })
    }
}

/// States remembered at most.
const REMEMBERED: usize = 4;

/// How far a program was followed.
#[derive(Debug, Clone, Copy)]
struct Progress {
    /// Address of the program's own instructions.
    program: usize,
    /// Instructions followed, bytes.
    followed: usize,
    /// First address that they and what was said so far hold for.
    address: u64,
    row: Row,
    /// The row after the common part of the program.
    initial: Row,
    remembered: [Row; REMEMBERED],
    depth: usize,
}

/// Ways through long programs.
#[derive(Debug)]
pub(super) struct Ways {
    /// By the programs' addresses.
    kept: [Option<Progress>; KEPT],
    /// The way being followed: here, for a thread's stack may be small.
    now: Progress,
}

const KEPT: usize = 16;
/// Programs of which so many bytes were followed are long.
const LONG: usize = 48;

impl Ways {
    /// No ways.
    #[cfg(test)]
    pub(super) fn none() -> &'static mut Ways {
        let ways: &mut Ways = crate::arena::new_zeroed().expect("there is memory");
        ways.clear();
        ways
    }

    /// Forgets all ways; also makes all-zero ones ready for use.
    pub(super) fn clear(&mut self) {
        self.kept.iter_mut().for_each(|way| *way = None);
    }

    /// The rule for an address that the program covers. `None` where the full row is needed.
    pub(super) fn rule(&mut self, program: &Program, address: u64) -> Option<Rule> {
        let own = program.own.as_ptr() as usize;
        let kept = &mut self.kept[(own ^ own >> 8) % KEPT];
        match kept {
            Some(kept) if kept.program == own && kept.address <= address => self.now = *kept,
            _ => self.now.begin(program)?,
        }
        self.now.follow(program, program.own, address)?;
        if self.now.followed >= LONG {
            *kept = Some(self.now);
        }
        self.now.row.rule()
    }
}

impl Progress {
    /// Goes to the beginning of the program.
    fn begin(&mut self, program: &Program) -> Option<()> {
        self.program = program.own.as_ptr() as usize;
        (self.followed, self.depth) = (0, 0);
        (self.row, self.initial) = (NOTHING, NOTHING);
        self.follow(program, program.common, u64::MAX)?;
        self.initial = self.row;
        (self.followed, self.address) = (0, program.start);
        Some(())
    }

    /// Follows instructions up to what holds at `address`. `None` where one says more than a [`Row`] holds.
    fn follow(&mut self, program: &Program, instructions: &[u8], address: u64) -> Option<()> {
        let mut reader = Reader(instructions.get(self.followed..)?);
        while !reader.0.is_empty() {
            let before = reader;
            match self.step(program, &mut reader)? {
                Some(next) if next > address => {
                    reader = before;
                    break;
                }
                Some(next) => self.address = next,
                None => {}
            }
        }
        self.followed = instructions.len() - reader.0.len();
        Some(())
    }

    /// Follows one instruction; returns the address that it steps to, if it is one that does.
    fn step(&mut self, program: &Program, reader: &mut Reader<'_>) -> Option<Option<u64>> {
        let offset = |factored: i64| factored.checked_mul(program.data_alignment);
        let row = &mut self.row;
        let opcode = reader.byte()?;
        let low = u64::from(opcode & 0x3f);
        match (opcode >> 6, low) {
            (1, delta) => return self.advance(program, delta),
            (2, register) => row.set(register, Saved::At(offset(reader.unsigned()?.try_into().ok()?)?)),
            (3, register) => self.restore(register),
            (_, DW_CFA_NOP) => {}
            (_, DW_CFA_ADVANCE_LOC1) => {
                let delta = reader.byte()?.into();
                return self.advance(program, delta);
            }
            (_, DW_CFA_ADVANCE_LOC2) => {
                let delta = u16::from_le_bytes(reader.bytes()?).into();
                return self.advance(program, delta);
            }
            (_, DW_CFA_ADVANCE_LOC4) => {
                let delta = u32::from_le_bytes(reader.bytes()?).into();
                return self.advance(program, delta);
            }
            (_, DW_CFA_OFFSET_EXTENDED) => {
                let register = reader.unsigned()?;
                row.set(register, Saved::At(offset(reader.unsigned()?.try_into().ok()?)?));
            }
            (_, DW_CFA_OFFSET_EXTENDED_SF) => {
                let register = reader.unsigned()?;
                row.set(register, Saved::At(offset(reader.signed()?)?));
            }
            (_, DW_CFA_RESTORE_EXTENDED) => {
                let register = reader.unsigned()?;
                self.restore(register);
            }
            (_, DW_CFA_UNDEFINED) => row.set(reader.unsigned()?, Saved::Undefined),
            (_, DW_CFA_SAME_VALUE) => row.set(reader.unsigned()?, Saved::No),
            (_, DW_CFA_REMEMBER_STATE) => {
                *self.remembered.get_mut(self.depth)? = *row;
                self.depth += 1;
            }
            (_, DW_CFA_RESTORE_STATE) => {
                self.depth = self.depth.checked_sub(1)?;
                *row = self.remembered[self.depth];
            }
            (_, DW_CFA_DEF_CFA) => {
                (row.register, row.cfa) = (reader.unsigned()?, reader.unsigned()?.try_into().ok()?);
            }
            (_, DW_CFA_DEF_CFA_SF) => {
                (row.register, row.cfa) = (reader.unsigned()?, offset(reader.signed()?)?)
            }
            (_, DW_CFA_DEF_CFA_REGISTER) => row.register = reader.unsigned()?,
            (_, DW_CFA_DEF_CFA_OFFSET) => row.cfa = reader.unsigned()?.try_into().ok()?,
            (_, DW_CFA_DEF_CFA_OFFSET_SF) => row.cfa = offset(reader.signed()?)?,
            (_, DW_CFA_GNU_ARGS_SIZE) => {
                reader.unsigned()?;
            }
            // Expressions, values in other registers, jumps of the location, and what is not known.
            _ => return None,
        }
        Some(None)
    }

    fn advance(&self, program: &Program, delta: u64) -> Option<Option<u64>> {
        Some(Some(self.address.checked_add(delta.checked_mul(program.code_alignment)?)?))
    }

    /// A register is where the common part of the program said.
    fn restore(&mut self, register: u64) {
        let mut initial = self.initial;
        if let (Some(place), Some(saved)) = (self.row.saved(register), initial.saved(register)) {
            *place = *saved;
        }
    }
}

// SAFETY: `clear` overwrites the ways that are kept before anything reads them; the rest is integers, and enumerations
// without data of which zero is the first.
unsafe impl Zeroable for Ways {}

/// Reads instructions.
#[derive(Debug, Clone, Copy)]
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    /// Skips bytes whose number comes before them.
    fn skip_counted(&mut self) -> Option<()> {
        let count = usize::try_from(self.unsigned()?).ok()?;
        self.0 = self.0.get(count..)?;
        Some(())
    }

    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn bytes<const COUNT: usize>(&mut self) -> Option<[u8; COUNT]> {
        let (first, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*first)
    }

    /// An unsigned number of variable length (DWARF 5, section 7.6).
    fn unsigned(&mut self) -> Option<u64> {
        let (mut number, mut shift) = (0u64, 0);
        loop {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f).checked_shl(shift)?;
            shift += 7;
            if byte & 0x80 == 0 {
                return (shift <= 63).then_some(number);
            }
        }
    }

    /// A signed number of variable length.
    fn signed(&mut self) -> Option<i64> {
        let (mut number, mut shift) = (0u64, 0);
        loop {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f).checked_shl(shift)?;
            shift += 7;
            if byte & 0x80 == 0 {
                let unused = 64u32.checked_sub(shift)?;
                return Some((number << unused) as i64 >> unused);
            }
        }
    }
}

// Instructions whose number is in the low six bits (DWARF 5, section 7.24; Linux Standard Base, "DWARF Extensions").
const DW_CFA_NOP: u64 = 0x00;
const DW_CFA_ADVANCE_LOC1: u64 = 0x02;
const DW_CFA_ADVANCE_LOC2: u64 = 0x03;
const DW_CFA_ADVANCE_LOC4: u64 = 0x04;
const DW_CFA_OFFSET_EXTENDED: u64 = 0x05;
const DW_CFA_RESTORE_EXTENDED: u64 = 0x06;
const DW_CFA_UNDEFINED: u64 = 0x07;
const DW_CFA_SAME_VALUE: u64 = 0x08;
const DW_CFA_REMEMBER_STATE: u64 = 0x0a;
const DW_CFA_RESTORE_STATE: u64 = 0x0b;
const DW_CFA_DEF_CFA: u64 = 0x0c;
const DW_CFA_DEF_CFA_REGISTER: u64 = 0x0d;
const DW_CFA_DEF_CFA_OFFSET: u64 = 0x0e;
const DW_CFA_OFFSET_EXTENDED_SF: u64 = 0x11;
const DW_CFA_DEF_CFA_SF: u64 = 0x12;
const DW_CFA_DEF_CFA_OFFSET_SF: u64 = 0x13;
const DW_CFA_GNU_ARGS_SIZE: u64 = 0x2e;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_variable_length() {
        assert_eq!(Reader(&[0x7f]).unsigned(), Some(127));
        assert_eq!(Reader(&[0x80, 0x01]).unsigned(), Some(128));
        assert_eq!(Reader(&[0x80]).unsigned(), None);
        assert_eq!(Reader(&[0xff; 11]).unsigned(), None);
        assert_eq!(Reader(&[0x7f]).signed(), Some(-1));
        assert_eq!(Reader(&[0x80, 0x7f]).signed(), Some(-128));
        assert_eq!(Reader(&[0x3f]).signed(), Some(63));
    }

    #[test]
    fn a_long_program_is_gone_on_from_and_gone_back_in() {
        // rsp + 8; then, for each of 100 steps of 2 bytes, 8 more.
        static COMMON: [u8; 5] = [DW_CFA_DEF_CFA as u8, 7, 8, 0x80 | 16, 1];
        static OWN: [u8; 300] = {
            let mut own = [0; 300];
            let mut step = 0;
            while step < 100 {
                own[3 * step] = 0x42;
                own[3 * step + 1] = DW_CFA_DEF_CFA_OFFSET as u8;
                own[3 * step + 2] = 16 + step as u8;
                step += 1;
            }
            own
        };
        let program =
            Program { common: &COMMON, own: &OWN, start: 1000, code_alignment: 1, data_alignment: -8 };
        let expected = |address: u64| Rule::StackPointer {
            cfa: if address < 1002 { 8 } else { 15 + (address as i32 - 1000) / 2 },
            bp: None,
        };
        let ways = Ways::none();
        for address in (1000..1200).chain((1000..1200).rev()).chain([1150, 1010, 1151]) {
            assert_eq!(ways.rule(&program, address), Some(expected(address)), "{address}");
        }
    }

    #[test]
    fn broken_programs_are_left_to_others() {
        for own in [&[0x0e][..], &[0x04, 1, 2], &[0x0b], &[0x0a, 0x0a, 0x0a, 0x0a, 0x0a], &[0x3f], &[0x01]] {
            let own: &'static [u8] = alloc::vec::Vec::from(own).leak();
            let program = Program { common: &[], own, start: 0, code_alignment: 1, data_alignment: -8 };
            let ways = Ways::none();
            assert_eq!(ways.rule(&program, 100), None, "{own:?}");
        }
    }
}
