//! Stopping the program's threads, from the helper, and looking at their registers (ptrace(2)).

use core::fmt::Write;

use crate::arena::Array;
use crate::note::Text;
use crate::sys::{self, Errno, syscall};

/// What is known of a thread.
#[derive(Debug, Clone, Copy)]
pub(super) struct Thread {
    /// The lowest address of its stack that is in use.
    pub(super) sp: usize,
    /// Its thread control block.
    pub(super) control_block: usize,
}

/// Threads that were stopped, until [`Threads::release`].
#[derive(Debug, Default)]
pub(super) struct Threads {
    /// Those of which the registers are known, and the one that waits for the helper.
    pub(super) known: Array<Thread>,
    /// The words in their registers.
    pub(super) registers: Array<u64>,
    /// Threads that could not be looked at. One, if not even their number is known.
    pub(super) unseen: u32,
    /// The first thread has ended, before the process.
    pub(super) first_has_ended: bool,
    /// Ids of threads that were tried, sorted.
    tried: Array<u32>,
    stopped: Array<Stopped>,
}

/// A thread that was stopped, and the signal that it was about to get; 0: none.
#[derive(Debug, Clone, Copy)]
struct Stopped {
    id: u32,
    signal: usize,
}

/// What a function may use below its stack pointer, bytes (System V ABI for x86-64, section 3.2.2).
const RED_ZONE: usize = 128;
/// How long to wait for threads to stop, altogether, microseconds: one that waits for a child of vfork(2) does not.
const PATIENCE: u32 = 2_000_000;
/// Rounds of looking for threads that others made before they were stopped.
const ROUNDS: u32 = 100;

impl Threads {
    /// Stops all threads of the process but the one that waits for us, of which `caller` is known, and its id.
    pub(super) fn stop(process: u32, caller: Thread, caller_id: u32) -> Threads {
        let mut threads = Threads::default();
        if !(threads.known.push(caller) && threads.tried.push(caller_id) && has_our_ids()) {
            threads.unseen = 1;
            return threads;
        }
        let mut patience = PATIENCE;
        for _ in 0..ROUNDS {
            match threads.round(process, &mut patience) {
                Some(0) => break,
                Some(_) => {}
                None => {
                    threads.unseen += 1;
                    break;
                }
            }
        }
        threads
    }

    /// Stops those threads that were not tried yet. Returns their number; `None` where they cannot be listed.
    fn round(&mut self, process: u32, patience: &mut u32) -> Option<usize> {
        let before = self.tried.len();
        let mut seized = Array::new();
        let whole = task_ids(process, |id| {
            if self.tried.as_slice()[..before].binary_search(&id).is_ok() {
                return true;
            }
            match seize(id) {
                Ok(()) => {
                    if !seized.push(id) {
                        return false;
                    }
                }
                Err(sys::ESRCH) => {}
                Err(_) if has_ended(process, id) => self.first_has_ended |= id == process,
                Err(_) => self.unseen += 1,
            }
            self.tried.push(id)
        });
        for &id in seized.as_slice() {
            match await_stop(id, patience) {
                Some(Some(signal)) => {
                    if !(self.stopped.push(Stopped { id, signal }) && self.look_at(id)) {
                        self.unseen += 1;
                    }
                }
                Some(None) => self.first_has_ended |= id == process,
                None => self.unseen += 1,
            }
        }
        self.tried.as_mut_slice().sort_unstable();
        whole.then(|| self.tried.len() - before)
    }

    /// Notes the registers of a stopped thread.
    fn look_at(&mut self, id: u32) -> bool {
        // struct user_regs_struct: r15, r14, r13, r12, rbp, rbx, r11 to r8, rax, rcx, rdx, rsi, rdi, orig_rax, rip, cs,
        // eflags, rsp, ss, fs_base, …
        const GET_REGISTERS: usize = 12;
        let mut words = [0u64; 27];
        // SAFETY: the kernel writes one user_regs_struct.
        let outcome = unsafe { ptrace(GET_REGISTERS, id, 0, words.as_mut_ptr() as usize) };
        let (sp, control_block) = ((words[19] as usize).saturating_sub(RED_ZONE), words[21] as usize);
        outcome.is_ok()
            && self.known.push(Thread { sp, control_block })
            && words.iter().all(|&word| self.registers.push(word))
            && self.look_at_vectors(id)
    }

    /// Notes the vector registers: a copying in progress has pointers in them.
    fn look_at_vectors(&mut self, id: u32) -> bool {
        const GET_REGISTER_SET: usize = 0x4204;
        const X86_XSTATE: usize = 0x202;
        let mut words = [0u64; 2048];
        let mut part = [words.as_mut_ptr() as usize, size_of_val(&words)];
        // SAFETY: the kernel reads one iovec, writes what it describes, and the length written into it.
        let outcome = unsafe { ptrace(GET_REGISTER_SET, id, X86_XSTATE, part.as_mut_ptr() as usize) };
        // (Without them the others are still good.)
        let written = if outcome.is_ok() { part[1] / 8 } else { 0 };
        words[..written].iter().filter(|&&word| word != 0).all(|&word| self.registers.push(word))
    }

    /// Lets all threads go on.
    pub(super) fn release(&self) {
        const DETACH: usize = 17;
        for &Stopped { id, signal } in self.stopped.as_slice() {
            // SAFETY: takes no pointer.
            let _ = unsafe { ptrace(DETACH, id, 0, signal) };
        }
    }
}

/// # Safety
/// As for [`syscall`].
unsafe fn ptrace(request: usize, thread: u32, address: usize, data: usize) -> Result<usize, Errno> {
    const PTRACE: usize = 101;
    // SAFETY: as the caller vouches.
    unsafe { syscall(PTRACE, [request, thread as usize, address, data, 0, 0]) }
}

/// Attaches to a thread and asks it to stop.
fn seize(thread: u32) -> Result<(), Errno> {
    const SEIZE: usize = 0x4206;
    const INTERRUPT: usize = 0x4207;
    // SAFETY: neither takes a pointer.
    unsafe {
        ptrace(SEIZE, thread, 0, 0)?;
        let _ = ptrace(INTERRUPT, thread, 0, 0);
    }
    Ok(())
}

/// Waits until a thread has stopped. `Some(Some(signal))`: it has, about to get this signal (0: none); `Some(None)`: it
/// has ended; `None`: neither comes about.
fn await_stop(thread: u32, patience: &mut u32) -> Option<Option<usize>> {
    const WAIT4: usize = 61;
    const WALL_NO_HANG: usize = 0x4000_0000 | 1;
    // Few sleeps and long ones, in the end: each takes longer than was asked for.
    const LONGEST: u32 = 10_000;
    let mut step = 100;
    loop {
        let mut status = 0u32;
        // SAFETY: the kernel writes one status.
        let waited =
            unsafe { syscall(WAIT4, [thread as usize, &raw mut status as usize, WALL_NO_HANG, 0, 0, 0]) };
        match waited {
            Ok(0) if *patience >= step => {
                sys::sleep_microseconds(step);
                *patience -= step;
                step = (step * 2).min(LONGEST);
            }
            Ok(0) => return None,
            // The low byte is 0x7f for a stop; above it the signal; above that the event, none for a signal.
            Ok(_) if status & 0xff == 0x7f => {
                return Some(Some(if status >> 16 == 0 { (status >> 8 & 0xff) as usize } else { 0 }));
            }
            Err(sys::EINTR) => {}
            Ok(_) | Err(_) => return Some(None),
        }
    }
}

/// Whether `/proc` numbers processes as we are numbered.
fn has_our_ids() -> bool {
    let mut buffer = [0u8; 32];
    let mut own = Text::<32>::new();
    let _ = write!(own, "{}", sys::process_id());
    sys::read_link(c"/proc/self", &mut buffer).is_ok_and(|id| id == own.as_bytes())
}

/// Whether a thread has ended, though it is still listed (as the first one is).
fn has_ended(process: u32, thread: u32) -> bool {
    let mut path = Text::<64>::new();
    let _ = write!(path, "/proc/{process}/task/{thread}/stat");
    let Some(file) = path.as_c_str().and_then(|path| sys::open_read(path).ok()) else { return false };
    let mut buffer = [0u8; 256];
    let length = sys::read(file, &mut buffer);
    sys::close(file);
    let text = &buffer[..length.unwrap_or(0)];
    // The state follows the name, which stands in parentheses and may hold anything.
    let state = text.iter().rposition(|&byte| byte == b')').and_then(|end| text.get(end + 2));
    matches!(state, Some(b'Z' | b'X' | b'x'))
}

/// Whether a process has no thread but this one.
pub(super) fn is_alone(process: u32, thread: u32) -> bool {
    task_ids(process, |id| id == thread)
}

/// Calls `visit` with the id of each thread of a process, as long as it returns true. Returns whether all were listed.
fn task_ids(process: u32, mut visit: impl FnMut(u32) -> bool) -> bool {
    const GETDENTS64: usize = 217;
    let mut path = Text::<64>::new();
    let _ = write!(path, "/proc/{process}/task");
    let Some(folder) = path.as_c_str().and_then(|path| sys::open_read(path).ok()) else { return false };
    let mut buffer = [0u64; 512];
    let whole = loop {
        let (to, length) = (buffer.as_mut_ptr() as usize, size_of_val(&buffer));
        // SAFETY: the kernel writes at most the buffer.
        match unsafe { syscall(GETDENTS64, [folder as usize, to, length, 0, 0, 0]) } {
            Ok(0) => break true,
            Ok(length) => {
                if !entries(&buffer, length, &mut visit) {
                    break false;
                }
            }
            Err(_) => break false,
        }
    };
    sys::close(folder);
    whole
}

/// The numbers among the names in a buffer of struct linux_dirent64: inode and offset of 8 bytes, length of 2, type of
/// 1, name.
fn entries(buffer: &[u64], length: usize, visit: &mut impl FnMut(u32) -> bool) -> bool {
    const LENGTH: usize = 16;
    const NAME: usize = 19;
    let byte = |at: usize| (buffer[at / 8] >> (at % 8 * 8)) as u8;
    let mut at = 0;
    while at + NAME < length {
        let size = usize::from(byte(at + LENGTH)) | usize::from(byte(at + LENGTH + 1)) << 8;
        let name = (at + NAME..at + size.max(NAME)).map(byte).take_while(|&byte| byte != 0);
        let number = name.into_iter().try_fold(0u32, |number, digit| {
            digit.is_ascii_digit().then(|| number.wrapping_mul(10).wrapping_add(u32::from(digit - b'0')))
        });
        if let Some(id) = number
            && !visit(id)
        {
            return false;
        }
        if size == 0 {
            return false;
        }
        at += size;
    }
    true
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;
    use core::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::reach::helper;

    extern crate std;

    #[test]
    fn threads_are_listed() {
        let mut ids = Vec::new();
        assert!(task_ids(sys::process_id(), |id| {
            ids.push(id);
            true
        }));
        assert!(ids.contains(&sys::thread_id()), "{ids:?}");
        assert!(has_our_ids());
        assert!(!has_ended(sys::process_id(), sys::thread_id()));
    }

    static TURNS: AtomicUsize = AtomicUsize::new(0);

    #[test]
    fn stopped_threads_stand_still_and_show_their_registers() {
        std::thread::spawn(|| {
            loop {
                TURNS.fetch_add(1, Ordering::Relaxed);
            }
        });
        while TURNS.load(Ordering::Relaxed) == 0 {
            std::thread::yield_now();
        }
        let (process, caller) = (sys::process_id(), sys::thread_id());
        let mut found = (0, 0, 0, 0);
        assert!(helper::run(&mut || {
            let threads = Threads::stop(process, Thread { sp: 0, control_block: 0 }, caller);
            let turns = TURNS.load(Ordering::Relaxed);
            sys::sleep_microseconds(20_000);
            found = (threads.known.len(), threads.registers.len(), turns, TURNS.load(Ordering::Relaxed));
            threads.release();
        }));
        let (known, registers, before, after) = found;
        if known < 2 {
            std::eprintln!("SKIPPED: this machine does not let threads be stopped");
            return;
        }
        assert!(registers >= 27);
        assert_eq!(before, after);
        while TURNS.load(Ordering::Relaxed) == after {
            std::thread::yield_now();
        }
    }
}
