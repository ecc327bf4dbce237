//! Lines on stderr.
//!
//! A line is put together in a buffer of its own and written by one system call. It goes to descriptor 2 only
//! while that is the file that it was at the start: a program may have closed it and opened something else there.

use core::fmt::{self, Write};
use core::sync::atomic::{AtomicU64, Ordering};

use crate::sys;

static DEVICE: AtomicU64 = AtomicU64::new(0);
static INODE: AtomicU64 = AtomicU64::new(0);

const STDERR: i32 = 2;

/// Notes what descriptor 2 is now.
pub fn remember_stderr() {
    let (device, inode) = sys::file_identity(STDERR).unwrap_or((0, 0));
    DEVICE.store(device, Ordering::Relaxed);
    INODE.store(inode, Ordering::Relaxed);
}

/// Text of at most `N` bytes; what does not fit is left out.
#[derive(Debug, Clone)]
pub struct Text<const N: usize> {
    bytes: [u8; N],
    length: usize,
}

impl<const N: usize> Text<N> {
    /// No text yet.
    pub const fn new() -> Self {
        Text { bytes: [0; N], length: 0 }
    }

    /// Appends bytes as they are.
    pub fn push(&mut self, bytes: &[u8]) {
        let room = &mut self.bytes[self.length..];
        let fits = bytes.len().min(room.len());
        room[..fits].copy_from_slice(&bytes[..fits]);
        self.length += fits;
    }

    /// The text.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    /// The text as a C string; `None` where it fills the buffer or holds a NUL.
    pub fn as_c_str(&mut self) -> Option<&core::ffi::CStr> {
        *self.bytes.get_mut(self.length)? = 0;
        core::ffi::CStr::from_bytes_with_nul(&self.bytes[..=self.length]).ok()
    }
}

impl<const N: usize> Default for Text<N> {
    fn default() -> Self {
        Text::new()
    }
}

impl<const N: usize> Write for Text<N> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.push(text.as_bytes());
        Ok(())
    }
}

/// Bytes of a path or name in a message: printable ones as they are, others as `?`.
#[derive(Debug, Clone, Copy)]
pub struct Printable<'a>(pub &'a [u8]);

impl fmt::Display for Printable<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for chunk in self.0.utf8_chunks() {
            for character in chunk.valid().chars() {
                f.write_char(if character.is_control() { '?' } else { character })?;
            }
            if !chunk.invalid().is_empty() {
                f.write_char('?')?;
            }
        }
        Ok(())
    }
}

/// Whether descriptor 2 is still what it was at the start.
pub fn is_stderr_there() -> bool {
    let now = sys::file_identity(STDERR).unwrap_or((0, 0));
    let then = (DEVICE.load(Ordering::Relaxed), INODE.load(Ordering::Relaxed));
    now != (0, 0) && now == then
}

/// Says one line, `mprof: ` before it, on stderr.
pub fn say(message: fmt::Arguments<'_>) {
    print(format_args!("mprof: {message}"));
}

/// Prints one line on stderr.
pub fn print(message: fmt::Arguments<'_>) {
    if !is_stderr_there() {
        return;
    }
    let mut line = Text::<1024>::new();
    let _ = line.write_fmt(message);
    let length = line.length.min(line.bytes.len() - 1);
    line.bytes[length] = b'\n';
    let mut rest = &line.bytes[..=length];
    sys::with_signals_blocked(sys::SIGTTOU, sys::SIGPIPE, || {
        while !rest.is_empty() && sys::can_write(STDERR) {
            match sys::write(STDERR, rest) {
                Ok(written) if written > 0 => rest = &rest[written..],
                Err(sys::EINTR) => {}
                _ => return,
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_that_does_not_fit_is_left_out() {
        let mut text = Text::<8>::new();
        let _ = write!(text, "{}-{}", 12345, 67890);
        assert_eq!(text.as_bytes(), b"12345-67");
        assert!(text.as_c_str().is_none());
    }

    #[test]
    fn odd_bytes_are_shown_as_question_marks() {
        let mut text = Text::<32>::new();
        let _ = write!(text, "{}", Printable(b"a\nb\xff\xc3\xa9"));
        assert_eq!(text.as_bytes(), "a?b?é".as_bytes());
    }
}
