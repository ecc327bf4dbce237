//! Runs the program: it shares our terminal and process group, gets the signals that are sent to us, and we end as
//! it does.

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};
use signal_hook::consts::{SIGALRM, SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::origin::WithOrigin;
use signal_hook::low_level::siginfo::{Cause, Origin};
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// Signals that people and other programs send to a program through its wrapper.
const FORWARDED: [i32; 7] = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM];

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// With a status.
    Status(u8),
    /// By a signal.
    Signal(i32),
}

/// A program that has ended.
#[derive(Debug)]
pub(super) struct Ended {
    /// Its process id.
    pub(super) pid: u32,
    /// How it ended.
    pub(super) end: End,
}

/// Runs a program to its end.
///
/// # Errors
/// When it cannot be started.
pub(super) fn run(command: &mut Command) -> io::Result<Ended> {
    // A handler, unlike an ignored signal, is not inherited by the program. What is ignored already (by nohup, or by
    // a shell that runs us in the background) must stay so, here and there.
    let ignored = ignored_signals();
    let mut signals =
        SignalsInfo::<WithOrigin>::new(FORWARDED.iter().filter(|&&signal| ignored >> (signal - 1) & 1 == 0))?;
    if ignored >> (SIGCHLD - 1) & 1 == 1 {
        // Where it is ignored the kernel forgets how a child ended (wait(2)). Any handler ends that; the program then
        // starts with the default, which is what nearly all expect.
        signal_hook::flag::register(SIGCHLD, Arc::default())?;
    }
    let mut child = command.spawn()?;
    let running = Arc::new(Mutex::new(true));
    let handle = signals.handle();
    let forwarder = {
        let (pid, running) = (child.id(), Arc::clone(&running));
        thread::spawn(move || {
            for origin in &mut signals {
                if is_for_the_program(&origin, pid) {
                    forward(origin.signal, pid, &running);
                }
            }
        })
    };
    let status = wait(&mut child, &running);
    handle.close();
    let _ = forwarder.join();
    let status = status?;
    let end = match (status.code(), status.signal()) {
        (_, Some(signal)) => End::Signal(signal),
        // The kernel keeps eight bits of it.
        (code, None) => End::Status(code.unwrap_or(0) as u8),
    };
    Ok(Ended { pid: child.id(), end })
}

/// The signals that this process ignores, as bits from signal 1 on (proc(5), `SigIgn`).
fn ignored_signals() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    line.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

/// Whether a signal was meant for the program. What the terminal sends (Ctrl-C, hang-up) reaches the whole process
/// group, the program included; what the program itself sends to its parent is not meant for it.
fn is_for_the_program(origin: &Origin, pid: u32) -> bool {
    origin.cause != Cause::Kernel && origin.process.is_none_or(|process| process.pid as u32 != pid)
}

fn process(pid: u32) -> Option<Pid> {
    Pid::from_raw(pid as i32)
}

/// Sends a signal on, unless the program has ended and its id may be another's.
fn forward(signal: i32, pid: u32, running: &Mutex<bool>) {
    let running = running.lock().unwrap_or_else(PoisonError::into_inner);
    if let (true, Some(pid), Some(signal)) = (*running, process(pid), Signal::from_named_raw(signal)) {
        // It may have ended a moment ago, or have taken other rights: then there is nothing to do.
        let _ = kill_process(pid, signal);
    }
}

/// Waits until the program has ended, stops forwarding, and only then lets its id go.
fn wait(child: &mut Child, running: &Mutex<bool>) -> io::Result<ExitStatus> {
    if let Some(pid) = process(child.id()) {
        while let Err(rustix::io::Errno::INTR) =
            waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT)
        {}
    }
    *running.lock().unwrap_or_else(PoisonError::into_inner) = false;
    child.wait()
}

/// Ends this process as the program ended, so that whoever started us sees the same.
pub(super) fn end_alike(end: End) -> std::process::ExitCode {
    let signal = match end {
        End::Status(status) => return status.into(),
        End::Signal(signal) => signal,
    };
    // The program's core dump, if there is one, is not to be replaced by ours.
    let none = rustix::process::Rlimit { current: Some(0), maximum: Some(0) };
    let _ = rustix::process::setrlimit(rustix::process::Resource::Core, none);
    let _ = signal_hook::low_level::emulate_default_handler(signal);
    if let Some(signal) = Signal::from_named_raw(signal) {
        let _ = kill_process(rustix::process::getpid(), signal);
    }
    // Signals that a process cannot die of by itself.
    (128 + signal as u8).into()
}
