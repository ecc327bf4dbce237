//! The loaded objects that frames lie in.
//!
//! An object is found by `_dl_find_object` (glibc 2.35 and later), which takes no lock and allocates nothing, so
//! it may be called while another thread is inside the dynamic loader. What a profile must say about an object
//! (path, build-id, addresses) is copied the first time a frame in it is seen: at exit it may be unloaded.

use core::arch::global_asm;
use core::ffi::{CStr, c_char, c_int, c_void};
use core::mem::MaybeUninit;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use crate::arena::keep_bytes;
use crate::elf_image;
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

/// An address within the monitor's library; 0 where it is no library of its own.
static MONITOR: AtomicUsize = AtomicUsize::new(0);

/// Says in which library the monitor is, by an address in it.
pub fn set_monitor(address: usize) {
    MONITOR.store(address, Ordering::Relaxed);
}

impl Module {
    /// Whether it is the monitor's library: a call that the monitor passes on may leave a frame in it.
    pub fn is_monitor(&self) -> bool {
        (self.start..self.end).contains(&MONITOR.load(Ordering::Relaxed))
    }
}

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

/// The modules seen so far, by number: a slot of the table is filled when those before it are.
pub fn all() -> impl Iterator<Item = &'static Module> {
    (0..MODULES).map_while(get)
}

fn look_up(address: usize) -> Option<DlFindObject> {
    let mut object = MaybeUninit::<DlFindObject>::zeroed();
    let find_object = find_object()?;
    // SAFETY: the function fills in the structure and reads nothing else of ours.
    unsafe { (find_object(address as *mut c_void, object.as_mut_ptr()) == 0).then(|| object.assume_init()) }
}

/// Whether an address lies in a loaded object. It may be any number: the object may be unloaded at any time.
pub fn contains(address: usize) -> bool {
    look_up(address).is_some()
}

/// The addresses of the loaded object that `address` lies in; none where it lies in none.
pub fn range(address: usize) -> core::ops::Range<usize> {
    look_up(address).map_or(0..0, |object| object.map_start as usize..object.map_end as usize)
}

/// The object that `address` lies in, which is code on the call chain.
pub fn find(address: usize) -> Option<Found> {
    let object = look_up(address)?;
    // SAFETY: the object holds code that is on our call chain, so it and its link map stay.
    let (bias, name) = unsafe {
        let map = &*object.link_map;
        (map.bias, if map.name.is_null() { &[][..] } else { CStr::from_ptr(map.name).to_bytes() })
    };
    let (start, end) = (object.map_start as usize, object.map_end as usize);
    // SAFETY: as above.
    let build_id = unsafe { elf_image::build_id(start, end, bias) };
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
                            path: keep_absolute(name, start)?,
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
                        forget_what_it_replaced(start, end, number);
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

/// Where a module lies in the place of an earlier one, that one was unloaded, and perhaps by no call that we see
/// (the C library unloads character conversions by itself).
fn forget_what_it_replaced(start: usize, end: usize, number: usize) {
    let replaces =
        |(other, module): (usize, &Module)| other != number && module.start < end && start < module.end;
    if all().enumerate().any(replaces) {
        crate::process::step_generation();
    }
}

/// A copy of a path. A relative one is made absolute: as the kernel knows the file, else by the current directory.
fn keep_absolute(name: &[u8], start: usize) -> Option<&'static [u8]> {
    if name.first() == Some(&b'/') || !name.contains(&b'/') {
        return keep_bytes(name); // names without a slash are no files (the vdso)
    }
    crate::maps::with_path(start, keep_bytes).flatten().or_else(|| {
        let mut path = crate::note::Text::<1024>::new();
        let mut buffer = [0u8; 1024];
        if let Some(directory) = sys::current_directory(&mut buffer) {
            path.push(directory);
            path.push(b"/");
        }
        path.push(name.strip_prefix(b"./").unwrap_or(name));
        keep_bytes(path.as_bytes())
    })
}

fn allocate_module() -> Option<&'static mut MaybeUninit<Module>> {
    use core::alloc::Layout;

    use allocator_api2::alloc::Allocator;
    let memory = crate::arena::Arena.allocate(Layout::new::<Module>()).ok()?;
    // SAFETY: fresh memory of the right size and alignment, never freed.
    Some(unsafe { memory.cast::<MaybeUninit<Module>>().as_mut() })
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
}
