//! Signals, where they were asked for in the environment; without that no handler of ours exists.
//!
//! `MPROF_SIGNAL=USR2`: the profile is written when the signal comes, and the program goes on.
//!
//! `MPROF_ON_SIGNAL=1`: the profile is written when the program dies of a signal. We have a handler for each signal
//! that would end the program and for which it has no handler of its own. The program does not see it: it is told,
//! and may set, the default action (`hooks::dispositions`). The handler puts the default action back and sends the
//! signal once more, so that the program dies of that very signal.
//!
//! A signal that interrupts a hook waits for the hook's end: it comes once more, by a timer, a little later.

use core::ffi::{c_int, c_void};
use core::mem::{MaybeUninit, zeroed};
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use mprof_core::mark::Doing;
use mprof_core::sys;
use mprof_core::thread::Thread;
use mprof_format::kinds::Reason;

use crate::registers::Program;
use crate::{alternate_stack, originals, profile};

/// Signals whose default action ends the process, but for SIGKILL (signal(7)).
const DEADLY: [c_int; 22] = [
    libc::SIGHUP,
    libc::SIGINT,
    libc::SIGQUIT,
    libc::SIGILL,
    libc::SIGTRAP,
    libc::SIGABRT,
    libc::SIGBUS,
    libc::SIGFPE,
    libc::SIGUSR1,
    libc::SIGSEGV,
    libc::SIGUSR2,
    libc::SIGPIPE,
    libc::SIGALRM,
    libc::SIGTERM,
    libc::SIGSTKFLT,
    libc::SIGXCPU,
    libc::SIGXFSZ,
    libc::SIGVTALRM,
    libc::SIGPROF,
    libc::SIGIO,
    libc::SIGPWR,
    libc::SIGSYS,
];

/// The signal that asks for a snapshot; 0: none.
static SNAPSHOT: AtomicU32 = AtomicU32::new(0);
/// Whether the profile is to be written when the program dies of a signal.
static ON_DEATH: AtomicBool = AtomicBool::new(false);

/// Has a snapshot written when this signal comes.
pub fn ask_for_snapshots(signal: c_int) {
    SNAPSHOT.store(signal as u32, Ordering::Relaxed);
}

/// Has the profile written when the program dies of a signal.
pub fn ask_on_death() {
    // The kernel spares the first process of a container what it has no handler for.
    ON_DEATH.store(sys::process_id() != 1, Ordering::Relaxed);
}

/// Whether we stand in for the default action of this signal wherever it is in force.
pub fn is_stood_in_for(signal: c_int) -> bool {
    ON_DEATH.load(Ordering::Relaxed)
        && DEADLY.contains(&signal)
        && SNAPSHOT.load(Ordering::Relaxed) != signal as u32
}

/// Sets the handlers that were asked for; once, at the start.
pub fn start() {
    let snapshot = SNAPSHOT.load(Ordering::Relaxed) as c_int;
    if snapshot != 0 {
        set(snapshot, &action(on_snapshot, libc::SA_RESTART));
    }
    if !ON_DEATH.load(Ordering::Relaxed) {
        return;
    }
    alternate_stack::offer();
    for signal in DEADLY.into_iter().filter(|&signal| is_stood_in_for(signal)) {
        if current(signal).is_some_and(|action| action.sa_sigaction == libc::SIG_DFL) {
            set(signal, &stand_in_action());
        }
    }
}

type Handler = extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void);

fn action(handler: Handler, flags: c_int) -> libc::sigaction {
    // SAFETY: plain data, of which zeros are a value.
    let mut action: libc::sigaction = unsafe { zeroed() };
    action.sa_sigaction = handler as usize;
    action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | flags;
    // SAFETY: the set is ours. Faults stay deadly in the handler.
    unsafe { libc::sigfillset(&raw mut action.sa_mask) };
    for fault in [libc::SIGILL, libc::SIGTRAP, libc::SIGBUS, libc::SIGFPE, libc::SIGSEGV] {
        // SAFETY: as above.
        unsafe { libc::sigdelset(&raw mut action.sa_mask, fault) };
    }
    action
}

/// The action that stands in for the default one.
pub fn stand_in_action() -> libc::sigaction {
    action(on_death, 0)
}

/// Whether an action is the one that stands in for the default one.
pub fn is_stand_in(action: &libc::sigaction) -> bool {
    action.sa_sigaction == on_death as *const () as usize
}

/// Sets the action of a signal.
pub fn set(signal: c_int, action: &libc::sigaction) -> bool {
    let Some(real) = originals::sigaction() else { return false };
    // SAFETY: sigaction(2) with an action of ours.
    unsafe { real(signal, action, core::ptr::null_mut()) == 0 }
}

/// The action of a signal.
pub fn current(signal: c_int) -> Option<libc::sigaction> {
    let mut action = MaybeUninit::uninit();
    let real = originals::sigaction()?;
    // SAFETY: sigaction(2) fills the action in.
    unsafe { (real(signal, core::ptr::null(), action.as_mut_ptr()) == 0).then(|| action.assume_init()) }
}

/// Times that a signal comes again, at most; then the hook is not waited for any more.
const TURNS: u64 = 1000;
/// Marks the timers of ours: in the upper half of what they carry.
const OURS: u64 = 0x6d70_726f << 32;

/// Whether the signal interrupts a hook.
fn interrupts_hook(context: *mut c_void) -> bool {
    // SAFETY: the kernel gives a handler the context.
    let counter = unsafe { (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs[libc::REG_RIP as usize] };
    let own = mprof_core::modules::range(interrupts_hook as *const () as usize);
    let in_heap = Thread::current().attached().is_some_and(|(mark, _)| matches!(mark.get(), Doing::Heap(_)));
    in_heap || own.contains(&(counter as usize))
}

/// If the signal interrupts a hook, has it come again a little later, and returns true.
fn comes_again(signal: c_int, info: &libc::siginfo_t, context: *mut c_void) -> bool {
    // SAFETY: the kernel's information.
    let (timer, carried) = unsafe { sys::timer_of(core::ptr::from_ref(info).cast()) };
    let mut turn = 0;
    if info.si_code == libc::SI_TIMER && carried & !0xffff_ffff == OURS {
        sys::delete_timer(timer);
        turn = carried & 0xffff_ffff;
    }
    turn < TURNS && interrupts_hook(context) && sys::send_later(signal as u32, OURS | (turn + 1))
}

extern "C" fn on_snapshot(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel gives a handler the information.
    if !comes_again(signal, unsafe { &*info }, context) {
        profile::write_snapshot();
    }
}

extern "C" fn on_death(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: as above.
    let about = unsafe { &*info };
    let is_fault = about.si_code > 0 && about.si_code != libc::SI_KERNEL;
    if !is_fault && comes_again(signal, about, context) {
        return;
    }
    // SAFETY: the kernel gives a handler the context.
    profile::write_for(Reason::Signal, signal as u32, unsafe { Program::interrupted(context) });
    // SAFETY: plain data, of which zeros are a value: the default action.
    set(signal, &unsafe { zeroed() });
    // It is blocked while its handler runs, and strikes as soon as that returns.
    if about.si_code == libc::SI_TIMER || !sys::send_to_self(signal as u32, info.cast()) {
        // SAFETY: raise(3).
        unsafe { libc::raise(signal) };
    }
}

/// The number of a signal by its name (`USR2`, `SIGUSR2`, `RTMIN+3`) or number.
pub fn number(name: &[u8]) -> Option<c_int> {
    const NAMES: [(&[u8], c_int); 27] = [
        (b"HUP", libc::SIGHUP),
        (b"INT", libc::SIGINT),
        (b"QUIT", libc::SIGQUIT),
        (b"ILL", libc::SIGILL),
        (b"TRAP", libc::SIGTRAP),
        (b"ABRT", libc::SIGABRT),
        (b"BUS", libc::SIGBUS),
        (b"FPE", libc::SIGFPE),
        (b"USR1", libc::SIGUSR1),
        (b"SEGV", libc::SIGSEGV),
        (b"USR2", libc::SIGUSR2),
        (b"PIPE", libc::SIGPIPE),
        (b"ALRM", libc::SIGALRM),
        (b"TERM", libc::SIGTERM),
        (b"CHLD", libc::SIGCHLD),
        (b"CONT", libc::SIGCONT),
        (b"TSTP", libc::SIGTSTP),
        (b"TTIN", libc::SIGTTIN),
        (b"TTOU", libc::SIGTTOU),
        (b"URG", libc::SIGURG),
        (b"XCPU", libc::SIGXCPU),
        (b"XFSZ", libc::SIGXFSZ),
        (b"VTALRM", libc::SIGVTALRM),
        (b"PROF", libc::SIGPROF),
        (b"WINCH", libc::SIGWINCH),
        (b"IO", libc::SIGIO),
        (b"PWR", libc::SIGPWR),
    ];
    let name = name.strip_prefix(b"SIG").unwrap_or(name);
    let digits = |digits: &[u8]| core::str::from_utf8(digits).ok()?.parse::<c_int>().ok();
    if let Some(&(_, number)) = NAMES.iter().find(|(known, _)| *known == name) {
        return Some(number);
    }
    let number = match name.strip_prefix(b"RTMIN") {
        Some(b"") => libc::SIGRTMIN(),
        Some(rest) => libc::SIGRTMIN().checked_add(digits(rest.strip_prefix(b"+")?)?)?,
        None => digits(name)?,
    };
    let internal = 32..libc::SIGRTMIN();
    let possible = (1..=libc::SIGRTMAX()).contains(&number) && !internal.contains(&number);
    (possible && number != libc::SIGKILL && number != libc::SIGSTOP).then_some(number)
}
