//! Unwind rules from `.eh_frame` (Linux Standard Base, section "Exception Frames"; DWARF 5, section 6.4), read
//! with gimli out of the loaded object, without allocating.

use gimli::{
    BaseAddresses, CfaRule, EhFrame, EhFrameHdr, EndianSlice, Expression, FrameDescriptionEntry,
    LittleEndian, Operation, Register, RegisterRule, UnwindContext, UnwindContextStorage, UnwindExpression,
    UnwindSection, UnwindTableRow, X86_64,
};

use super::program::{Program, Ways};
use super::rule::Rule;
use crate::arena::Zeroable;
use crate::location::{FrameKey, Location, SPACE_ANONYMOUS};
use crate::modules;

/// The bytes that gimli reads.
pub type Bytes = EndianSlice<'static, LittleEndian>;

/// Storage for gimli's rows within the context itself. x86-64 has 17 registers that a row can speak of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FixedStorage;

impl UnwindContextStorage<usize> for FixedStorage {
    type Rules = [(Register, RegisterRule<usize>); 20];
    type Stack = [UnwindTableRow<usize, Self>; 4];
}

/// A row of an unwind table.
pub type Row = UnwindTableRow<usize, FixedStorage>;

/// gimli's working memory: some kilobytes, kept off the stack.
pub struct Workspace(Option<UnwindContext<usize, FixedStorage>>);

// SAFETY: `start` overwrites the workspace before anything reads it.
unsafe impl Zeroable for Workspace {}

impl Workspace {
    /// Makes a workspace whose bytes are zero (or anything) ready for use.
    ///
    /// # Safety
    /// `at` points to memory for a workspace, and nothing else uses it.
    pub unsafe fn start(at: *mut Workspace) {
        // SAFETY: the caller gives the memory; nothing is dropped, for there was no value.
        unsafe { at.write(Workspace(Some(UnwindContext::new_in()))) };
    }
}

/// Unwind tables of one loaded object.
struct Tables {
    header: gimli::ParsedEhFrameHdr<Bytes>,
    frames: EhFrame<Bytes>,
    /// The bytes that `frames` reads.
    section: &'static [u8],
    bases: BaseAddresses,
}

/// # Safety
/// The object is loaded and stays so while the tables are used.
unsafe fn tables(object: &modules::Found) -> Option<Tables> {
    let in_object = |address: usize| (object.start..object.end).contains(&address);
    if !in_object(object.eh_frame_hdr) {
        return None;
    }
    // SAFETY: only the parts that the tables point to are read; they lie in the loaded object.
    let slice = |from: usize| unsafe {
        EndianSlice::new(core::slice::from_raw_parts(from as *const u8, object.end - from), LittleEndian)
    };
    let bases = BaseAddresses::default().set_eh_frame_hdr(object.eh_frame_hdr as u64);
    let header = EhFrameHdr::from(slice(object.eh_frame_hdr)).parse(&bases, 8).ok()?;
    let frames_at = header.eh_frame_ptr().direct().ok()? as usize;
    if !in_object(frames_at) {
        return None;
    }
    let section = slice(frames_at);
    Some(Tables {
        header,
        frames: EhFrame::from(section),
        section: section.slice(),
        bases: bases.set_eh_frame(frames_at as u64),
    })
}

impl Tables {
    fn entry(&self, address: usize) -> Option<FrameDescriptionEntry<Bytes>> {
        self.header
            .table()?
            .fde_for_address(&self.frames, &self.bases, address as u64, EhFrame::cie_from_offset)
            .ok()
    }
}

/// What an object's unwind tables have for an address: the tables, and the entry.
///
/// # Safety
/// As for [`tables`].
unsafe fn entry_in(
    object: &modules::Found,
    address: usize,
) -> Option<(Tables, FrameDescriptionEntry<Bytes>)> {
    // SAFETY: as the caller vouches.
    let tables = unsafe { tables(object) }?;
    let entry = tables.entry(address)?;
    Some((tables, entry))
}

/// What the unwind tables say of a location: `use_row` is given the row, the entry's section (for expressions)
/// and the entry. `None` where there is no such information.
pub fn with_row<T>(
    workspace: &mut Workspace,
    location: Location,
    use_row: impl FnOnce(&Row, &EhFrame<Bytes>, &FrameDescriptionEntry<Bytes>) -> T,
) -> Option<T> {
    let address = location.lookup_address();
    let object = modules::find(address)?;
    // SAFETY: a frame of the current call chain is in the object.
    let (tables, entry) = unsafe { entry_in(&object, address) }?;
    let row = full_row(workspace, &tables, &entry, address)?;
    Some(use_row(row, &tables.frames, &entry))
}

fn full_row<'a>(
    workspace: &'a mut Workspace,
    tables: &Tables,
    entry: &FrameDescriptionEntry<Bytes>,
    address: usize,
) -> Option<&'a Row> {
    let context = workspace.0.get_or_insert_with(UnwindContext::new_in);
    entry.unwind_info_for_address(&tables.frames, &tables.bases, context, address as u64).ok()
}

/// The key of a location in the tree, and its unwind rule.
pub(super) fn derive(workspace: &mut Workspace, ways: &mut Ways, location: Location) -> (FrameKey, Rule) {
    let address = location.lookup_address();
    let object = modules::find(address);
    let space = object.map_or(SPACE_ANONYMOUS, |object| object.space);
    // SAFETY: a frame of the current call chain is in the object.
    let entry = object.and_then(|object| unsafe { entry_in(&object, address) });
    let rule = entry.and_then(|(tables, entry)| {
        let program = Program::of(&entry, tables.section);
        let quick = program.and_then(|program| ways.rule(&program, address as u64));
        quick.or_else(|| {
            let row = full_row(workspace, &tables, &entry, address)?;
            Some(rule_of(row, &tables.frames, &entry))
        })
    });
    let rule = rule.unwrap_or_else(|| match object {
        Some(object) if is_planted(location) || is_loader(&object) => Rule::End,
        _ => Rule::None,
    });
    (FrameKey::code(space, location), rule)
}

/// Whether a return address without unwind information is the first instruction of a function that has some: then
/// no call is before it, and it was put on the stack by hand, at the outer end of one (makecontext(3)).
fn is_planted(location: Location) -> bool {
    let entry = Location::interrupted_at(location.address());
    !location.is_interrupted() && function_start(entry) == Some(location.address())
}

/// Whether this is the dynamic loader. Its entry point, which calls the constructors of all libraries and then the
/// program, has no unwind information.
fn is_loader(object: &modules::Found) -> bool {
    modules::loader_address().is_some_and(|address| (object.start..object.end).contains(&address))
}

/// First address of the function that a location lies in, by its unwind table entry.
pub fn function_start(location: Location) -> Option<usize> {
    let address = location.lookup_address();
    let object = modules::find(address)?;
    // SAFETY: a frame of the current call chain is in the object.
    let (_, entry) = unsafe { entry_in(&object, address) }?;
    Some(entry.initial_address() as usize)
}

/// First address and length, in bytes, of the function that a location lies in, by its unwind table entry.
pub fn function_extent(location: Location) -> Option<(usize, u32)> {
    let address = location.lookup_address();
    let object = modules::find(address)?;
    // SAFETY: the object is loaded, and the caller has the location from something that refers to it.
    let (_, entry) = unsafe { entry_in(&object, address) }?;
    Some((entry.initial_address() as usize, u32::try_from(entry.len()).ok()?))
}

/// Where a register's saved value lies.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Saved {
    /// It was not saved, or has no value: it is as in the callee.
    No,
    /// At an offset from the CFA.
    AtCfa(i32),
    /// At an offset from a register.
    At(Register, i32),
    /// Somewhere else.
    Elsewhere,
}

fn rule_of(row: &Row, frames: &EhFrame<Bytes>, entry: &FrameDescriptionEntry<Bytes>) -> Rule {
    let saved = |register| match row.register(register) {
        None | Some(RegisterRule::SameValue | RegisterRule::Undefined) => Saved::No,
        Some(RegisterRule::Offset(offset)) => i32::try_from(offset).map_or(Saved::Elsewhere, Saved::AtCfa),
        Some(RegisterRule::Expression(expression)) => {
            match register_plus_offset(expression, frames, entry, false) {
                Some((register, offset)) => Saved::At(register, offset),
                None => Saved::Elsewhere,
            }
        }
        _ => Saved::Elsewhere,
    };
    if matches!(row.register(X86_64::RA), Some(RegisterRule::Undefined)) {
        return Rule::End;
    }
    let (return_address, bp) = (saved(X86_64::RA), saved(X86_64::RBP));
    match *row.cfa() {
        CfaRule::RegisterAndOffset { register, offset } => {
            let (Ok(cfa), Saved::AtCfa(-8)) = (i32::try_from(offset), return_address) else {
                return Rule::General;
            };
            let bp = match bp {
                Saved::No => None,
                Saved::AtCfa(offset) => Some(offset),
                _ => return Rule::General,
            };
            match register {
                X86_64::RSP => Rule::StackPointer { cfa, bp },
                X86_64::RBP => Rule::FramePointer { cfa, bp },
                _ => Rule::General,
            }
        }
        CfaRule::Expression(expression) => {
            let cfa = register_plus_offset(expression, frames, entry, true);
            match (cfa, return_address, bp) {
                (Some((X86_64::RBP, cfa)), Saved::AtCfa(-8), Saved::At(X86_64::RBP, bp)) => {
                    Rule::Realigned { cfa, bp }
                }
                (Some((X86_64::RSP, sp)), Saved::At(X86_64::RSP, pc), Saved::At(X86_64::RSP, bp))
                    if entry.is_signal_trampoline() && sp.checked_add(8) == Some(pc) =>
                {
                    Rule::Signal { sp, bp }
                }
                _ => Rule::General,
            }
        }
    }
}

/// Understands `DW_OP_breg<r> <offset>`, followed by `DW_OP_deref` if `dereferenced`.
fn register_plus_offset(
    expression: UnwindExpression<usize>,
    frames: &EhFrame<Bytes>,
    entry: &FrameDescriptionEntry<Bytes>,
    dereferenced: bool,
) -> Option<(Register, i32)> {
    let expression: Expression<Bytes> = expression.get(frames).ok()?;
    let mut operations = expression.operations(entry.cie().encoding());
    let Operation::RegisterOffset { register, offset, .. } = operations.next().ok()?? else { return None };
    if dereferenced && !matches!(operations.next().ok()??, Operation::Deref { size: 8, space: false, .. }) {
        return None;
    }
    match operations.next() {
        Ok(None) => Some((register, i32::try_from(offset).ok()?)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_of_ours_has_a_rule_and_a_start() {
        let function = function_start as *const () as usize;
        let location = Location::returning_to(function + 1);
        let mut workspace = alloc::boxed::Box::new(Workspace(None));
        let (key, rule) = derive(&mut workspace, Ways::none(), location);
        assert!(key.is_at(location));
        // On entry nothing is pushed but the return address (System V ABI, section 3.2.2).
        assert_eq!(rule, Rule::StackPointer { cfa: 8, bp: None });
        assert_eq!(function_start(location), Some(function));
    }

    /// The rule, by the program and by the full row, at the first and last address of each row of each entry.
    #[test]
    fn programs_say_what_full_rows_say() {
        unsafe extern "C" {
            fn malloc();
        }
        let mut context = UnwindContext::<usize, FixedStorage>::new_in();
        let ways = Ways::none();
        let (mut rows_seen, mut left) = (0u32, 0u32);
        for address in [derive as *const () as usize, malloc as *const () as usize] {
            let object = modules::find(address).unwrap();
            // SAFETY: the test's own code, and the C library.
            let tables = unsafe { tables(&object) }.unwrap();
            let mut entries = tables.frames.entries(&tables.bases);
            while let Ok(Some(entry)) = entries.next() {
                let gimli::CieOrFde::Fde(partial) = entry else { continue };
                let Ok(entry) = partial.parse(EhFrame::cie_from_offset) else { continue };
                let program = Program::of(&entry, tables.section).expect("laid out as usual");
                let Ok(mut rows) = entry.rows(&tables.frames, &tables.bases, &mut context) else { continue };
                while let Ok(Some(row)) = rows.next_row() {
                    for address in [row.start_address(), row.end_address().max(1) - 1] {
                        let quick = ways.rule(&program, address);
                        left += u32::from(quick.is_none());
                        rows_seen += 1;
                        if let Some(quick) = quick {
                            assert_eq!(quick, rule_of(row, &tables.frames, &entry), "{address:#x}");
                        }
                    }
                }
            }
        }
        assert!(
            rows_seen > 10_000 && left < rows_seen / 20,
            "{left} of {rows_seen} are left to the full row"
        );
    }

    #[test]
    fn the_stack_has_no_rule() {
        let mut workspace = alloc::boxed::Box::new(Workspace(None));
        let local = 0u64;
        let (key, rule) =
            derive(&mut workspace, Ways::none(), Location::returning_to(&raw const local as usize));
        assert_eq!(rule, Rule::None);
        assert_eq!(key.space(), SPACE_ANONYMOUS);
    }
}
