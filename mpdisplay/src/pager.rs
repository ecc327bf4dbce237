//! A pager as git's: started once the output is longer than the terminal.

use signal_hook::consts::SIGINT;
use signal_hook::flag;
use std::env;
use std::ffi::OsString;
use std::io::{self, Write};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The pager where the environment names none. It ends by itself where all fits the screen (F), lets styles pass (R)
/// and leaves the text on the screen (X).
const DEFAULT: &str = "less -FRX";

/// The command line of the pager: `$MPROF_PAGER`, `$PAGER` or less; `None` where there is to be none, because the
/// variable is empty or `cat`, or the terminal cannot move its cursor.
pub(crate) fn command() -> Option<OsString> {
    if env::var_os("TERM").is_none_or(|terminal| terminal.is_empty() || terminal == "dumb") {
        return None;
    }
    let named = env::var_os("MPROF_PAGER").or_else(|| env::var_os("PAGER"));
    let command = named.unwrap_or_else(|| DEFAULT.into());
    (!command.is_empty() && command != "cat").then_some(command)
}

/// Output that is held back until it is longer than the terminal, and then goes through a pager.
pub(crate) struct Paged<W: Write> {
    command: OsString,
    /// Lines of the terminal.
    lines: usize,
    /// Where it goes without pager.
    direct: W,
    state: State,
}

enum State {
    /// All so far, which fits the terminal.
    Held(Vec<u8>),
    /// The pager that runs.
    Pager(Child),
    /// The pager could not be started.
    Direct,
}

impl<W: Write> Paged<W> {
    pub(crate) fn new(command: OsString, lines: usize, direct: W) -> Self {
        Paged { command, lines, direct, state: State::Held(Vec::new()) }
    }

    /// Ends the output: writes what is held back, or waits for the pager's end.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        match self.state {
            State::Held(held) => self.direct.write_all(&held)?,
            State::Direct => {}
            State::Pager(mut pager) => {
                drop(pager.stdin.take());
                pager.wait()?;
            }
        }
        self.direct.flush()
    }

    /// Starts the pager with what is held back, if it fits no longer.
    fn overflow(&mut self) -> io::Result<()> {
        let State::Held(held) = &mut self.state else { return Ok(()) };
        // The last line is the shell's next prompt.
        if held.iter().filter(|&&byte| byte == b'\n').count() < self.lines {
            return Ok(());
        }
        let held = std::mem::take(held);
        match start(&self.command) {
            Ok(mut pager) => {
                let written = pager.stdin.as_mut().map_or(Ok(()), |stdin| stdin.write_all(&held));
                self.state = State::Pager(pager);
                written
            }
            Err(_) => {
                self.state = State::Direct;
                self.direct.write_all(&held)
            }
        }
    }
}

impl<W: Write> Write for Paged<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.state {
            State::Held(held) => {
                held.extend_from_slice(bytes);
                self.overflow()?;
                Ok(bytes.len())
            }
            State::Pager(pager) => pager.stdin.as_mut().map_or(Ok(bytes.len()), |stdin| stdin.write(bytes)),
            State::Direct => self.direct.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Starts the pager. A command line that needs no shell runs without one, so that a missing program shows here.
fn start(command: &OsString) -> io::Result<Child> {
    // As git does: these make a shell necessary.
    let words =
        command.to_str().filter(|text| !text.contains(|sign| "|&;<>()$`\\\"'\t\n*?[#~=%".contains(sign)));
    let mut pager = match words.map(|text| text.split_whitespace().collect::<Vec<_>>()).as_deref() {
        Some([program, arguments @ ..]) => {
            let mut pager = Command::new(program);
            pager.args(arguments);
            pager
        }
        _ => {
            let mut pager = Command::new("sh");
            pager.arg("-c").arg(command);
            pager
        }
    };
    if env::var_os("LESS").is_none() {
        pager.env("LESS", "FRX");
    }
    let child = pager.stdin(Stdio::piped()).spawn()?;
    // An interrupt is for the pager; without a reader of the terminal the shell would take it back.
    let _ = flag::register(SIGINT, Arc::new(AtomicBool::new(false)));
    Ok(child)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paged(command: &str, lines: usize, parts: &[&str]) -> String {
        let mut out = Vec::new();
        let mut paged = Paged::new(command.into(), lines, &mut out);
        for part in parts {
            paged.write_all(part.as_bytes()).expect("written");
        }
        paged.finish().expect("ended");
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn what_fits_the_terminal_needs_no_pager() {
        assert_eq!(paged("false", 4, &["one\n", "two\nthree\n"]), "one\ntwo\nthree\n");
    }

    #[test]
    fn a_pager_that_is_not_there_is_done_without() {
        assert_eq!(paged("/nonexistent/pager -x", 2, &["one\n", "two\n", "three\n"]), "one\ntwo\nthree\n");
    }

    #[test]
    fn a_pager_gets_all() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("out");
        let command = format!("cat > '{}'", file.display());
        assert_eq!(paged(&command, 2, &["one\n", "two\n", "three\n"]), "");
        assert_eq!(std::fs::read_to_string(file).expect("the pager's file"), "one\ntwo\nthree\n");
    }

    #[test]
    fn a_pager_that_was_left_is_a_closed_pipe() {
        let mut out = Vec::new();
        let mut paged = Paged::new("true".into(), 1, &mut out);
        let long = vec![b'\n'; 1 << 20];
        let error = paged.write_all(&long).expect_err("nobody reads that much");
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
        paged.finish().expect("ended");
    }
}
