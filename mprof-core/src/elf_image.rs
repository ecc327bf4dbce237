//! What the ELF headers of a loaded object say, read where they are mapped (System V ABI, chapter 5).

use crate::sys;

/// What we need of a program header (`Elf64_Phdr`).
#[derive(Debug, Clone, Copy)]
pub struct ProgramHeader {
    /// Kind (`PT_LOAD`, …).
    pub kind: u32,
    /// Rights: 1 executable, 2 writable, 4 readable.
    pub rights: u32,
    /// Address, less the object's bias.
    pub address: usize,
    /// Bytes in the file.
    pub length: usize,
    /// Bytes in memory.
    pub length_in_memory: usize,
    align: usize,
}

/// A segment that is loaded.
pub const PT_LOAD: u32 = 1;
/// The sorted table of unwind information.
pub const PT_GNU_EH_FRAME: u32 = 0x6474_e550;

impl ProgramHeader {
    /// # Safety
    /// There is a program header at the address.
    unsafe fn read(at: usize) -> ProgramHeader {
        let entry = at as *const u8;
        // SAFETY: the caller vouches for the 56 bytes.
        unsafe {
            ProgramHeader {
                kind: entry.cast::<u32>().read_unaligned(),
                rights: entry.add(4).cast::<u32>().read_unaligned(),
                address: entry.add(16).cast::<usize>().read_unaligned(),
                length: entry.add(32).cast::<usize>().read_unaligned(),
                length_in_memory: entry.add(40).cast::<usize>().read_unaligned(),
                align: entry.add(48).cast::<usize>().read_unaligned(),
            }
        }
    }

    fn end(&self) -> usize {
        self.address.saturating_add(self.length)
    }
}

/// The program headers of the object that is mapped from `start` on; none where it does not begin with its headers.
///
/// # Safety
/// The first page of an object is mapped there, and stays so while the iterator is used.
pub unsafe fn program_headers(start: usize) -> impl Iterator<Item = ProgramHeader> + Clone {
    // SAFETY: the first page is readable, and holds the ELF header where the object begins with file offset 0, which
    // the magic number tells.
    let header = unsafe { core::slice::from_raw_parts(start as *const u8, 64) };
    let word = |at: usize, length: usize| {
        header[at..at + length].iter().rev().fold(0usize, |value, &byte| value << 8 | usize::from(byte))
    };
    let (table, size, count) = (word(32, 8), word(54, 2), word(56, 2));
    let is_elf = header[..4] == *b"\x7fELF" && header[4] == 2 && size == 56;
    let count = if is_elf && table.saturating_add(size * count) <= sys::PAGE { count } else { 0 };
    // SAFETY: the program headers lie on the first page, as was checked.
    (0..count).map(move |index| unsafe { ProgramHeader::read(start + table + index * size) })
}

/// The rights of the segment that an address lies in; 0 where it lies in none.
///
/// # Safety
/// As for [`program_headers`].
pub unsafe fn rights(start: usize, bias: usize, address: usize) -> u32 {
    let offset = address.wrapping_sub(bias);
    // SAFETY: as the caller vouches.
    let mut segments = unsafe { program_headers(start) }.filter(|header| header.kind == PT_LOAD);
    let segment = segments.find(|segment| (segment.address..segment.end()).contains(&offset));
    segment.map_or(0, |segment| segment.rights & 7)
}

/// The GNU build-id of a loaded object (elf(5), `NT_GNU_BUILD_ID`); empty where it has none.
///
/// # Safety
/// `start..end` is a loaded ELF object that stays loaded while the slice is used.
pub unsafe fn build_id<'a>(start: usize, end: usize, bias: usize) -> &'a [u8] {
    const PT_NOTE: u32 = 4;
    const NT_GNU_BUILD_ID: u32 = 3;
    // SAFETY: as the caller vouches.
    let headers = unsafe { program_headers(start) };
    for note in headers.clone().filter(|header| header.kind == PT_NOTE) {
        // A note that no segment holds was not loaded.
        let loaded = headers.clone().any(|segment| {
            segment.kind == PT_LOAD && note.address >= segment.address && note.end() <= segment.end()
        });
        let from = note.address.wrapping_add(bias);
        if !loaded || from < start || from > end || note.length > end - from {
            continue;
        }
        // SAFETY: it is part of a loaded segment.
        let notes = unsafe { core::slice::from_raw_parts(from as *const u8, note.length) };
        let padding = if note.align == 8 { 8 } else { 4 };
        if let Some(description) = find_note(notes, padding, b"GNU\0", NT_GNU_BUILD_ID) {
            return description;
        }
    }
    &[]
}

/// The description of the first note of this name and type.
fn find_note<'a>(mut notes: &'a [u8], padding: usize, name: &[u8], kind: u32) -> Option<&'a [u8]> {
    let word = |bytes: &[u8]| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    while notes.len() >= 12 {
        let (name_length, length) = (word(notes) as usize, word(&notes[4..]) as usize);
        let this_kind = word(&notes[8..]);
        let description = (12 + name_length).next_multiple_of(padding);
        let end = description.checked_add(length)?;
        if end > notes.len() {
            return None;
        }
        if this_kind == kind && notes[12..].starts_with(name) && name_length == name.len() {
            return Some(&notes[description..end]);
        }
        notes = notes.get(end.next_multiple_of(padding)..)?;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_found_and_broken_ones_end_the_search() {
        let mut notes = alloc::vec::Vec::new();
        notes.extend_from_slice(&[4, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0]);
        notes.extend_from_slice(b"GNU\0ab\0\0");
        notes.extend_from_slice(&[4, 0, 0, 0, 3, 0, 0, 0, 3, 0, 0, 0]);
        notes.extend_from_slice(b"GNU\0xyz\0");
        assert_eq!(find_note(&notes, 4, b"GNU\0", 3), Some(&b"xyz"[..]));
        assert_eq!(find_note(&notes, 4, b"GNU\0", 9), None);
        notes[4] = 0xff;
        notes[5] = 0xff;
        assert_eq!(find_note(&notes, 4, b"GNU\0", 3), None);
    }
}
