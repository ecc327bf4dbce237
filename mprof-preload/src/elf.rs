//! Loaded objects: what their dynamic sections say (System V ABI, chapter 5), to find functions in them and to have
//! their calls come to us.
//!
//! Functions that belong to one library only (a Lisp system's) are not interposed by exporting their names: programs
//! probe for libraries by such names, and would find ours where there is no such library. Instead the slots through
//! which loaded objects call them are changed, where the library is loaded. In other programs nothing changes at all.

use core::ffi::{CStr, c_int, c_void};
use core::mem::size_of;
use core::ops::Range;

use mprof_core::sys::PAGE;

const PT_LOAD: u32 = 1;
const PT_DYNAMIC: u32 = 2;
const PT_GNU_RELRO: u32 = 0x6474_e552;
const DT_PLTRELSZ: i64 = 2;
const DT_STRTAB: i64 = 5;
const DT_SYMTAB: i64 = 6;
const DT_RELA: i64 = 7;
const DT_RELASZ: i64 = 8;
const DT_JMPREL: i64 = 23;
const DT_GNU_HASH: i64 = 0x6fff_fef5;
const R_X86_64_GLOB_DAT: u64 = 6;
const R_X86_64_JUMP_SLOT: u64 = 7;

/// A function whose calls are to come to us.
#[derive(Debug, Clone, Copy)]
pub struct Redirection {
    /// Its name.
    pub name: &'static CStr,
    /// Where its calls are to go.
    pub hook: usize,
}

/// A loaded object, while it is visited.
#[derive(Debug)]
pub struct Object<'a> {
    /// Name as the loader has it; empty for the program itself.
    pub name: &'a [u8],
    /// Addresses from its first byte to the first after its last.
    pub range: Range<usize>,
    bias: usize,
    /// What the loader made unwritable after relocation.
    read_only: Range<usize>,
    dynamic: Dynamic,
}

/// Tables that a dynamic section names; addresses are 0 where there is no such table.
#[derive(Debug, Clone, Copy, Default)]
struct Dynamic {
    strings: usize,
    symbols: usize,
    hash: usize,
    relocations: usize,
    relocations_size: usize,
    calls: usize,
    calls_size: usize,
}

/// `Elf64_Sym`.
#[repr(C)]
struct Symbol {
    name: u32,
    info: u8,
    other: u8,
    section: u16,
    value: usize,
    size: u64,
}

/// `Elf64_Rela`.
#[repr(C)]
struct Relocation {
    offset: usize,
    info: u64,
    addend: i64,
}

/// Visits all loaded objects. Not from within a hook of an allocation: the loader's lock is taken.
pub fn each(visit: &mut dyn FnMut(&Object<'_>)) {
    unsafe extern "C" fn one(info: *mut libc::dl_phdr_info, _: usize, visit: *mut c_void) -> c_int {
        // SAFETY: the loader gives the object's facts, and `each` the visitor.
        let (info, visit) = unsafe { (&*info, &mut *visit.cast::<&mut dyn FnMut(&Object<'_>)>()) };
        if let Some(object) = Object::of(info) {
            visit(&object);
        }
        0
    }
    let mut visit = visit;
    #[allow(clippy::disallowed_methods)] // no hook of an allocation is on the stack
    // SAFETY: the function gets what it expects, during this call only.
    unsafe {
        libc::dl_iterate_phdr(Some(one), (&raw mut visit).cast());
    }
}

/// How many objects have been loaded so far.
pub fn loaded() -> u64 {
    unsafe extern "C" fn first(info: *mut libc::dl_phdr_info, _: usize, count: *mut c_void) -> c_int {
        // SAFETY: as in `each`.
        unsafe { *count.cast::<u64>() = (*info).dlpi_adds };
        1
    }
    let mut count = 0u64;
    #[allow(clippy::disallowed_methods)] // as above
    // SAFETY: as in `each`.
    unsafe {
        libc::dl_iterate_phdr(Some(first), (&raw mut count).cast());
    }
    count
}

impl<'a> Object<'a> {
    fn of(info: &'a libc::dl_phdr_info) -> Option<Object<'a>> {
        // SAFETY: the loader's name is a string or null, its headers are as many as it says.
        let (name, headers) = unsafe {
            let name =
                if info.dlpi_name.is_null() { &b""[..] } else { CStr::from_ptr(info.dlpi_name).to_bytes() };
            (name, core::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into()))
        };
        let bias = info.dlpi_addr as usize;
        let address = |header: &libc::Elf64_Phdr| {
            let start = bias.wrapping_add(header.p_vaddr as usize);
            start..start + header.p_memsz as usize
        };
        let segments = headers.iter().filter(|header| header.p_type == PT_LOAD).map(address);
        let range = segments.reduce(|a, b| a.start.min(b.start)..a.end.max(b.end))?;
        let of_type = |kind| headers.iter().find(|header| header.p_type == kind).map(address);
        let dynamic = of_type(PT_DYNAMIC)?;
        // The loader protects whole pages only.
        let whole_pages = |range: Range<usize>| range.start & !(PAGE - 1)..range.end & !(PAGE - 1);
        let read_only = of_type(PT_GNU_RELRO).map(whole_pages).unwrap_or_default();
        if name.starts_with(b"linux-vdso") || !range.contains(&dynamic.start) {
            return None;
        }
        // SAFETY: the section is part of the loaded object.
        let dynamic = unsafe { Dynamic::read(dynamic.start as *const [i64; 2]) };
        Some(Object { name, range, bias, read_only, dynamic })
    }

    /// Name of its file, without folder.
    pub fn file_name(&self) -> &'a [u8] {
        self.name.rsplit(|&byte| byte == b'/').next().unwrap_or(self.name)
    }

    fn symbol(&self, index: usize) -> &Symbol {
        // SAFETY: the caller has the index from a table of the object's.
        unsafe { &*(self.dynamic.symbols as *const Symbol).add(index) }
    }

    fn name_of(&self, symbol: &Symbol) -> &CStr {
        // SAFETY: the object's string table has the names of its symbols.
        unsafe { CStr::from_ptr((self.dynamic.strings + symbol.name as usize) as *const _) }
    }

    /// Address of a function that the object defines, by its GNU hash table.
    pub fn find(&self, name: &CStr) -> Option<usize> {
        if self.dynamic.hash == 0 || self.dynamic.symbols == 0 || self.dynamic.strings == 0 {
            return None;
        }
        // SAFETY: the table has four words, then so many words of its filter, so many buckets, and a chain for each
        // symbol from the first hashed one on. The loader has relied upon it before us.
        unsafe {
            let table = self.dynamic.hash as *const u32;
            let [buckets, first, filter, _] = *table.cast::<[u32; 4]>();
            if buckets == 0 {
                return None;
            }
            let heads = table.add(4 + 2 * filter as usize);
            let chains = heads.add(buckets as usize);
            let hash = gnu_hash(name.to_bytes());
            let mut index = *heads.add((hash % buckets) as usize);
            while index >= first {
                let chain = *chains.add((index - first) as usize);
                let symbol = self.symbol(index as usize);
                if chain | 1 == hash | 1 && symbol.section != 0 && self.name_of(symbol) == name {
                    return Some(self.bias.wrapping_add(symbol.value));
                }
                if chain & 1 == 1 {
                    return None;
                }
                index += 1;
            }
        }
        None
    }

    /// Whether the object calls a function, or takes its address, so that this can be redirected.
    pub fn calls(&self, name: &CStr) -> bool {
        self.slots().any(|(of, _)| of == name)
    }

    /// Has the object's calls of these functions come to us.
    pub fn redirect(&self, redirections: &[Redirection]) {
        for (name, slot) in self.slots() {
            if let Some(redirection) = redirections.iter().find(|redirection| redirection.name == name) {
                self.write(slot, redirection.hook);
            }
        }
    }

    /// The slots for addresses of functions that are found by name: name and address of the slot.
    fn slots(&self) -> impl Iterator<Item = (&CStr, usize)> {
        let Dynamic { relocations, relocations_size, calls, calls_size, symbols, strings, .. } = self.dynamic;
        let tables = [(calls, calls_size), (relocations, relocations_size)];
        let all = tables.into_iter().flat_map(|(table, size)| {
            let count = if table == 0 { 0 } else { size / size_of::<Relocation>() };
            // SAFETY: the object's own table, of this length.
            (0..count).map(move |index| unsafe { &*(table as *const Relocation).add(index) })
        });
        let has_names = symbols != 0 && strings != 0;
        all.filter(move |_| has_names).filter_map(|relocation| self.slot(relocation))
    }

    fn slot(&self, relocation: &Relocation) -> Option<(&CStr, usize)> {
        let symbol = (relocation.info >> 32) as usize;
        if symbol == 0 || !matches!(relocation.info & 0xffff_ffff, R_X86_64_JUMP_SLOT | R_X86_64_GLOB_DAT) {
            return None;
        }
        let slot = self.bias.wrapping_add(relocation.offset);
        let is_sound = self.range.contains(&slot) && slot.is_multiple_of(size_of::<usize>());
        is_sound.then(|| (self.name_of(self.symbol(symbol)), slot))
    }

    /// Writes a word of the object, which is a slot for an address.
    fn write(&self, slot: usize, value: usize) {
        let page = (slot & !(PAGE - 1)) as *mut c_void;
        let is_read_only = self.read_only.contains(&slot);
        // SAFETY: the page is the object's; it is made writable for a moment, where it is not, and then again what the
        // loader had made of it. The slot is aligned, and others who read it find the old or the new address.
        unsafe {
            if is_read_only && libc::mprotect(page, PAGE, libc::PROT_READ | libc::PROT_WRITE) != 0 {
                return;
            }
            core::sync::atomic::AtomicUsize::from_ptr(slot as *mut usize)
                .store(value, core::sync::atomic::Ordering::Release);
            if is_read_only {
                libc::mprotect(page, PAGE, libc::PROT_READ);
            }
        }
    }
}

impl Dynamic {
    /// # Safety
    /// The section is that of a loaded object, in which the loader has replaced offsets by addresses.
    unsafe fn read(mut entry: *const [i64; 2]) -> Dynamic {
        let mut tables = Dynamic::default();
        loop {
            // SAFETY: the section ends with an entry of tag 0.
            let [tag, value] = unsafe { *entry };
            let place = match tag {
                0 => return tables,
                DT_STRTAB => &mut tables.strings,
                DT_SYMTAB => &mut tables.symbols,
                DT_GNU_HASH => &mut tables.hash,
                DT_RELA => &mut tables.relocations,
                DT_RELASZ => &mut tables.relocations_size,
                DT_JMPREL => &mut tables.calls,
                DT_PLTRELSZ => &mut tables.calls_size,
                _ => &mut 0,
            };
            *place = value as usize;
            // SAFETY: as above.
            entry = unsafe { entry.add(1) };
        }
    }
}

/// The hash of GNU hash tables.
fn gnu_hash(name: &[u8]) -> u32 {
    name.iter().fold(5381, |hash: u32, &byte| hash.wrapping_mul(33).wrapping_add(byte.into()))
}
