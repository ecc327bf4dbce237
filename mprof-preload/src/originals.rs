//! The functions behind us: the next definitions in the loader's order, which may be another preloaded library's,
//! those of an allocator that the program is linked with, or the C library's.

use core::ffi::{CStr, c_int, c_long, c_void};
use core::mem::transmute;
use core::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

use mprof_core::sys;

use crate::startup;

/// A function that is found at the first need.
#[derive(Debug)]
#[repr(transparent)]
pub struct Original(AtomicPtr<c_void>);

impl Original {
    const fn new() -> Original {
        Original(AtomicPtr::new(core::ptr::null_mut()))
    }

    #[inline(always)]
    fn get(&self) -> *mut c_void {
        self.0.load(Ordering::Relaxed)
    }
}

macro_rules! originals {
    ($($(#[$doc:meta])* $name:ident: fn($($argument:ty),*) $(-> $result:ty)?;)+) => {
        /// Their addresses; null before [`find`] and for those that do not exist.
        #[allow(non_upper_case_globals)]
        pub mod address {
            $($(#[$doc])* pub static $name: super::Original = super::Original::new();)+
        }

        $(
            $(#[$doc])*
            #[inline(always)]
            #[allow(dead_code, non_snake_case)] // some are only jumped to
            pub fn $name() -> Option<unsafe extern "C" fn($($argument),*) $(-> $result)?> {
                let address = address::$name.get();
                // SAFETY: a non-null address is that of the function of this name, which has this type.
                (!address.is_null()).then(|| unsafe { transmute(address) })
            }
        )+

        fn look_up_all() {
            $(look_up(&address::$name, concat!(stringify!($name), "\0"));)+

        }
    };
}

type Pointer = *mut c_void;
type Strings = *const *const core::ffi::c_char;
type Text = *const core::ffi::c_char;

originals! {
    /// malloc(3).
    malloc: fn(usize) -> Pointer;
    /// glibc's malloc, by the name that other allocators do not have.
    __libc_malloc: fn(usize) -> Pointer;
    /// calloc(3).
    calloc: fn(usize, usize) -> Pointer;
    /// realloc(3).
    realloc: fn(Pointer, usize) -> Pointer;
    /// free(3).
    free: fn(Pointer);
    /// posix_memalign(3).
    posix_memalign: fn(*mut Pointer, usize, usize) -> c_int;
    /// aligned_alloc(3).
    aligned_alloc: fn(usize, usize) -> Pointer;
    /// memalign(3).
    memalign: fn(usize, usize) -> Pointer;
    /// valloc(3).
    valloc: fn(usize) -> Pointer;
    /// pvalloc(3).
    pvalloc: fn(usize) -> Pointer;
    /// malloc_usable_size(3).
    malloc_usable_size: fn(Pointer) -> usize;
    /// _exit(2).
    _exit: fn(c_int) -> !;
    /// quick_exit(3).
    quick_exit: fn(c_int) -> !;
    /// abort(3).
    abort: fn() -> !;
    /// dlopen(3).
    dlopen: fn();
    /// dlmopen(3).
    dlmopen: fn();
    /// dlclose(3).
    dlclose: fn(Pointer) -> c_int;
    /// execv(3).
    execv: fn();
    /// execvp(3).
    execvp: fn();
    /// execl(3).
    execl: fn();
    /// execlp(3).
    execlp: fn();
    /// execve(2).
    execve: fn(Text, Strings, Strings) -> c_int;
    /// execvpe(3).
    execvpe: fn(Text, Strings, Strings) -> c_int;
    /// fexecve(3).
    fexecve: fn(c_int, Strings, Strings) -> c_int;
    /// execveat(2).
    execveat: fn(c_int, Text, Strings, Strings, c_int) -> c_int;
    /// posix_spawn(3).
    posix_spawn: fn(Pointer, Text, Pointer, Pointer, Strings, Strings) -> c_int;
    /// posix_spawnp(3).
    posix_spawnp: fn(Pointer, Text, Pointer, Pointer, Strings, Strings) -> c_int;
    /// sigaction(2).
    sigaction: fn(c_int, *const libc::sigaction, *mut libc::sigaction) -> c_int;
    /// signal(2).
    signal: fn(c_int, libc::sighandler_t) -> libc::sighandler_t;
    /// bsd_signal(3).
    bsd_signal: fn(c_int, libc::sighandler_t) -> libc::sighandler_t;
    /// ssignal(3).
    ssignal: fn(c_int, libc::sighandler_t) -> libc::sighandler_t;
    /// sysv_signal(3).
    sysv_signal: fn(c_int, libc::sighandler_t) -> libc::sighandler_t;
    /// sysv_signal(3).
    __sysv_signal: fn(c_int, libc::sighandler_t) -> libc::sighandler_t;
    /// sigset(3).
    sigset: fn(c_int, libc::sighandler_t) -> libc::sighandler_t;
    /// prctl(2).
    prctl: fn(c_int, c_long, c_long, c_long, c_long) -> c_int;
    /// syscall(2).
    syscall: fn(c_long, c_long, c_long, c_long, c_long, c_long, c_long) -> c_long;
    /// __assert_fail (LSB): where a failed assert(3) ends.
    __assert_fail: fn();
    /// __assert_perror_fail: where a failed assert_perror(3) ends.
    __assert_perror_fail: fn();
    /// __assert: as __assert_fail.
    __assert: fn();
    /// iconv_open(3).
    iconv_open: fn();
    /// dlsym(3).
    dlsym: fn(Pointer, Text) -> Pointer;
    /// Where a program's entry point goes.
    __libc_start_main: fn();
}

const UNSOUGHT: u32 = 0;
const FOUND: u32 = u32::MAX;
/// [`UNSOUGHT`], the id of the thread that is looking, or [`FOUND`].
static STATE: AtomicU32 = AtomicU32::new(UNSOUGHT);

fn look_up(original: &Original, name: &str) {
    let Ok(name) = CStr::from_bytes_with_nul(name.as_bytes()) else { return };
    original.0.store(next(name), Ordering::Release);
}

/// The next definition of a name; null where there is none.
pub fn next(name: &CStr) -> Pointer {
    // Our own `dlsym` stands before the real one; `dlvsym` does not.
    // SAFETY: dlvsym(3) and dlsym(3) with valid names. They may allocate: then the hook sees that we are looking,
    // and serves it from the bootstrap memory.
    unsafe {
        if dlsym().is_none() {
            let real = libc::dlvsym(libc::RTLD_NEXT, c"dlsym".as_ptr(), c"GLIBC_2.2.5".as_ptr());
            address::dlsym.0.store(real, Ordering::Release);
        }
        dlsym().map_or(core::ptr::null_mut(), |real| real(libc::RTLD_NEXT, name.as_ptr()))
    }
}

/// Where an original is; null before [`find`], and if there is none.
pub fn at(original: &Original) -> usize {
    original.get() as usize
}

/// Whether the originals are known; looks for them at the first call. False in the calls that this search itself
/// brings about, and in other threads while it goes on.
#[cold]
#[inline(never)]
pub fn find() -> bool {
    match STATE.compare_exchange(UNSOUGHT, sys::thread_id(), Ordering::AcqRel, Ordering::Acquire) {
        Ok(_) => {
            startup::before_first_event();
            look_up_all();
            STATE.store(FOUND, Ordering::Release);
            true
        }
        Err(state) => state == FOUND,
    }
}

/// Bytes of a block of the real allocator that can be used; 0 where it does not say.
pub fn usable_size(block: *mut u8) -> usize {
    // SAFETY: the real allocator is asked about a block that it gave just now.
    malloc_usable_size().map_or(0, |usable| unsafe { usable(block.cast()) })
}
