//! `.gnu_debugdata`: an xz-compressed ELF file with the symbols that a distribution stripped (gdb manual,
//! "Debugging information in a special section").

use std::io::Read;

use lzma_rust2::XzReader;

use crate::dwarf::{self, Arena};

/// Most bytes that are unpacked: symbol tables of the largest programs have a few ten megabytes.
const MAX_UNPACKED: u64 = 256 << 20;
/// Most memory for the decoder's dictionary, KiB (`xz -9` uses 64 MiB).
const MAX_DICTIONARY_KIB: u32 = 256 << 10;

/// The small ELF file inside `object`, unpacked; `None` where there is none, or none that can be read.
pub(crate) fn unpack<'a>(object: &object::File<'a>, arena: &'a Arena) -> Option<object::File<'a>> {
    let packed = dwarf::section(object, ".gnu_debugdata", arena).ok().filter(|bytes| !bytes.is_empty())?;
    let mut unpacked = Vec::new();
    let reader = XzReader::new_mem_limit(packed, false, MAX_DICTIONARY_KIB);
    reader.take(MAX_UNPACKED).read_to_end(&mut unpacked).ok()?;
    object::File::parse(arena.bytes(unpacked)).ok()
}
