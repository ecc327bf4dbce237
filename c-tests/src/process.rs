//! Running one command: output into files (a pipe would wait for children that outlive the program), a time limit,
//! and nothing left running after it.

use std::fs::{self, File};
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Once;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// It ended by itself with this exit status.
    Exited(i32),
    /// This signal ended it.
    Signalled(i32),
    /// It was still running at the time limit, and was killed.
    TimedOut,
}

/// What a command printed and how it ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
    /// How it ended.
    pub status: Status,
}

/// Runs `command` to its end or for at most `limit`. Its output goes through files in `scratch`, which are named
/// after `label`. Output that is not UTF-8 is shown with replacement characters.
pub(crate) fn run(command: &mut Command, scratch: &Path, label: &str, limit: Duration) -> io::Result<Output> {
    without_core_dumps();
    let [out, err] = ["out", "err"].map(|stream| scratch.join(format!("{label}.{stream}")));
    let append = |path: &Path| File::options().create(true).append(true).open(path);
    command.stdout(append(&out)?).stderr(append(&err)?).process_group(0);
    with_default_signals(command);
    let mut child = command.spawn()?;
    let status = wait(&mut child, limit)?;
    let read = |path: &Path| Ok::<_, io::Error>(String::from_utf8_lossy(&fs::read(path)?).into_owned());
    Ok(Output { stdout: read(&out)?, stderr: read(&err)?, status })
}

/// Lets the command start with every signal at its default and none blocked, whatever started the tests: nohup ignores
/// SIGHUP, a shell's background jobs ignore SIGINT and SIGQUIT, and what is ignored is inherited.
pub fn with_default_signals(command: &mut Command) -> &mut Command {
    let reset = || {
        for number in 1..=libc::SIGRTMAX() {
            // SAFETY: SIG_DFL is no function. What cannot be set (SIGKILL, SIGSTOP) is refused and stays as it is.
            unsafe { libc::signal(number, libc::SIG_DFL) };
        }
        // SAFETY: all bits zero is a signal set, which sigemptyset fills and sigprocmask reads.
        unsafe {
            let mut none: libc::sigset_t = std::mem::zeroed();
            libc::sigemptyset(&raw mut none);
            libc::sigprocmask(libc::SIG_SETMASK, &raw const none, std::ptr::null_mut());
        }
        Ok(())
    };
    // SAFETY: the closure makes async-signal-safe calls only.
    unsafe { command.pre_exec(reset) }
}

/// Runs a tool that must succeed; gives its standard output. What it says on standard error is shown only where it
/// fails: mpfilt warns of every library of the machine that has no debug information.
///
/// # Panics
/// When it cannot be run or fails.
pub(crate) fn succeed(command: &mut Command) -> String {
    let output = command.stdin(Stdio::null()).output();
    let output = output.unwrap_or_else(|error| panic!("cannot run {command:?}: {error}"));
    let [stdout, stderr] =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    assert!(output.status.success(), "{command:?}: {}\n{stdout}{stderr}", output.status);
    stdout
}

/// Runs a command that must succeed, its output dropped; gives the most bytes that it had resident. What the caller
/// itself had when it started the command is the least that can be told (getrusage(2), `ru_maxrss`).
///
/// # Panics
/// When it cannot be run or fails.
#[expect(clippy::zombie_processes, reason = "wait4 below waits for it")]
pub fn peak_memory(command: &mut Command) -> u64 {
    let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let child = quiet.spawn().unwrap_or_else(|error| panic!("cannot run {command:?}: {error}"));
    let mut status = 0;
    // SAFETY: all bytes zero are a `rusage`.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: wait4(2) writes into the two variables, which live across the call; the child has not been waited for.
    let waited = unsafe { libc::wait4(child.id().cast_signed(), &raw mut status, 0, &raw mut usage) };
    assert_eq!(waited, child.id().cast_signed(), "{command:?}");
    let status = ExitStatus::from_raw(status);
    assert!(status.success(), "{command:?}: {status}");
    u64::try_from(usage.ru_maxrss).expect("not negative") * 1024
}

fn wait(child: &mut Child, limit: Duration) -> io::Result<Status> {
    let start = Instant::now();
    let mut pause = Duration::from_micros(200);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(how(status));
        }
        if start.elapsed() > limit {
            kill_group(child);
            child.wait()?;
            return Ok(Status::TimedOut);
        }
        sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(10));
    }
}

fn how(status: ExitStatus) -> Status {
    match (status.code(), status.signal()) {
        (Some(code), _) => Status::Exited(code),
        (None, signal) => Status::Signalled(signal.unwrap_or(0)),
    }
}

fn kill_group(child: &Child) {
    // SAFETY: kill(2) touches no memory. The child has not been waited for, so its id, which is also its group's, is
    // still its own.
    unsafe { libc::kill(-child.id().cast_signed(), libc::SIGKILL) };
}

/// Programs that die on purpose leave no core file in anybody's way.
fn without_core_dumps() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        // SAFETY: `none` lives across the call, which only reads it.
        unsafe { libc::setrlimit(libc::RLIMIT_CORE, &none) };
    });
}
