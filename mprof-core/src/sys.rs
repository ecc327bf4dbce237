//! The kernel, called directly.
//!
//! Nothing here goes through libc: libc's wrappers may be interposed, set `errno`, be cancellation points or not
//! be initialised yet. Errors come back as positive numbers of `errno.h`; no function sets `errno`.

use core::arch::asm;

use crate::own_memory;
use crate::seccomp::{self, Call, Verdict};

#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
compile_error!("mprof's monitor is written for x86-64 Linux");

/// An error number of `errno.h`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Errno(pub i32);

/// No such process or thread.
pub const ESRCH: Errno = Errno(3);
/// No such file or directory.
pub const ENOENT: Errno = Errno(2);
/// Part of a path is no folder.
pub const ENOTDIR: Errno = Errno(20);
/// Too many open files.
pub const EMFILE: Errno = Errno(24);
/// Interrupted system call.
pub const EINTR: Errno = Errno(4);
/// File exists.
pub const EEXIST: Errno = Errno(17);

/// A filter of the program's forbids the call, which was not made. No number of the kernel's.
pub const FORBIDDEN: Errno = Errno(4096);

/// Length of a page, bytes.
pub const PAGE: usize = 4096;

const NR_WRITE: usize = 1;
const NR_CLOSE: usize = 3;
const NR_FSTAT: usize = 5;
const NR_MMAP: usize = 9;
const NR_MUNMAP: usize = 11;
const NR_RT_SIGPROCMASK: usize = 14;
const NR_MADVISE: usize = 28;
const NR_NANOSLEEP: usize = 35;
const NR_GETPID: usize = 39;
const NR_READ: usize = 0;
const NR_RENAME: usize = 82;
const NR_UNLINK: usize = 87;
const NR_READLINK: usize = 89;
const NR_PRCTL: usize = 157;
const NR_GETTID: usize = 186;
const NR_CLOCK_GETTIME: usize = 228;
const NR_OPENAT: usize = 257;
const NR_GETRANDOM: usize = 318;
const NR_MEMBARRIER: usize = 324;
const NR_GETCWD: usize = 79;

/// # Safety
/// The arguments must be what system call `number` takes, and every pointer among them valid for what it does.
#[inline(always)]
pub(crate) unsafe fn syscall(number: usize, args: [usize; 6]) -> Result<usize, Errno> {
    if seccomp::is_in_force() && !seccomp::permits(number, args) {
        return Err(FORBIDDEN);
    }
    // SAFETY: as the caller vouches.
    unsafe { syscall_unasked(number, args) }
}

/// [`syscall`] that no filter was asked about.
#[inline(always)]
unsafe fn syscall_unasked(number: usize, args: [usize; 6]) -> Result<usize, Errno> {
    let result: isize;
    // SAFETY: the kernel's calling convention (syscall(2), x86-64): rcx and r11 are clobbered, nothing else but
    // what the call itself writes, for which the caller vouches.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") number as isize => result,
            in("rdi") args[0],
            in("rsi") args[1],
            in("rdx") args[2],
            in("r10") args[3],
            in("r8") args[4],
            in("r9") args[5],
            lateout("rcx") _,
            lateout("r11") _,
            options(nostack),
        );
    }
    if (-4095..0).contains(&result) { Err(Errno(-result as i32)) } else { Ok(result as usize) }
}

/// Maps `length` bytes (a multiple of [`PAGE`]) of fresh zeroed memory, readable and writable.
pub fn map(length: usize) -> Option<*mut u8> {
    map_unnoted(length).inspect(|&start| own_memory::note(start as usize, length))
}

/// [`map`] without a note that the memory is ours.
pub(crate) fn map_unnoted(length: usize) -> Option<*mut u8> {
    const READ_WRITE: usize = 3;
    const PRIVATE_ANONYMOUS_NORESERVE: usize = 0x2 | 0x20 | 0x4000;
    // SAFETY: an anonymous mapping at an address of the kernel's choice touches no existing memory.
    unsafe { syscall(NR_MMAP, [0, length, READ_WRITE, PRIVATE_ANONYMOUS_NORESERVE, usize::MAX, 0]) }
        .ok()
        .map(|address| address as *mut u8)
}

/// Unmaps what [`map`] gave.
///
/// # Safety
/// `start` and `length` are a whole mapping of [`map`] that nothing refers to any more.
pub unsafe fn unmap(start: *mut u8, length: usize) {
    own_memory::forget(start as usize);
    // SAFETY: as the caller vouches.
    unsafe { unmap_unnoted(start, length) };
}

/// Unmaps what [`map_unnoted`] gave.
///
/// # Safety
/// As for [`unmap`].
pub(crate) unsafe fn unmap_unnoted(start: *mut u8, length: usize) {
    // SAFETY: the caller gives up the mapping.
    let _ = unsafe { syscall(NR_MUNMAP, [start as usize, length, 0, 0, 0, 0]) };
}

/// Asks that children see zeros in this mapping (madvise(2), `MADV_WIPEONFORK`). False on kernels before 4.14.
///
/// # Safety
/// `start` and `length` are whole pages of private anonymous memory of ours.
pub unsafe fn wipe_on_fork(start: *mut u8, length: usize) -> bool {
    const WIPEONFORK: usize = 18;
    // SAFETY: changes only what a future child sees of our own pages.
    unsafe { syscall(NR_MADVISE, [start as usize, length, WIPEONFORK, 0, 0, 0]) }.is_ok()
}

/// Writes to a descriptor; returns the bytes written, which may be fewer than asked for.
pub fn write(descriptor: i32, bytes: &[u8]) -> Result<usize, Errno> {
    // SAFETY: the kernel only reads from the slice.
    unsafe { syscall(NR_WRITE, [descriptor as usize, bytes.as_ptr() as usize, bytes.len(), 0, 0, 0]) }
}

/// Reads from a descriptor; returns the bytes read, 0 at the end.
pub fn read(descriptor: i32, bytes: &mut [u8]) -> Result<usize, Errno> {
    // SAFETY: the kernel writes at most the slice's length into it.
    unsafe { syscall(NR_READ, [descriptor as usize, bytes.as_mut_ptr() as usize, bytes.len(), 0, 0, 0]) }
}

/// Closes a descriptor.
pub fn close(descriptor: i32) {
    // SAFETY: takes no pointer.
    let _ = unsafe { syscall(NR_CLOSE, [descriptor as usize, 0, 0, 0, 0, 0]) };
}

/// A path that ends in a NUL byte.
pub type CPath<'a> = &'a core::ffi::CStr;

const AT_FDCWD: usize = -100isize as usize;
const O_CLOEXEC: usize = 0o2000000;
const O_NOFOLLOW: usize = 0o400000;

const CREATE: usize = 0o1 | 0o100 | 0o200 | O_NOFOLLOW | O_CLOEXEC; // O_WRONLY | O_CREAT | O_EXCL

/// Opens a file for reading.
pub fn open_read(path: CPath<'_>) -> Result<i32, Errno> {
    // SAFETY: the path is a valid C string.
    unsafe { syscall(NR_OPENAT, [AT_FDCWD, path.as_ptr() as usize, O_CLOEXEC, 0, 0, 0]) }.map(|fd| fd as i32)
}

/// Creates a file that did not exist before, for writing (mode 0666 less the umask), following no symbolic link.
pub fn create_new(path: CPath<'_>) -> Result<i32, Errno> {
    // SAFETY: the path is a valid C string.
    unsafe { syscall(NR_OPENAT, [AT_FDCWD, path.as_ptr() as usize, CREATE, 0o666, 0, 0]) }.map(|fd| fd as i32)
}

/// Renames a file, replacing what bears the new name.
pub fn rename(from: CPath<'_>, to: CPath<'_>) -> Result<(), Errno> {
    // SAFETY: both paths are valid C strings.
    unsafe { syscall(NR_RENAME, [from.as_ptr() as usize, to.as_ptr() as usize, 0, 0, 0, 0]) }.map(drop)
}

/// Removes a file.
pub fn unlink(path: CPath<'_>) -> Result<(), Errno> {
    // SAFETY: the path is a valid C string.
    unsafe { syscall(NR_UNLINK, [path.as_ptr() as usize, 0, 0, 0, 0, 0]) }.map(drop)
}

/// Reads a symbolic link; returns the part of `buffer` that it fills (cut where it is longer).
pub fn read_link<'a>(path: CPath<'_>, buffer: &'a mut [u8]) -> Result<&'a [u8], Errno> {
    // SAFETY: the path is a valid C string; the kernel writes at most the buffer's length.
    let length = unsafe {
        syscall(NR_READLINK, [path.as_ptr() as usize, buffer.as_mut_ptr() as usize, buffer.len(), 0, 0, 0])
    }?;
    Ok(&buffer[..length])
}

/// The current directory, without the NUL; `None` where it has none (removed, unreachable) or does not fit.
pub fn current_directory(buffer: &mut [u8]) -> Option<&[u8]> {
    // SAFETY: the kernel writes at most the buffer's length.
    let length =
        unsafe { syscall(NR_GETCWD, [buffer.as_mut_ptr() as usize, buffer.len(), 0, 0, 0, 0]) }.ok()?;
    let path = buffer.get(..length.checked_sub(1)?)?;
    (path.first() == Some(&b'/')).then_some(path)
}

/// Device and inode of an open file.
pub fn file_identity(descriptor: i32) -> Result<(u64, u64), Errno> {
    let mut stat = [0u64; 32];
    // SAFETY: struct stat is 144 bytes on x86-64, less than the array.
    unsafe { syscall(NR_FSTAT, [descriptor as usize, stat.as_mut_ptr() as usize, 0, 0, 0, 0]) }?;
    Ok((stat[0], stat[1]))
}

/// Process id.
pub fn process_id() -> u32 {
    // SAFETY: takes no pointer.
    unsafe { syscall(NR_GETPID, [0; 6]) }.map_or_else(|_| crate::process::id(), |id| id as u32)
}

/// Parent's process id.
pub fn parent_process_id() -> u32 {
    const NR_GETPPID: usize = 110;
    // SAFETY: takes no pointer.
    unsafe { syscall(NR_GETPPID, [0; 6]) }.unwrap_or(0) as u32
}

/// Thread id.
pub fn thread_id() -> u32 {
    // SAFETY: takes no pointer.
    unsafe { syscall(NR_GETTID, [0; 6]) }.map_or_else(|_| crate::process::id(), |id| id as u32)
}

/// Whether the calling thread is under a seccomp filter. True where the kernel may not be asked.
pub fn is_filtered() -> bool {
    const GET_SECCOMP: usize = 21;
    let arguments = [GET_SECCOMP, 0, 0, 0, 0, 0];
    if seccomp::verdict(NR_PRCTL, arguments) != Verdict::Allowed {
        return true;
    }
    // SAFETY: takes no pointer.
    let mode = unsafe { syscall_unasked(NR_PRCTL, arguments) };
    mode != Ok(0)
}

/// Whether the present filters, and `more`, let a file be written as [`create_new`] and what follows does it.
pub fn may_write_file(more: &seccomp::Filter) -> bool {
    let buffer = 0u8;
    let address = &raw const buffer as usize;
    let calls = [
        (NR_OPENAT, [AT_FDCWD, address, CREATE, 0o666, 0, 0]),
        (NR_WRITE, [3, address, 1, 0, 0, 0]),
        (NR_CLOSE, [3, 0, 0, 0, 0, 0]),
        (NR_RENAME, [address, address, 0, 0, 0, 0]),
    ];
    calls.into_iter().all(|(number, arguments)| {
        seccomp::verdict(number, arguments) == Verdict::Allowed
            && more.verdict(&Call::new(number, arguments)) == Verdict::Allowed
    })
}

/// Whether the process has a thread of this id.
pub fn thread_exists(process: u32, thread: u32) -> bool {
    const NR_TGKILL: usize = 234;
    const ESRCH: Errno = Errno(3);
    // SAFETY: takes no pointer; signal 0 is sent to no one.
    let asked = unsafe { syscall(NR_TGKILL, [process as usize, thread as usize, 0, 0, 0, 0]) };
    asked != Err(ESRCH)
}

/// Name of the calling thread (prctl(2), `PR_GET_NAME`), NUL-padded.
pub fn thread_name() -> [u8; 16] {
    const GET_NAME: usize = 16;
    let mut name = [0u8; 16];
    // SAFETY: the kernel writes at most 16 bytes.
    let _ = unsafe { syscall(NR_PRCTL, [GET_NAME, name.as_mut_ptr() as usize, 0, 0, 0, 0]) };
    name
}

/// Clocks of clock_gettime(2).
#[derive(Debug, Clone, Copy)]
pub enum Clock {
    /// Since 1970.
    Realtime = 0,
    /// Since some fixed point; never steps.
    Monotonic = 1,
}

/// Nanoseconds on a clock.
pub fn nanoseconds(clock: Clock) -> u64 {
    let mut time = [0i64; 2];
    // SAFETY: struct timespec is two 64-bit integers.
    let _ = unsafe { syscall(NR_CLOCK_GETTIME, [clock as usize, time.as_mut_ptr() as usize, 0, 0, 0, 0]) };
    (time[0] as u64).wrapping_mul(1_000_000_000).wrapping_add(time[1] as u64)
}

/// Sleeps about so many microseconds (less when a signal comes).
pub fn sleep_microseconds(microseconds: u32) {
    let time = [i64::from(microseconds / 1_000_000), i64::from(microseconds % 1_000_000) * 1000];
    // SAFETY: the kernel reads one timespec.
    let _ = unsafe { syscall(NR_NANOSLEEP, [time.as_ptr() as usize, 0, 0, 0, 0, 0]) };
}

/// Fills a buffer with random bytes; false where the kernel has none to give yet.
pub fn random(buffer: &mut [u8]) -> bool {
    const NONBLOCK: usize = 1;
    // SAFETY: the kernel writes at most the buffer's length.
    let filled =
        unsafe { syscall(NR_GETRANDOM, [buffer.as_mut_ptr() as usize, buffer.len(), NONBLOCK, 0, 0, 0]) };
    filled == Ok(buffer.len())
}

/// Makes [`barrier_everywhere`] usable (membarrier(2)); false where the kernel refuses.
pub fn register_barrier() -> bool {
    const REGISTER_PRIVATE_EXPEDITED: usize = 1 << 4;
    // SAFETY: takes no pointer.
    unsafe { syscall(NR_MEMBARRIER, [REGISTER_PRIVATE_EXPEDITED, 0, 0, 0, 0, 0]) }.is_ok()
}

/// Makes every running thread of the process pass a full memory barrier.
pub fn barrier_everywhere() -> bool {
    const PRIVATE_EXPEDITED: usize = 1 << 3;
    // SAFETY: takes no pointer.
    unsafe { syscall(NR_MEMBARRIER, [PRIVATE_EXPEDITED, 0, 0, 0, 0, 0]) }.is_ok()
}

/// Ends the calling process, with no handlers run.
pub fn exit_process(status: i32) -> ! {
    const NR_EXIT_GROUP: usize = 231;
    loop {
        // SAFETY: takes no pointer.
        let _ = unsafe { syscall(NR_EXIT_GROUP, [status as usize, 0, 0, 0, 0, 0]) };
    }
}

/// Maps `length` bytes, the lowest page of which is out of reach.
pub fn map_guarded(length: usize) -> Option<*mut u8> {
    let memory = map(length)?;
    // SAFETY: the page is ours, and nothing refers to it.
    let _ = unsafe { syscall(NR_MPROTECT, [memory as usize, PAGE, 0, 0, 0, 0]) };
    Some(memory)
}

/// Writes a word that lies in memory which may not be written to, and makes that as it was. `rights`: those of the
/// memory (1 readable, 2 writable, 4 executable).
///
/// # Safety
/// The word is aligned, and whoever reads it may see the old value or the new; the memory has these rights.
pub unsafe fn overwrite(word: *mut usize, value: usize, rights: usize) -> bool {
    const WRITE: usize = 2;
    let page = word as usize & !(PAGE - 1);
    let protect = |rights| {
        // SAFETY: the page is mapped and loses none of its rights.
        unsafe { syscall(NR_MPROTECT, [page, PAGE, rights, 0, 0, 0]) }.is_ok()
    };
    if rights & WRITE == 0 && !protect(rights | WRITE) {
        return false;
    }
    // SAFETY: the caller vouches; the page can be written to.
    unsafe { word.write_volatile(value) };
    rights & WRITE != 0 || protect(rights)
}

const NR_MPROTECT: usize = 10;
const NR_SIGALTSTACK: usize = 131;
const DISABLED: usize = 2;

/// The calling thread's alternate signal stack as the kernel has it: address, flags, length.
fn alternate_stack() -> Option<[usize; 3]> {
    let mut old = [0usize; 3];
    // SAFETY: `stack_t` is 24 bytes.
    unsafe { syscall(NR_SIGALTSTACK, [0, old.as_mut_ptr() as usize, 0, 0, 0, 0]) }.ok().map(|_| old)
}

/// Whether the calling thread has an alternate signal stack. True where the kernel does not say.
pub fn has_alternate_stack() -> bool {
    alternate_stack().is_none_or(|[_, flags, _]| flags & DISABLED == 0)
}

/// Gives the calling thread an alternate signal stack.
///
/// # Safety
/// The memory is a stack's, and stays mapped until it is dropped.
pub unsafe fn set_alternate_stack(start: usize, length: usize) {
    let stack = [start, 0, length];
    // SAFETY: as the caller vouches.
    let _ = unsafe { syscall(NR_SIGALTSTACK, [stack.as_ptr() as usize, 0, 0, 0, 0, 0]) };
}

/// Takes the alternate stack that begins there away from the calling thread, if it has that one.
pub fn drop_alternate_stack(start: usize) {
    if alternate_stack().is_some_and(|[address, flags, _]| address == start && flags & DISABLED == 0) {
        let none = [0, DISABLED, 0];
        // SAFETY: the kernel reads 24 bytes.
        let _ = unsafe { syscall(NR_SIGALTSTACK, [none.as_ptr() as usize, 0, 0, 0, 0, 0]) };
    }
}

/// Sends the calling thread a signal with this information (`siginfo_t`), as if it came from where the information
/// says.
pub fn send_to_self(signal: u32, information: *const u8) -> bool {
    const NR_RT_TGSIGQUEUEINFO: usize = 297;
    let arguments =
        [process_id() as usize, thread_id() as usize, signal as usize, information as usize, 0, 0];
    // SAFETY: the kernel reads the information, 128 bytes that a handler was given.
    unsafe { syscall(NR_RT_TGSIGQUEUEINFO, arguments) }.is_ok()
}

/// Sends the calling thread a signal in 100 microseconds, by a timer that carries this value.
pub fn send_later(signal: u32, value: u64) -> bool {
    const NR_TIMER_CREATE: usize = 222;
    const NR_TIMER_SETTIME: usize = 223;
    const THREAD_ID: u64 = 4; // SIGEV_THREAD_ID
    // struct sigevent: value, signal, kind of notice, thread.
    let mut event = [0u64; 8];
    event[0] = value;
    event[1] = u64::from(signal) | THREAD_ID << 32;
    event[2] = u64::from(thread_id());
    let mut timer = 0i32;
    let when = [0i64, 0, 0, 100_000];
    // SAFETY: the kernel reads 64 bytes and writes 4; then it reads 32.
    unsafe {
        let create = [Clock::Monotonic as usize, event.as_ptr() as usize, &raw mut timer as usize, 0, 0, 0];
        if syscall(NR_TIMER_CREATE, create).is_err() {
            return false;
        }
        let set = syscall(NR_TIMER_SETTIME, [timer as usize, 0, when.as_ptr() as usize, 0, 0, 0]);
        if set.is_err() {
            delete_timer(timer);
        }
        set.is_ok()
    }
}

/// The timer that a signal is from, and the value that it carries, if its code is `SI_TIMER`.
///
/// # Safety
/// A `siginfo_t`, as a handler is given.
pub unsafe fn timer_of(information: *const u8) -> (i32, u64) {
    // SAFETY: 128 bytes, of which what differs between senders begins at 16 (sigaction(2)).
    unsafe { (information.add(16).cast::<i32>().read(), information.add(24).cast::<u64>().read()) }
}

/// Deletes a timer of [`send_later`].
pub fn delete_timer(timer: i32) {
    const NR_TIMER_DELETE: usize = 226;
    // SAFETY: takes no pointer.
    let _ = unsafe { syscall(NR_TIMER_DELETE, [timer as usize, 0, 0, 0, 0, 0]) };
}

/// A set of signals, as the kernel has it: bit `n - 1` for signal `n`.
pub type SignalSet = u64;

/// Blocks these signals for the calling thread and returns the mask that was in force.
pub fn block_signals(signals: SignalSet) -> SignalSet {
    const BLOCK: usize = 0;
    let mut old = 0u64;
    // SAFETY: both sets are 8 bytes, as said in the fourth argument.
    let _ = unsafe {
        syscall(NR_RT_SIGPROCMASK, [BLOCK, &raw const signals as usize, &raw mut old as usize, 8, 0, 0])
    };
    old
}

/// Puts back a mask of [`block_signals`].
pub fn restore_signals(old: SignalSet) {
    const SET: usize = 2;
    // SAFETY: the set is 8 bytes, as said in the fourth argument.
    let _ = unsafe { syscall(NR_RT_SIGPROCMASK, [SET, &raw const old as usize, 0, 8, 0, 0]) };
}

/// Waits until the descriptor takes what is written to it without blocking; false where it does not soon
/// (100 ms), as a pipe that is full.
pub fn can_write(descriptor: i32) -> bool {
    const NR_POLL: usize = 7;
    const OUT: u64 = 4;
    let mut request = u64::from(descriptor as u32) | OUT << 32;
    // SAFETY: struct pollfd is 8 bytes: descriptor, events asked for, events found.
    let polled = unsafe { syscall(NR_POLL, [&raw mut request as usize, 1, 100, 0, 0, 0]) };
    match polled {
        Ok(count) => count == 1 && request >> 48 & OUT != 0,
        Err(error) => error == FORBIDDEN || error == EINTR,
    }
}

/// Whether the eight bytes at an address can be read. The kernel is asked to copy a signal set from there, for a
/// change that is none: it tells a bad address from the bad request.
pub fn is_readable(address: usize) -> bool {
    const NO_SUCH_CHANGE: usize = usize::MAX;
    const EINVAL: Errno = Errno(22);
    // SAFETY: the kernel copies eight bytes from the address, if they are there, and changes nothing.
    let refused = unsafe { syscall(NR_RT_SIGPROCMASK, [NO_SUCH_CHANGE, address, 0, 8, 0, 0]) };
    refused == Err(EINVAL)
}

/// Signals that are pending for the calling thread.
pub fn pending_signals() -> SignalSet {
    const NR_RT_SIGPENDING: usize = 127;
    let mut set = 0u64;
    // SAFETY: the set is 8 bytes, as said in the second argument.
    let _ = unsafe { syscall(NR_RT_SIGPENDING, [&raw mut set as usize, 8, 0, 0, 0, 0]) };
    set
}

/// Takes a pending signal of the set away, if there is one; the signals must be blocked.
pub fn take_pending_signal(signals: SignalSet) {
    const NR_RT_SIGTIMEDWAIT: usize = 128;
    let now = [0i64; 2];
    // SAFETY: the set is 8 bytes, as said in the fourth argument; the kernel reads one timespec.
    let _ = unsafe {
        syscall(NR_RT_SIGTIMEDWAIT, [&raw const signals as usize, 0, now.as_ptr() as usize, 8, 0, 0])
    };
}

/// Blocks signals for the calling thread, runs `work`, takes away what `work` itself brought about of
/// `consequences` (as SIGPIPE is of a write), and puts the mask back.
pub fn with_signals_blocked<T>(signals: SignalSet, consequences: SignalSet, work: impl FnOnce() -> T) -> T {
    let old = block_signals(signals | consequences);
    let before = pending_signals();
    let result = work();
    let brought = pending_signals() & !before & consequences;
    if brought != 0 {
        take_pending_signal(brought);
    }
    restore_signals(old);
    result
}

/// The set of one signal.
pub const fn signal(number: u32) -> SignalSet {
    1 << (number - 1)
}

/// A write to a pipe that nobody reads.
pub const SIGPIPE: SignalSet = signal(13);
/// Output to a terminal by a process in the background.
pub const SIGTTOU: SignalSet = signal(22);
/// A file that grew over its limit.
pub const SIGXFSZ: SignalSet = signal(25);
/// All but those that tell of an error in the code that runs: they cannot wait.
pub const ASYNCHRONOUS: SignalSet = !(signal(4) | signal(5) | signal(7) | signal(8) | signal(11));
