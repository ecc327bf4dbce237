//! A unit's table of source files.

use crate::dwarf::{Dwarf, Unit};
use crate::source_path;

/// Path of the source file with this number in the unit's line number table (`DW_AT_decl_file`,
/// `DW_AT_call_file`), absolute where the debug information allows it.
pub(crate) fn path(dwarf: &Dwarf<'_>, unit: &Unit<'_>, number: u64) -> Option<Vec<u8>> {
    let header = unit.line_program.as_ref()?.header();
    // 0 is "no file" before DWARF 5 (section 6.2.4 there).
    if number == 0 && header.version() < 5 {
        return None;
    }
    let file = header.file(number)?;
    let text = |value| dwarf.attr_string(unit, value).ok().map(|text| text.slice());
    let folder = unit.comp_dir.map_or(&[][..], |folder| folder.slice());
    let directory = file.directory(header).and_then(text).unwrap_or(&[]);
    Some(source_path::join(&[folder, directory, text(file.path_name())?]))
}
