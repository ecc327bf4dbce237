//! The mappings of the process, as `/proc/self/maps` tells them (proc(5)).

use crate::arena::Array;
use crate::sys;

use super::ranges::Range;

/// What a mapping is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Memory without a file.
    Anonymous,
    /// What `brk` gives: `[heap]`.
    Heap,
    /// The first thread's stack.
    Stack,
    /// A file's contents.
    File,
    /// Memory that is not to be read: devices, and what the kernel shares with the process (rings, buffers).
    Device,
}

/// A mapping.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mapping {
    /// Where it lies.
    pub(super) range: Range,
    /// It may be read.
    pub(super) readable: bool,
    /// It may be written to.
    pub(super) writable: bool,
    /// It may be executed.
    pub(super) executable: bool,
    /// What it is of.
    pub(super) kind: Kind,
}

/// Files of memory that is no device though its name begins with `/dev/`.
const MEMORY_FILES: [&[u8]; 2] = [b"/dev/shm/", b"/dev/zero"];
/// What else is not to be read.
const SPECIAL: [&[u8]; 5] = [b"anon_inode:", b"socket:", b"/[aio]", b"[v", b"[uprobes]"];

fn kind(path: &[u8]) -> Kind {
    let is_memory_file = || MEMORY_FILES.iter().any(|name| path.starts_with(name));
    match path {
        b"" => Kind::Anonymous,
        b"[heap]" => Kind::Heap,
        b"[stack]" => Kind::Stack,
        _ if SPECIAL.iter().any(|name| path.starts_with(name)) => Kind::Device,
        _ if path.starts_with(b"/dev/") && !is_memory_file() => Kind::Device,
        _ if path.starts_with(b"[anon") => Kind::Anonymous,
        _ => Kind::File,
    }
}

fn hexadecimal(digits: &[u8]) -> Option<usize> {
    usize::from_str_radix(core::str::from_utf8(digits).ok()?, 16).ok()
}

/// One line: `start-end rwxp offset device inode   path`.
fn line(line: &[u8]) -> Option<Mapping> {
    let mut fields = line.splitn(6, |&byte| byte == b' ');
    let mut addresses = fields.next()?.split(|&byte| byte == b'-');
    let (start, end) = (hexadecimal(addresses.next()?)?, hexadecimal(addresses.next()?)?);
    let rights = fields.next()?;
    let path = fields.nth(3).unwrap_or_default();
    Some(Mapping {
        range: Range { start, end },
        readable: rights.first() == Some(&b'r'),
        writable: rights.get(1) == Some(&b'w'),
        executable: rights.get(2) == Some(&b'x'),
        kind: kind(path.trim_ascii_start()),
    })
}

/// All mappings, by rising address; `None` where they cannot be read, or there is no memory for them.
pub(super) fn read() -> Option<Array<Mapping>> {
    // (Not `/proc/self`: that shows nothing when the first thread has ended.)
    let descriptor = sys::open_read(c"/proc/thread-self/maps").ok()?;
    let mut mappings = Array::new();
    let whole = lines(descriptor, |text| line(text).is_none_or(|mapping| mappings.push(mapping)));
    sys::close(descriptor);
    (whole && !mappings.is_empty()).then_some(mappings)
}

/// Calls `visit` with each line of a file, as long as it returns true. Returns whether it came to the end.
fn lines(descriptor: i32, mut visit: impl FnMut(&[u8]) -> bool) -> bool {
    // A line has a path in it.
    let mut buffer = [0u8; 8192];
    let mut length = 0;
    loop {
        match sys::read(descriptor, &mut buffer[length..]) {
            Ok(0) => return true,
            Ok(read) => length += read,
            Err(sys::EINTR) => continue,
            Err(_) => return false,
        }
        let mut start = 0;
        while let Some(end) = buffer[start..length].iter().position(|&byte| byte == b'\n') {
            if !visit(&buffer[start..start + end]) {
                return false;
            }
            start += end + 1;
        }
        if start == 0 && length == buffer.len() {
            return false;
        }
        buffer.copy_within(start..length, 0);
        length -= start;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mapping(text: &str) -> Mapping {
        line(text.as_bytes()).unwrap()
    }

    #[test]
    fn lines_are_understood() {
        let heap = mapping("55e0c8e5d000-55e0c8e7e000 rw-p 00000000 00:00 0                          [heap]");
        assert_eq!(heap.range, Range { start: 0x55e0_c8e5_d000, end: 0x55e0_c8e7_e000 });
        assert!(heap.readable && heap.writable && !heap.executable);
        assert_eq!(heap.kind, Kind::Heap);
        let anonymous = mapping("7f1c4c000000-7f1c4c021000 rw-p 00000000 00:00 0 ");
        assert_eq!(anonymous.kind, Kind::Anonymous);
        let code = mapping("7f1c50a00000-7f1c50a28000 r-xp 00026000 08:01 1234  /usr/lib/a b/libc.so.6");
        assert!(code.executable && !code.writable);
        assert_eq!(code.kind, Kind::File);
        assert_eq!(line(b"nothing of the kind"), None);
    }

    #[test]
    fn devices_are_not_to_be_read() {
        for (path, expected) in [
            ("/dev/dri/card0", Kind::Device),
            ("/dev/shm/segment", Kind::File),
            ("/dev/zero (deleted)", Kind::File),
            ("anon_inode:[io_uring]", Kind::Device),
            ("[vvar]", Kind::Device),
            ("[stack]", Kind::Stack),
            ("[anon:pool]", Kind::Anonymous),
            ("/memfd:pool (deleted)", Kind::File),
        ] {
            assert_eq!(kind(path.as_bytes()), expected, "{path}");
        }
    }

    #[test]
    fn our_own_mappings_are_there() {
        let mappings = read().unwrap();
        let on_stack = 0u8;
        let here = [&raw const on_stack as usize, read as *const () as usize]
            .map(|address| mappings.iter().find(|mapping| mapping.range.contains(address)).copied().unwrap());
        assert!(here[0].writable && here[1].executable);
        assert!(mappings.windows(2).all(|pair| pair[0].range.end <= pair[1].range.start));
    }
}
