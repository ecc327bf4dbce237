//! Reading the program's memory, which may vanish meanwhile.
//!
//! In the helper process a fault is caught and ends the copying; see [`catch_faults`]. Where there is no helper the
//! kernel copies, which cannot fault but is slower. Pages that the program has never touched are passed over, or huge
//! reservations would take for ever.

use core::arch::{global_asm, naked_asm};
use core::ffi::c_void;

use crate::arena::{Zeroable, new_zeroed};
use crate::sys::{self, PAGE, syscall};

use super::ranges::Range;

global_asm!(
    ".pushsection .text.mprof_copy,\"ax\",@progbits",
    ".globl mprof_copy, mprof_copy_fault, mprof_copy_resume",
    ".hidden mprof_copy, mprof_copy_fault, mprof_copy_resume",
    ".type mprof_copy,@function",
    "mprof_copy:", // (rdi: to, rsi: from, rdx: words) -> words not copied
    "mov rcx, rdx",
    "mprof_copy_fault:",
    "rep movsq",
    "mprof_copy_resume:",
    "mov rax, rcx",
    "ret",
    ".size mprof_copy, . - mprof_copy",
    ".popsection",
);

unsafe extern "C" {
    fn mprof_copy(to: *mut u64, from: usize, words: usize) -> usize;
    static mprof_copy_fault: u8;
    static mprof_copy_resume: u8;
}

/// How memory is read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Memory {
    /// Faults are caught.
    guarded: bool,
}

impl Memory {
    /// Memory of a process in which faults are caught: copies it itself.
    ///
    /// # Safety
    /// The calling process has called [`catch_faults`].
    pub(super) unsafe fn guarded() -> Memory {
        Memory { guarded: true }
    }

    /// Memory of this process: the kernel copies it.
    pub(super) fn by_kernel() -> Memory {
        Memory { guarded: false }
    }

    /// Reads words from `address`, a multiple of 8. Returns how many there are before the first that cannot be read.
    pub(super) fn read(self, address: usize, words: &mut [u64]) -> usize {
        if self.guarded {
            // SAFETY: writes the slice, reads whatever is there: a fault is caught and ends the copying early. That
            // the memory may change meanwhile matters to no one, for the copying is not Rust's.
            words.len() - unsafe { mprof_copy(words.as_mut_ptr(), address, words.len()) }
        } else {
            copy_by_kernel(address, words)
        }
    }

    /// Reads one word.
    pub(super) fn word(self, address: usize) -> Option<u64> {
        let mut word = [0];
        (self.read(address, &mut word) == 1).then_some(word[0])
    }
}

/// process_vm_readv(2) from this process.
fn copy_by_kernel(address: usize, words: &mut [u64]) -> usize {
    const NR_PROCESS_VM_READV: usize = 310;
    let length = size_of_val(words);
    let to = [words.as_mut_ptr() as usize, length];
    let from = [address, length];
    let process = sys::process_id() as usize;
    let [to, from] = [to.as_ptr() as usize, from.as_ptr() as usize];
    // SAFETY: the kernel reads two iovecs and writes at most the slice.
    unsafe { syscall(NR_PROCESS_VM_READV, [process, to, 1, from, 1, 0]) }.unwrap_or(0) / 8
}

/// From here on a fault in [`Memory::read`] ends the copying, and any other ends the calling process.
///
/// # Safety
/// The process shares no signal handlers with another, and runs no code but ours.
pub(super) unsafe fn catch_faults() {
    const NR_RT_SIGACTION: usize = 13;
    const NR_RT_SIGPROCMASK: usize = 14;
    const UNBLOCK: usize = 1;
    const SIGINFO_RESTORER: usize = 0x4 | 0x0400_0000;
    const SIGBUS: usize = 7;
    const SIGSEGV: usize = 11;
    let action = [on_fault as *const () as usize, SIGINFO_RESTORER, restore as *const () as usize, 0];
    let signals = sys::signal(SIGBUS as u32) | sys::signal(SIGSEGV as u32);
    // SAFETY: the kernel reads one struct kernel_sigaction (handler, flags, restorer, mask) and one set of 8 bytes.
    unsafe {
        for signal in [SIGBUS, SIGSEGV] {
            let _ = syscall(NR_RT_SIGACTION, [signal, action.as_ptr() as usize, 0, 8, 0, 0]);
        }
        let _ = syscall(NR_RT_SIGPROCMASK, [UNBLOCK, &raw const signals as usize, 0, 8, 0, 0]);
    }
}

/// Goes on behind the copying. `context`: `ucontext_t`, in which the registers begin at byte 40 (r8 to r15, rdi, rsi,
/// rbp, rbx, rdx, rax, rcx, rsp, rip).
unsafe extern "C" fn on_fault(_signal: i32, _information: *const c_void, context: *mut c_void) {
    const INSTRUCTION: usize = 40 / 8 + 16;
    let [fault, resume] = [&raw const mprof_copy_fault as usize, &raw const mprof_copy_resume as usize];
    // SAFETY: the kernel put the context there.
    let instruction = unsafe { &mut *context.cast::<usize>().add(INSTRUCTION) };
    if *instruction != fault {
        sys::exit_process(1);
    }
    *instruction = resume;
}

/// rt_sigreturn(2).
#[unsafe(naked)]
unsafe extern "C" fn restore() {
    naked_asm!("mov eax, 15", "syscall");
}

/// Words that are read at once.
const BUFFER: usize = 8192;
/// Pages whose state is asked for at once.
const WINDOW: usize = 512;

struct Buffers {
    words: [u64; BUFFER],
    pages: [u64; WINDOW],
}

// SAFETY: integers.
unsafe impl Zeroable for Buffers {}

/// Goes through ranges of memory.
pub(super) struct Scanner {
    memory: Memory,
    /// `/proc/self/pagemap`; `None` where it cannot be had: then every page counts as touched.
    page_map: Option<i32>,
    /// Address of the first page in the window.
    window: usize,
    buffers: &'static mut Buffers,
}

impl Scanner {
    /// `None` without memory. `page_map`: see [`open_page_map`].
    pub(super) fn new(memory: Memory, page_map: Option<i32>) -> Option<Scanner> {
        Some(Scanner { memory, page_map, window: usize::MAX, buffers: new_zeroed::<Buffers>()? })
    }

    /// Calls `visit` with the words of the range that can be read, piece by piece, and their address. It returns the
    /// address to go on at: behind the piece, or further on.
    pub(super) fn scan(&mut self, range: Range, mut visit: impl FnMut(usize, &[u64]) -> usize) {
        let mut at = range.start.next_multiple_of(8);
        let end = range.end & !7;
        while let Some(run) = self.touched(at, end) {
            let words = ((run.end - run.start) / 8).min(BUFFER);
            let read = self.memory.read(run.start, &mut self.buffers.words[..words]);
            at = if read == 0 {
                (run.start & !(PAGE - 1)) + PAGE
            } else {
                visit(run.start, &self.buffers.words[..read]).max(run.start + read * 8)
            };
        }
    }

    /// The next touched pages from `at` on, or some of them.
    fn touched(&mut self, mut at: usize, end: usize) -> Option<Range> {
        const PRESENT_OR_SWAPPED: u64 = 3 << 62;
        while at < end {
            let Some(page_map) = self.page_map else { return Some(Range { start: at, end }) };
            let page = at & !(PAGE - 1);
            if self.window > page || page - self.window >= WINDOW * PAGE {
                self.window = page;
                if !read_page_map(page_map, page, &mut self.buffers.pages) {
                    self.page_map = None;
                    continue;
                }
            }
            let index = (page - self.window) / PAGE;
            let is_touched = |state: &u64| state & PRESENT_OR_SWAPPED != 0;
            let pages = &self.buffers.pages[index..];
            let untouched = pages.iter().take_while(|state| !is_touched(state)).count();
            if untouched == 0 {
                let touched = pages.iter().take_while(|state| is_touched(state)).count();
                return Some(Range { start: at, end: (page + touched * PAGE).min(end) });
            }
            at = page + untouched * PAGE;
        }
        None
    }
}

/// Opens the table of the process's pages (proc(5)).
pub(super) fn open_page_map() -> Option<i32> {
    sys::open_read(c"/proc/thread-self/pagemap").or_else(|_| sys::open_read(c"/proc/self/pagemap")).ok()
}

/// Reads the states of pages from `page` on; those that do not exist count as untouched.
fn read_page_map(descriptor: i32, page: usize, states: &mut [u64; WINDOW]) -> bool {
    const NR_PREAD64: usize = 17;
    let (to, length) = (states.as_mut_ptr() as usize, size_of_val(states));
    // SAFETY: the kernel writes at most the array.
    let read = unsafe { syscall(NR_PREAD64, [descriptor as usize, to, length, page / PAGE * 8, 0, 0]) };
    if let Ok(read) = read {
        states[read / 8..].fill(0);
    }
    read.is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a scan visits: address and words of each piece.
    fn visited(scanner: &mut Scanner, range: Range) -> alloc::vec::Vec<(usize, usize)> {
        let mut pieces = alloc::vec::Vec::new();
        scanner.scan(range, |address, words| {
            pieces.push((address - range.start, words.len()));
            address + size_of_val(words)
        });
        pieces
    }

    #[test]
    fn what_cannot_be_read_ends_the_copying() {
        let start = sys::map(2 * PAGE).unwrap();
        // SAFETY: ours; the second page is given back.
        unsafe {
            start.cast::<u64>().add(511).write(7);
            sys::unmap_unnoted(start.add(PAGE), PAGE);
        }
        let mut words = [0; 8];
        let memory = Memory::by_kernel();
        assert_eq!(memory.read(start as usize + PAGE - 16, &mut words), 2);
        assert_eq!(words[..2], [0, 7]);
        assert_eq!(memory.word(start as usize + PAGE), None);
    }

    #[test]
    fn untouched_pages_are_passed_over() {
        let pages = 2000;
        let start = sys::map(pages * PAGE).unwrap();
        for page in [0, 1, 1300] {
            // SAFETY: ours.
            unsafe { start.add(page * PAGE).cast::<u64>().write(1) };
        }
        let range = Range { start: start as usize + 8, end: start as usize + pages * PAGE };
        let mut scanner = Scanner::new(Memory::by_kernel(), open_page_map()).unwrap();
        assert_eq!(visited(&mut scanner, range), [(0, 1023), (1300 * PAGE - 8, 512)]);
    }
}
