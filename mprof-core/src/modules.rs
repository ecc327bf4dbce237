//! The loaded objects that frames lie in.
//!
//! An object is found by `_dl_find_object` (glibc 2.35 and later), which takes no lock and allocates nothing, so
//! it may be called while another thread is inside the dynamic loader. What a profile must say about an object
//! (path, build-id, addresses) is copied the first time a frame in it is seen: at exit it may be unloaded.

use core::arch::global_asm;
use core::ffi::{CStr, c_char, c_int, c_void};
use core::mem::MaybeUninit;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

use crate::arena::keep_bytes;
use crate::location::{SPACE_ANONYMOUS, SPACE_MODULES};
use crate::sys;

/// Modules that can be told apart in one process; frames in further ones are filed as anonymous code.
const MODULES: usize = 32 * 1024;

/// What is kept of a loaded object.
#[derive(Debug)]
pub struct Module {
    /// Name as the loader has it; empty for the program itself.
    name: &'static [u8],
    /// Path of the file, absolute where it can be; empty for the program itself.
    pub path: &'static [u8],
    /// GNU build-id; empty where it has none.
    pub build_id: &'static [u8],
    /// Run-time address − address in the file.
    pub bias: usize,
    /// First byte.
    pub start: usize,
    /// First byte after it.
    pub end: usize,
}

/// An object that an address lies in.
#[derive(Debug, Clone, Copy)]
pub struct Found {
    /// Frame space of its code.
    pub space: u16,
    /// First byte.
    pub start: usize,
    /// First byte after it.
    pub end: usize,
    /// Its `.eh_frame_hdr`; 0 where it has none.
    pub eh_frame_hdr: usize,
}

/// `struct dl_find_object` of `<dlfcn.h>`.
#[repr(C)]
struct DlFindObject {
    flags: u64,
    map_start: *mut c_void,
    map_end: *mut c_void,
    link_map: *const LinkMap,
    eh_frame: *mut c_void,
    reserved: [u64; 7],
}

/// The public head of `struct link_map` of `<link.h>`.
#[repr(C)]
struct LinkMap {
    bias: usize,
    name: *const c_char,
}

// A weak reference: null with a C library that lacks it. (Looking it up with dlsym would allocate on failure.)
global_asm!(".weak _dl_find_object");
// A function of the dynamic loader itself.
global_asm!(".weak __tls_get_addr");

type FindObject = unsafe extern "C" fn(*mut c_void, *mut DlFindObject) -> c_int;

fn find_object() -> Option<FindObject> {
    let address: usize;
    // SAFETY: reads the weak symbol's slot in the global offset table.
    unsafe {
        core::arch::asm!("mov {}, qword ptr [rip + _dl_find_object@GOTPCREL]", out(reg) address,
            options(nostack, pure, readonly, preserves_flags));
    }
    // SAFETY: a non-null address is that of the function of this name, with this type (dlfcn.h).
    (address != 0).then(|| unsafe { core::mem::transmute::<usize, FindObject>(address) })
}

static TABLE: [AtomicPtr<Module>; MODULES] = [const { AtomicPtr::new(null_mut()) }; MODULES];
/// Slots of the table that may be in use.
static COUNT: AtomicU32 = AtomicU32::new(0);

/// A module by number; `None` where there is none.
pub fn get(number: usize) -> Option<&'static Module> {
    let module = TABLE.get(number)?.load(Ordering::Acquire);
    // SAFETY: modules are published whole and never freed.
    unsafe { module.as_ref() }
}

/// An address within the dynamic loader, if it is one that we know.
pub fn loader_address() -> Option<usize> {
    let address: usize;
    // SAFETY: reads the weak symbol's slot in the global offset table.
    unsafe {
        core::arch::asm!("mov {}, qword ptr [rip + __tls_get_addr@GOTPCREL]", out(reg) address,
            options(nostack, pure, readonly, preserves_flags));
    }
    (address != 0).then_some(address)
}

/// The modules seen so far, by number.
pub fn all() -> impl Iterator<Item = &'static Module> {
    (0..COUNT.load(Ordering::Acquire) as usize).map_while(get)
}

/// The object that `address` lies in.
pub fn find(address: usize) -> Option<Found> {
    let mut object = MaybeUninit::<DlFindObject>::zeroed();
    let find_object = find_object()?;
    // SAFETY: the function fills in the structure and reads nothing else of ours.
    let object = unsafe {
        if find_object(address as *mut c_void, object.as_mut_ptr()) != 0 {
            return None;
        }
        object.assume_init()
    };
    // SAFETY: the object holds code that is on our call chain, so it and its link map stay.
    let (bias, name) = unsafe {
        let map = &*object.link_map;
        (map.bias, if map.name.is_null() { &[][..] } else { CStr::from_ptr(map.name).to_bytes() })
    };
    let (start, end) = (object.map_start as usize, object.map_end as usize);
    // SAFETY: as above.
    let build_id = unsafe { build_id(start, end, bias) };
    let space = match intern(name, build_id, bias, start, end) {
        Some(number) => SPACE_MODULES + number as u16,
        None => SPACE_ANONYMOUS,
    };
    Some(Found { space, start, end, eh_frame_hdr: object.eh_frame as usize })
}

/// The number of the module that is like this, added now if it is new.
fn intern(name: &[u8], build_id: &[u8], bias: usize, start: usize, end: usize) -> Option<usize> {
    let mut fresh: Option<*mut Module> = None;
    for (number, slot) in TABLE.iter().enumerate() {
        let module = match get(number) {
            Some(module) => module,
            None => {
                let candidate = match fresh {
                    Some(candidate) => candidate,
                    None => {
                        let module = Module {
                            name: keep_bytes(name)?,
                            path: keep_absolute(name)?,
                            build_id: keep_bytes(build_id)?,
                            bias,
                            start,
                            end,
                        };
                        *fresh.insert(allocate_module()?.write(module))
                    }
                };
                match slot.compare_exchange(null_mut(), candidate, Ordering::AcqRel, Ordering::Acquire) {
                    Ok(_) => {
                        COUNT.fetch_max(number as u32 + 1, Ordering::AcqRel);
                        return Some(number);
                    }
                    Err(_) => get(number)?,
                }
            }
        };
        if module.start == start
            && module.end == end
            && module.bias == bias
            && module.build_id == build_id
            && module.name == name
        {
            return Some(number);
        }
    }
    None
}

/// A copy of a path; made absolute by the current directory if it is a relative one.
fn keep_absolute(name: &[u8]) -> Option<&'static [u8]> {
    if name.first() == Some(&b'/') || !name.contains(&b'/') {
        return keep_bytes(name); // names without a slash are no files (the vdso)
    }
    let mut path = crate::note::Text::<4096>::new();
    let mut buffer = [0u8; 2048];
    if let Some(directory) = sys::current_directory(&mut buffer) {
        path.push(directory);
        path.push(b"/");
    }
    path.push(name.strip_prefix(b"./").unwrap_or(name));
    keep_bytes(path.as_bytes())
}

fn allocate_module() -> Option<&'static mut MaybeUninit<Module>> {
    use core::alloc::Layout;

    use allocator_api2::alloc::Allocator;
    let memory = crate::arena::Arena.allocate(Layout::new::<Module>()).ok()?;
    // SAFETY: fresh memory of the right size and alignment, never freed.
    Some(unsafe { memory.cast::<MaybeUninit<Module>>().as_mut() })
}

/// The GNU build-id of a loaded object (elf(5), `NT_GNU_BUILD_ID`); empty where it has none.
///
/// # Safety
/// `start..end` is a loaded ELF object that stays loaded while the slice is used.
unsafe fn build_id<'a>(start: usize, end: usize, bias: usize) -> &'a [u8] {
    const PT_NOTE: u32 = 4;
    const NT_GNU_BUILD_ID: u32 = 3;
    // SAFETY: the first page of an object is mapped and readable, and holds the ELF header where the object
    // begins with file offset 0, which the magic number tells.
    let header = unsafe { core::slice::from_raw_parts(start as *const u8, 64) };
    if header[..4] != *b"\x7fELF" || header[4] != 2 {
        return &[];
    }
    let word = |at: usize, length: usize| {
        header[at..at + length].iter().rev().fold(0usize, |value, &byte| value << 8 | usize::from(byte))
    };
    let (table, size, count) = (word(32, 8), word(54, 2), word(56, 2));
    if size != 56 || table.saturating_add(size * count) > sys::PAGE.min(end - start) {
        return &[];
    }
    for index in 0..count {
        // SAFETY: the program headers lie on the first page, as was checked.
        let (kind, address, length, align) = unsafe {
            let entry = (start + table + index * size) as *const u8;
            (
                entry.cast::<u32>().read_unaligned(),
                entry.add(16).cast::<usize>().read_unaligned(),
                entry.add(40).cast::<usize>().read_unaligned(),
                entry.add(48).cast::<usize>().read_unaligned(),
            )
        };
        let from = address.wrapping_add(bias);
        if kind != PT_NOTE || from < start || from > end || length > end - from {
            continue;
        }
        // SAFETY: a note segment of a loaded object is part of a loaded segment.
        let notes = unsafe { core::slice::from_raw_parts(from as *const u8, length) };
        let padding = if align == 8 { 8 } else { 4 };
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
    fn own_code_lies_in_a_module_with_unwind_information() {
        let here = own_code_lies_in_a_module_with_unwind_information as *const () as usize;
        let found = find(here).unwrap();
        assert!(found.start <= here && here < found.end);
        assert_ne!(found.eh_frame_hdr, 0);
        let again = find(here + 1).unwrap();
        assert_eq!(found.space, again.space);
        let module = get(usize::from(found.space - SPACE_MODULES)).unwrap();
        assert_eq!(module.start, found.start);
    }

    #[test]
    fn the_stack_lies_in_no_module() {
        let local = 0;
        assert!(find(&raw const local as usize).is_none());
    }

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
