//! Which function an entry of the debug information is about.
//!
//! An inlined call refers to the abstract function that was inlined, and so does that function's out-of-line copy
//! (DWARF 5, section 3.3.8); a definition outside of its class refers to the declaration (section 2.13.2). The end
//! of that chain, not the entry, is the function's identity.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use gimli::{AttributeValue, UnitHeader, UnitOffset};

use crate::demangle::{demangle, is_mangled};
use crate::dwarf::{Dwarf, Slice, Unit};
use crate::scopes::Scopes;
use crate::{source_file, vet};

/// Longest chain of references that is followed.
const MAX_CHAIN: usize = 16;
/// How many functions inside functions a name shows.
const MAX_NESTED: usize = 8;
/// Most pieces of one function's machine code that are told apart.
const MAX_PIECES: usize = 64;

/// What the debug information says about a function.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Described {
    /// Name for people: demangled, else `DW_AT_name`, in C++ with the scopes around it.
    pub(crate) name: Vec<u8>,
    /// `DW_AT_linkage_name`; empty where it has none.
    pub(crate) linkage_name: Vec<u8>,
    /// Where it is defined.
    pub(crate) file: Option<Vec<u8>>,
    /// Where it is defined; 0 where unknown.
    pub(crate) line: u32,
}

/// The units of one file by offset, read when first needed.
pub(crate) struct Units<'d, 'a> {
    dwarf: &'d Dwarf<'a>,
    headers: Vec<UnitHeader<Slice<'a>>>,
    read: RefCell<HashMap<usize, Option<Rc<Unit<'a>>>>>,
    /// Scopes of units, by split part and offset.
    scopes: RefCell<HashMap<(u64, usize), Rc<Scopes<'a>>>>,
    supplementary: Option<Box<Units<'d, 'a>>>,
}

impl<'d, 'a> Units<'d, 'a> {
    pub(crate) fn new(dwarf: &'d Dwarf<'a>) -> Self {
        let mut headers = vet::unit_headers(dwarf);
        headers.retain(|header| header.debug_info_offset().is_some());
        let supplementary = dwarf.sup().map(|dwarf| Box::new(Units::new(dwarf)));
        Units { dwarf, headers, read: RefCell::default(), scopes: RefCell::default(), supplementary }
    }

    /// The unit that an offset in `.debug_info` lies in, and the offset in that unit.
    fn find(&self, offset: usize) -> Option<(Rc<Unit<'a>>, UnitOffset)> {
        let start = |header: &UnitHeader<_>| header.debug_info_offset().map_or(0, |start| start.0);
        let index = self.headers.partition_point(|header| start(header) <= offset).checked_sub(1)?;
        let header = self.headers.get(index)?;
        let mut read = self.read.borrow_mut();
        let unit = read.entry(index).or_insert_with(|| self.dwarf.unit(*header).ok().map(Rc::new));
        Some((unit.clone()?, UnitOffset(offset - start(header))))
    }

    /// Describes the function of an entry in `unit` of `dwarf`, which is this file's or a split part of it.
    pub(crate) fn describe(&self, dwarf: &Dwarf<'a>, unit: &Unit<'a>, entry: UnitOffset) -> Described {
        self.describe_nested(dwarf, unit, entry, MAX_NESTED)
    }

    fn describe_nested(
        &self,
        dwarf: &Dwarf<'a>,
        unit: &Unit<'a>,
        entry: UnitOffset,
        nested_left: usize,
    ) -> Described {
        let mut described = Described::default();
        // What cannot be read stays unknown.
        let _ =
            self.follow(dwarf, unit, entry, Left { chain: MAX_CHAIN, nested: nested_left }, &mut described);
        // In C a linker name is an alias (glibc's `__GI_…`) and says less than the function's own.
        if described.name.is_empty() || is_mangled(&described.linkage_name) {
            described.name = demangle(&described.linkage_name);
        }
        described
    }

    /// Puts the scopes around a C++ function before its name.
    fn qualify(
        &self,
        dwarf: &Dwarf<'a>,
        unit: &Unit<'a>,
        entry: UnitOffset,
        nested_left: usize,
        name: &mut Vec<u8>,
    ) {
        if name.is_empty() || nested_left == 0 || !is_cpp(unit) {
            return;
        }
        let scopes = Rc::clone(
            self.scopes
                .borrow_mut()
                .entry(unit_place(dwarf, unit))
                .or_insert_with(|| Rc::new(Scopes::of(dwarf, unit))),
        );
        let around = scopes.around(dwarf, unit, entry);
        let mut parts = Vec::new();
        if let Some(function) = around.function.filter(|&function| function != entry) {
            parts.push(self.describe_nested(dwarf, unit, function, nested_left - 1).name);
        }
        parts.extend(around.names);
        // A lambda's body is the call operator of a nameless class: the class says it all.
        if !around.call_operator {
            parts.push(std::mem::take(name));
        }
        *name = parts.join(&b"::"[..]);
    }

    fn follow(
        &self,
        dwarf: &Dwarf<'a>,
        unit: &Unit<'a>,
        entry: UnitOffset,
        left: Left,
        described: &mut Described,
    ) -> gimli::Result<()> {
        let mut entries = unit.entries_raw(Some(entry))?;
        let Some(abbreviation) = entries.read_abbreviation()? else {
            return Ok(());
        };
        let mut origin = None;
        for specification in abbreviation.attributes() {
            let attribute = entries.read_attribute(*specification)?;
            let value = attribute.value();
            match attribute.name() {
                // The most abstract entry counts: a constructor's copies have linker names of their own.
                gimli::DW_AT_linkage_name | gimli::DW_AT_MIPS_linkage_name => {
                    described.linkage_name = dwarf.attr_string(unit, value)?.to_vec();
                }
                gimli::DW_AT_name => described.name = dwarf.attr_string(unit, value)?.to_vec(),
                // The most concrete entry counts: the definition, not the declaration.
                gimli::DW_AT_decl_file if described.file.is_none() => {
                    let number = match value {
                        AttributeValue::FileIndex(number) => Some(number),
                        _ => attribute.udata_value(),
                    };
                    described.file = number.and_then(|number| source_file::path(dwarf, unit, number));
                }
                gimli::DW_AT_decl_line if described.line == 0 => {
                    described.line =
                        attribute.udata_value().and_then(|line| line.try_into().ok()).unwrap_or(0);
                }
                gimli::DW_AT_abstract_origin | gimli::DW_AT_specification => origin = Some(value),
                _ => {}
            }
        }
        let Some(left) = left.further() else {
            return Ok(());
        };
        match origin {
            None => {
                if described.linkage_name.is_empty() {
                    self.qualify(dwarf, unit, entry, left.nested, &mut described.name);
                }
                Ok(())
            }
            Some(AttributeValue::UnitRef(entry)) => self.follow(dwarf, unit, entry, left, described),
            Some(AttributeValue::DebugInfoRef(offset)) if dwarf.file_type == gimli::DwarfFileType::Main => {
                self.follow_into(offset.0, left, described)
            }
            Some(AttributeValue::DebugInfoRefSup(offset)) => match &self.supplementary {
                Some(units) => units.follow_into(offset.0, left, described),
                None => Ok(()),
            },
            _ => Ok(()),
        }
    }

    fn follow_into(&self, offset: usize, left: Left, described: &mut Described) -> gimli::Result<()> {
        match self.find(offset) {
            Some((unit, entry)) => self.follow(self.dwarf, &unit, entry, left, described),
            None => Ok(()),
        }
    }
}

/// How many more steps may be made: bounds for what a crafted file can ask for.
#[derive(Clone, Copy)]
struct Left {
    chain: usize,
    nested: usize,
}

impl Left {
    fn further(self) -> Option<Left> {
        Some(Left { chain: self.chain.checked_sub(1)?, ..self })
    }
}

/// A split part's id (0: none) and a unit's offset.
pub(crate) fn unit_place(dwarf: &Dwarf<'_>, unit: &Unit<'_>) -> (u64, usize) {
    let part = match dwarf.file_type {
        gimli::DwarfFileType::Dwo => unit.dwo_id.map_or(0, |id| id.0),
        gimli::DwarfFileType::Main => 0,
    };
    (part, unit.header.debug_info_offset().map_or(0, |offset| offset.0))
}

fn is_cpp(unit: &Unit<'_>) -> bool {
    let root = unit.entry(unit.header.root_offset());
    let language = root.ok().and_then(|root| root.attr_value(gimli::DW_AT_language));
    matches!(
        language,
        Some(AttributeValue::Language(
            gimli::DW_LANG_C_plus_plus
                | gimli::DW_LANG_C_plus_plus_03
                | gimli::DW_LANG_C_plus_plus_11
                | gimli::DW_LANG_C_plus_plus_14
                | gimli::DW_LANG_C_plus_plus_17
                | gimli::DW_LANG_C_plus_plus_20
        ))
    )
}

/// The machine code of a function: its pieces, that with its start first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Pieces(Vec<gimli::Range>);

impl Pieces {
    pub(crate) fn of(dwarf: &Dwarf<'_>, unit: &Unit<'_>, entry: UnitOffset) -> Self {
        let mut pieces = Vec::new();
        if let Ok(Ok(mut ranges)) = unit.entry(entry).map(|entry| dwarf.die_ranges(unit, &entry)) {
            while let Ok(Some(range)) = ranges.next() {
                if pieces.len() == MAX_PIECES {
                    break;
                }
                if range.begin < range.end {
                    pieces.push(range);
                }
            }
        }
        Pieces(pieces)
    }

    /// Address of the function's start.
    pub(crate) fn start(&self) -> Option<u64> {
        self.0.first().map(|piece| piece.begin)
    }

    /// Offset of `address` from the function's start, bytes; `lookup` is the address that lies in the function.
    /// Pieces that the compiler put elsewhere are taken to follow each other, so that no two calls have one offset.
    pub(crate) fn offset(&self, address: u64, lookup: u64) -> u64 {
        let mut before = 0u64;
        for piece in &self.0 {
            if (piece.begin..piece.end).contains(&lookup) {
                return before.wrapping_add(address.wrapping_sub(piece.begin));
            }
            before = before.wrapping_add(piece.end - piece.begin);
        }
        address.wrapping_sub(self.start().unwrap_or(address))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_of_a_function_are_laid_end_to_end() {
        let pieces = Pieces(vec![
            gimli::Range { begin: 0x2000, end: 0x2040 },
            gimli::Range { begin: 0x1000, end: 0x1010 },
        ]);
        assert_eq!(pieces.start(), Some(0x2000));
        assert_eq!(pieces.offset(0x2005, 0x2004), 5);
        assert_eq!(pieces.offset(0x1005, 0x1004), 0x45);
        // A call at the very end: its return address is past the function.
        assert_eq!(pieces.offset(0x2040, 0x203f), 0x40);
        assert_eq!(Pieces::default().offset(7, 6), 0);
    }
}
