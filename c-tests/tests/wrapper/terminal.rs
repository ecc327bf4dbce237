//! A terminal of our own, so that no test depends on the one that the tests are started from, or on there being one.

use std::fs::File;
use std::io::Read;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::ptr;

/// A pseudo terminal (pty(7)).
pub(crate) struct Terminal {
    /// What is written here is typed; what is printed is read here.
    pub(crate) keyboard_and_screen: File,
    line: Option<OwnedFd>,
}

impl Terminal {
    /// A new one; `None` where the system has none.
    pub(crate) fn open() -> Option<Self> {
        let (mut master, mut slave) = (-1, -1);
        // SAFETY: openpty(3) writes two descriptors; name, modes and size are optional.
        let opened = unsafe {
            libc::openpty(&raw mut master, &raw mut slave, ptr::null_mut(), ptr::null(), ptr::null())
        };
        if opened != 0 {
            return None;
        }
        // SAFETY: openpty has just opened both for us.
        let [master, slave] = [master, slave].map(|descriptor| unsafe { OwnedFd::from_raw_fd(descriptor) });
        for end in [&master, &slave] {
            // SAFETY: fcntl(2) on a descriptor that is open, with a number.
            unsafe { libc::fcntl(end.as_raw_fd(), libc::F_SETFD, libc::FD_CLOEXEC) };
        }
        Some(Terminal { keyboard_and_screen: master.into(), line: Some(slave) })
    }

    /// Starts the command as the foreground group of a new session at this terminal. To be called once.
    pub(crate) fn start(&mut self, command: &mut Command) -> Child {
        let line = self.line.take().expect("called once");
        let another = || line.try_clone().expect("a descriptor");
        command.stdin(another()).stdout(another()).stderr(Stdio::from(another()));
        let take_over = || {
            // SAFETY: neither call touches memory. Standard input is the terminal by now.
            let failed = unsafe { libc::setsid() < 0 || libc::ioctl(0, libc::TIOCSCTTY, 0) < 0 };
            if failed { Err(std::io::Error::last_os_error()) } else { Ok(()) }
        };
        // SAFETY: the closure makes async-signal-safe calls only.
        let child = unsafe { command.pre_exec(take_over) }.spawn().expect("it runs");
        // The command keeps copies of its own, which would keep the terminal open.
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        child
    }

    /// All that has been printed, to be called when nothing runs at this terminal any more.
    pub(crate) fn screen(&mut self) -> String {
        let mut bytes = Vec::new();
        // The end is an error here (EIO): nobody holds the other end.
        let _ = self.keyboard_and_screen.read_to_end(&mut bytes);
        String::from_utf8(bytes).expect("text")
    }
}
