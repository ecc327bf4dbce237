//! The dynamic symbol table of a loaded object (System V ABI, chapter 5; the hash table is GNU's).

use core::ffi::{CStr, c_char, c_int, c_void};

/// `struct link_map` of `<link.h>`.
#[repr(C)]
struct LinkMap {
    bias: usize,
    name: *const c_char,
    dynamic: *const [usize; 2],
}

/// `Elf64_Sym`.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct Symbol {
    name: u32,
    info: u8,
    other: u8,
    section: u16,
    /// Address, less the object's bias.
    pub value: usize,
    size: u64,
}

/// The table of an object that stays loaded.
#[derive(Debug, Clone, Copy)]
pub struct Table {
    /// Run-time address − address in the file.
    pub bias: usize,
    symbols: *mut Symbol,
    names: *const c_char,
    hash: *const u32,
}

unsafe extern "C" {
    fn dladdr1(
        address: *const c_void,
        info: *mut libc::Dl_info,
        extra: *mut *mut c_void,
        flags: c_int,
    ) -> c_int;
}

impl Table {
    /// The table of the object that an address lies in. Takes the loader's lock.
    ///
    /// # Safety
    /// The object stays loaded.
    pub unsafe fn of(address: usize) -> Option<Table> {
        const LINK_MAP: c_int = 2;
        let mut info = core::mem::MaybeUninit::<libc::Dl_info>::uninit();
        let mut map: *mut c_void = core::ptr::null_mut();
        // SAFETY: dladdr1(3) fills in both; the map and the dynamic section that it points to are the object's.
        unsafe {
            if dladdr1(address as *const c_void, info.as_mut_ptr(), &raw mut map, LINK_MAP) == 0 {
                return None;
            }
            let map = map.cast::<LinkMap>().as_ref()?;
            Table::read(map.bias, map.dynamic)
        }
    }

    /// # Safety
    /// The dynamic section is that of a loaded object.
    unsafe fn read(bias: usize, mut dynamic: *const [usize; 2]) -> Option<Table> {
        const END: usize = 0;
        const STRTAB: usize = 5;
        const SYMTAB: usize = 6;
        const GNU_HASH: usize = 0x6fff_fef5;
        let (mut symbols, mut names, mut hash) = (0, 0, 0);
        loop {
            // SAFETY: the section ends with an entry of kind `END`.
            let [tag, value] = unsafe { *dynamic };
            // The loader has added the bias, but where it may not write to the section.
            let address = if value < bias { value + bias } else { value };
            match tag {
                STRTAB => names = address,
                SYMTAB => symbols = address,
                GNU_HASH => hash = address,
                END => break,
                _ => {}
            }
            // SAFETY: as above.
            dynamic = unsafe { dynamic.add(1) };
        }
        (symbols != 0 && names != 0 && hash != 0).then_some(Table {
            bias,
            symbols: symbols as *mut Symbol,
            names: names as *const c_char,
            hash: hash as *const u32,
        })
    }

    /// All definitions of a name, one a version.
    pub fn definitions<'a>(&self, name: &'a CStr) -> impl Iterator<Item = *mut Symbol> + use<'a> {
        let hash = gnu_hash(name.to_bytes());
        // SAFETY: the header of the hash table, whose parts follow each other.
        let (buckets, chains, first, count) = unsafe {
            let [count, first, filter_words] = [0, 1, 2].map(|index| *self.hash.add(index));
            let buckets = self.hash.add(4 + 2 * filter_words as usize);
            (buckets, buckets.add(count as usize), first, count)
        };
        // SAFETY: the bucket of the hash.
        let mut index = if count == 0 { 0 } else { unsafe { *buckets.add((hash % count) as usize) } };
        let (table, wanted) = (*self, name);
        core::iter::from_fn(move || {
            while index >= first && index != 0 {
                // SAFETY: a chain goes on up to a hash whose lowest bit is set; its symbols have names.
                let (symbol, known, name) = unsafe {
                    let symbol = table.symbols.add(index as usize);
                    let known = *chains.add((index - first) as usize);
                    (symbol, known, CStr::from_ptr(table.names.add((*symbol).name as usize)))
                };
                index = if known & 1 != 0 { 0 } else { index + 1 };
                // SAFETY: as above.
                let is_defined = unsafe { (*symbol).section } != 0;
                if known | 1 == hash | 1 && is_defined && wanted == name {
                    return Some(symbol);
                }
            }
            None
        })
    }
}

fn gnu_hash(name: &[u8]) -> u32 {
    name.iter().fold(5381, |hash, &byte| hash.wrapping_mul(33).wrapping_add(byte.into()))
}
