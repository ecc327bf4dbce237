//! ELF sections to DWARF sections.

use std::borrow::Cow;

use gimli::{RunTimeEndian, SectionId};
use object::read::{CompressionFormat, Object, ObjectSection};

use crate::mapped::MappedFile;

/// How DWARF is read: straight from mapped or decompressed bytes.
pub(crate) type Slice<'a> = gimli::EndianSlice<'a, RunTimeEndian>;
/// The DWARF sections of one file.
pub(crate) type Dwarf<'a> = gimli::Dwarf<Slice<'a>>;
/// A unit of it.
pub(crate) type Unit<'a> = gimli::Unit<Slice<'a>>;

/// What the readers of a module borrow from: its files and its decompressed sections.
#[derive(Default)]
pub(crate) struct Arena {
    files: typed_arena::Arena<MappedFile>,
    bytes: typed_arena::Arena<Vec<u8>>,
}

impl Arena {
    /// Keeps a file for as long as the arena lives.
    pub(crate) fn file(&self, file: MappedFile) -> &[u8] {
        self.files.alloc(file)
    }

    /// Keeps bytes for as long as the arena lives.
    pub(crate) fn bytes(&self, bytes: Vec<u8>) -> &[u8] {
        self.bytes.alloc(bytes)
    }
}

/// Most bytes that a section may have when decompressed.
const MAX_SECTION: u64 = 4 << 30;
/// Most bytes that one compressed byte may stand for: what deflate can reach at best (RFC 1951), so a limit for
/// no honest file.
const MAX_EXPANSION: u64 = 1040;

/// The bytes of a section, decompressed where needed; empty where the file has no such section.
///
/// # Errors
/// A section that lies outside the file, does not decompress, or would be larger than is sane.
pub(crate) fn section<'a>(
    object: &object::File<'a>,
    name: &str,
    arena: &'a Arena,
) -> Result<&'a [u8], object::Error> {
    let Some(section) = object.section_by_name(name) else {
        return Ok(&[]);
    };
    let compressed = section.compressed_data()?;
    if compressed.format != CompressionFormat::None {
        let limit = (compressed.data.len() as u64).saturating_mul(MAX_EXPANSION).min(MAX_SECTION);
        if compressed.uncompressed_size > limit {
            // A section that claims more is as good as none: the reader then reports what is missing.
            return Ok(&[]);
        }
    }
    match compressed.decompress()? {
        Cow::Borrowed(bytes) => Ok(bytes),
        Cow::Owned(bytes) => Ok(arena.bytes(bytes)),
    }
}

/// Whether the file carries DWARF of its own.
pub(crate) fn has_debug_info(object: &object::File<'_>) -> bool {
    // A file whose debug information was split off keeps no section of this name with contents.
    object
        .section_by_name(".debug_info")
        .is_some_and(|section| section.file_range().is_some_and(|(_, n)| n > 0))
}

/// The DWARF of a file, or of the supplementary file of one.
///
/// # Errors
/// As [`section`].
pub(crate) fn load<'a>(object: &object::File<'a>, arena: &'a Arena) -> Result<Dwarf<'a>, object::Error> {
    let endian = endian(object);
    gimli::Dwarf::load(|id| {
        let bytes = if is_needed(id) { section(object, id.name(), arena)? } else { &[] };
        Ok(Slice::new(bytes, endian))
    })
}

/// The DWARF of a `.dwo` file.
///
/// # Errors
/// As [`section`].
pub(crate) fn load_split<'a>(
    object: &object::File<'a>,
    arena: &'a Arena,
) -> Result<Dwarf<'a>, object::Error> {
    let endian = endian(object);
    gimli::Dwarf::load(|id| {
        let name = id.dwo_name().filter(|_| is_needed(id));
        let bytes = name.map_or(Ok(&[][..]), |name| section(object, name, arena))?;
        Ok(Slice::new(bytes, endian))
    })
}

/// The DWARF package of a `.dwp` file.
///
/// # Errors
/// As [`section`], and gimli's for damaged indexes (as text).
pub(crate) fn load_package<'a>(
    object: &object::File<'a>,
    arena: &'a Arena,
) -> Result<gimli::DwarfPackage<Slice<'a>>, String> {
    let endian = endian(object);
    let mut trouble = None;
    let package = gimli::DwarfPackage::load(
        |id| -> Result<_, gimli::Error> {
            let bytes = id.dwo_name().map_or(Ok(&[][..]), |name| section(object, name, arena));
            let bytes = bytes.unwrap_or_else(|error| {
                trouble = Some(error.to_string());
                &[]
            });
            Ok(Slice::new(bytes, endian))
        },
        Slice::new(&[], endian),
    );
    trouble.map_or(package.map_err(|error| error.to_string()), Err)
}

/// Sections that names and types come from; variable locations, macros and indexes are never read.
fn is_needed(id: SectionId) -> bool {
    use SectionId::*;
    matches!(
        id,
        DebugAbbrev
            | DebugAddr
            | DebugAranges
            | DebugInfo
            | DebugLine
            | DebugLineStr
            | DebugRanges
            | DebugRngLists
            | DebugStr
            | DebugStrOffsets
            | DebugTypes
    )
}

fn endian(object: &object::File<'_>) -> RunTimeEndian {
    if object.is_little_endian() { RunTimeEndian::Little } else { RunTimeEndian::Big }
}
