//! What debug information must keep to before a library may read it.
//!
//! gimli and addr2line check every offset, but their time and memory follow what a file *says*: tables that many
//! units share are read once a unit, lists once a reference, inlined functions by recursion. A crafted file of a
//! megabyte can so ask for any amount of both. The limits here are wide for what compilers write and make the cost
//! proportional to the file.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use gimli::{Reader, Section, UnitHeader};

use crate::dwarf::{Dwarf, Slice, Unit};

/// Deepest nesting of entries. addr2line recurses once an inlined call; 1000 calls need less than 2 MiB of stack.
pub(crate) const MAX_DEPTH: isize = 1000;
/// Most attributes of one entry; compilers write up to about 30.
const MAX_ATTRIBUTES: u32 = 1000;
/// Most attributes for a byte of entries: attributes without bytes of their own (flags, implicit constants) come a
/// few an entry.
const ATTRIBUTES_PER_BYTE: u64 = 16;
/// Longest unit folder or name, bytes.
const MAX_PATH: usize = 64 * 1024;

/// Why debug information is not used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Damage(&'static str);

impl Damage {
    pub(crate) const fn new(reason: &'static str) -> Self {
        Damage(reason)
    }
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// What the units of one file may use together, taken from as they are read.
pub(crate) struct Budget {
    /// Bytes of source paths, once each is put together.
    paths: AtomicU64,
    /// Entries of address range lists, once for each reference to a list.
    ranges: AtomicU64,
}

impl Budget {
    pub(crate) fn new(dwarf: &Dwarf<'_>) -> Self {
        let ranges =
            dwarf.ranges.debug_ranges().reader().len() + dwarf.ranges.debug_rnglists().reader().len();
        Budget {
            paths: AtomicU64::new(1 << 30),
            ranges: AtomicU64::new((ranges as u64).saturating_mul(2) + (1 << 16)),
        }
    }

    fn take(part: &AtomicU64, amount: u64, damage: Damage) -> Result<(), Damage> {
        let take = |left: u64| left.checked_sub(amount);
        part.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).map(|_| ()).map_err(|_| damage)
    }

    /// Accounts for a unit's table of source files.
    pub(crate) fn take_paths(&self, dwarf: &Dwarf<'_>, unit: &Unit<'_>) -> Result<(), Damage> {
        const DAMAGE: Damage = Damage::new("the source paths of a unit are too long");
        let folder = unit.comp_dir.map_or(0, |folder| folder.len());
        if folder.max(unit.name.map_or(0, |name| name.len())) > MAX_PATH {
            return Err(DAMAGE);
        }
        let Some(program) = &unit.line_program else {
            return Ok(());
        };
        let header = program.header();
        let length = |value| dwarf.attr_string(unit, value).map_or(0, |text| text.len());
        let longest_folder =
            header.include_directories().iter().map(|value| length(*value)).max().unwrap_or(0);
        let names: usize = header.file_names().iter().map(|file| length(file.path_name())).sum();
        let bytes = header.file_names().len().saturating_mul(folder.saturating_add(longest_folder));
        Budget::take(&self.paths, bytes.saturating_add(names) as u64, DAMAGE)
    }

    /// Accounts for one reference to a range list.
    pub(crate) fn take_ranges(
        &self,
        dwarf: &Dwarf<'_>,
        unit: &Unit<'_>,
        value: gimli::AttributeValue<Slice<'_>>,
    ) -> Result<(), Damage> {
        const DAMAGE: Damage = Damage::new("one list of address ranges is used by too many entries");
        let Ok(Some(offset)) = dwarf.attr_ranges_offset(unit, value) else {
            return Ok(());
        };
        let Ok(mut list) = dwarf.raw_ranges(unit, offset) else {
            return Ok(());
        };
        let mut entries = 1;
        let left = self.ranges.load(Ordering::Relaxed);
        while let Ok(Some(_)) = list.next() {
            entries += 1;
            if entries > left {
                return Err(DAMAGE);
            }
        }
        Budget::take(&self.ranges, entries, DAMAGE)
    }
}

/// Counts the attributes of a unit's entries against the unit's length.
pub(crate) struct AttributeBudget(u64);

impl AttributeBudget {
    pub(crate) fn new(unit_length: usize) -> Self {
        AttributeBudget((unit_length as u64).saturating_mul(ATTRIBUTES_PER_BYTE))
    }

    pub(crate) fn take(&mut self, attributes: usize) -> Result<(), Damage> {
        const DAMAGE: Damage = Damage::new("a unit has more attributes than bytes for them");
        self.0 = self.0.checked_sub(attributes as u64).ok_or(DAMAGE)?;
        Ok(())
    }
}

/// All unit headers of a file, those of `.debug_types` (DWARF 4) last. Headers after a damaged one are left out.
pub(crate) fn unit_headers<'a>(dwarf: &Dwarf<'a>) -> Vec<UnitHeader<Slice<'a>>> {
    let mut headers = Vec::new();
    let mut units = dwarf.units();
    while let Ok(Some(header)) = units.next() {
        headers.push(header);
    }
    let mut units = dwarf.type_units();
    while let Ok(Some(header)) = units.next() {
        headers.push(header);
    }
    headers
}

/// Checks the abbreviation tables: that no two of them share bytes (each is read as often as there are offsets to
/// start at) and that no entry has too many attributes. To be called before anything else reads them.
pub(crate) fn check_abbreviations(
    dwarf: &Dwarf<'_>,
    headers: &[UnitHeader<Slice<'_>>],
) -> Result<(), Damage> {
    const OVERLAP: Damage = Damage::new("abbreviation tables overlap");
    let section = *dwarf.debug_abbrev.reader();
    let mut offsets: Vec<usize> = headers.iter().map(|header| header.debug_abbrev_offset().0).collect();
    offsets.sort_unstable();
    offsets.dedup();
    let mut left = section.len().saturating_add(1 << 16);
    for offset in offsets {
        let mut table = section;
        if table.skip(offset).is_err() {
            continue;
        }
        let before = table.len();
        // Where a table is cut off, its reader reports it; what counts here is how far it gets.
        let checked = check_table(&mut table).unwrap_or(Ok(()));
        checked?;
        left = left.checked_sub(before - table.len()).ok_or(OVERLAP)?;
    }
    Ok(())
}

fn check_table(table: &mut Slice<'_>) -> gimli::Result<Result<(), Damage>> {
    while table.read_uleb128()? != 0 {
        table.read_uleb128()?;
        table.read_u8()?;
        let mut attributes = 0;
        loop {
            let name = table.read_uleb128()?;
            let form = table.read_uleb128()?;
            if form == u64::from(gimli::DW_FORM_implicit_const.0) {
                table.read_sleb128()?;
            }
            if name == 0 && form == 0 {
                break;
            }
            attributes += 1;
            if attributes > MAX_ATTRIBUTES {
                return Ok(Err(Damage::new("an entry has too many attributes")));
            }
        }
    }
    Ok(Ok(()))
}

/// Checks the line number tables: each is read, at least its list of files, by every unit that refers to it.
pub(crate) fn check_line_tables(dwarf: &Dwarf<'_>, headers: &[UnitHeader<Slice<'_>>]) -> Result<(), Damage> {
    const SHARED: Damage = Damage::new("one line number table is used by too many units");
    let section = *dwarf.debug_line.reader();
    let mut left = (section.len() as u64).saturating_mul(16).saturating_add(8 << 20);
    for header in headers {
        if header.debug_types_offset().is_some() {
            continue;
        }
        if let Ok(Some(offset)) = line_table_offset(dwarf, header) {
            let length = line_header_length(section, offset).unwrap_or(0).min(section.len() as u64);
            left = left.checked_sub(length).ok_or(SHARED)?;
        }
    }
    Ok(())
}

/// `DW_AT_stmt_list` of a unit.
fn line_table_offset(dwarf: &Dwarf<'_>, header: &UnitHeader<Slice<'_>>) -> gimli::Result<Option<usize>> {
    let abbreviations = dwarf.abbreviations(header)?;
    let mut entries = header.entries_raw(&abbreviations, None)?;
    let Some(abbreviation) = entries.read_abbreviation()? else {
        return Ok(None);
    };
    for specification in abbreviation.attributes() {
        let attribute = entries.read_attribute(*specification)?;
        if attribute.name() == gimli::DW_AT_stmt_list {
            return Ok(match attribute.value() {
                gimli::AttributeValue::DebugLineRef(offset) => Some(offset.0),
                _ => None,
            });
        }
    }
    Ok(None)
}

/// Length of a line number program's header after its length field (DWARF 5, section 6.2.4), bytes.
fn line_header_length(mut table: Slice<'_>, offset: usize) -> gimli::Result<u64> {
    table.skip(offset)?;
    let (_, format) = table.read_initial_length()?;
    if table.read_u16()? >= 5 {
        table.skip(2)?;
    }
    table.read_length(format).map(|length| length as u64)
}

/// Everything that can be checked without reading all entries (which [`crate::survey`] does).
pub(crate) fn check(dwarf: &Dwarf<'_>) -> Result<(), Damage> {
    let headers = unit_headers(dwarf);
    check_abbreviations(dwarf, &headers)?;
    check_line_tables(dwarf, &headers)
}
