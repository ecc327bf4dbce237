//! Which function an entry of the debug information is about.
//!
//! An inlined call refers to the abstract function that was inlined, and so does that function's out-of-line copy
//! (DWARF 5, section 3.3.8); a definition outside of its class refers to the declaration (section 2.13.2). The end
//! of that chain, not the entry, is the function's identity.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use gimli::{AttributeValue, UnitHeader, UnitOffset};

use crate::dwarf::{Dwarf, Slice, Unit};
use crate::{source_file, vet};

/// Longest chain of references that is followed.
const MAX_CHAIN: usize = 16;
/// Most pieces of one function's machine code that are told apart.
const MAX_PIECES: usize = 64;

/// What the debug information says about a function.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Described {
    /// `DW_AT_name`.
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
    supplementary: Option<Box<Units<'d, 'a>>>,
}

impl<'d, 'a> Units<'d, 'a> {
    pub(crate) fn new(dwarf: &'d Dwarf<'a>) -> Self {
        let mut headers = vet::unit_headers(dwarf);
        headers.retain(|header| header.debug_info_offset().is_some());
        let supplementary = dwarf.sup().map(|dwarf| Box::new(Units::new(dwarf)));
        Units { dwarf, headers, read: RefCell::default(), supplementary }
    }

    /// The unit that an offset in `.debug_info` lies in, and the offset in that unit.
    fn find(&self, offset: usize) -> Option<(Rc<Unit<'a>>, UnitOffset)> {
        let start = |header: &UnitHeader<_>| header.debug_info_offset().map_or(0, |start| start.0);
        let index = self.headers.partition_point(|header| start(header) <= offset).checked_sub(1)?;
        let header = &self.headers[index];
        let mut read = self.read.borrow_mut();
        let unit = read.entry(index).or_insert_with(|| self.dwarf.unit(header.clone()).ok().map(Rc::new));
        Some((unit.clone()?, UnitOffset(offset - start(header))))
    }

    /// Describes the function of an entry in `unit` of `dwarf`, which is this file's or a split part of it.
    pub(crate) fn describe(&self, dwarf: &Dwarf<'a>, unit: &Unit<'a>, entry: UnitOffset) -> Described {
        let mut described = Described::default();
        // What cannot be read stays unknown.
        let _ = self.follow(dwarf, unit, entry, MAX_CHAIN, &mut described);
        described
    }

    fn follow(
        &self,
        dwarf: &Dwarf<'a>,
        unit: &Unit<'a>,
        entry: UnitOffset,
        chain_left: usize,
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
        match origin.filter(|_| chain_left > 0) {
            Some(AttributeValue::UnitRef(entry)) => {
                self.follow(dwarf, unit, entry, chain_left - 1, described)
            }
            Some(AttributeValue::DebugInfoRef(offset)) if dwarf.file_type == gimli::DwarfFileType::Main => {
                self.follow_into(offset.0, chain_left, described)
            }
            Some(AttributeValue::DebugInfoRefSup(offset)) => match &self.supplementary {
                Some(units) => units.follow_into(offset.0, chain_left, described),
                None => Ok(()),
            },
            _ => Ok(()),
        }
    }

    fn follow_into(&self, offset: usize, chain_left: usize, described: &mut Described) -> gimli::Result<()> {
        match self.find(offset) {
            Some((unit, entry)) => self.follow(self.dwarf, &unit, entry, chain_left - 1, described),
            None => Ok(()),
        }
    }
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
