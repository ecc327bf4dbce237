//! What the kernel says of our mappings (proc(5), `/proc/self/maps`).

use core::alloc::Layout;

use allocator_api2::alloc::Allocator;

use crate::arena::Arena;
use crate::sys;

/// Room for what is read at once, and for the longest line: both in one mapping, which is given back.
const ROOM: usize = 64 * 1024;

/// Calls `use_path` with the path of the file that is mapped at `address`; `None` where there is none, or it was
/// deleted, or the kernel does not say.
pub fn with_path<T>(address: usize, use_path: impl FnOnce(&[u8]) -> T) -> Option<T> {
    let layout = Layout::from_size_align(ROOM, 1).ok()?;
    let memory = Arena.allocate(layout).ok()?;
    // SAFETY: fresh memory of this length, zeroed, and ours alone until it is given back.
    let room = unsafe { core::slice::from_raw_parts_mut(memory.cast::<u8>().as_ptr(), ROOM) };
    let result = sys::open_read(c"/proc/self/maps").ok().and_then(|file| {
        let path = find(room, address, |buffer| sys::read(file, buffer).unwrap_or(0));
        sys::close(file);
        path.map(use_path)
    });
    // SAFETY: nothing refers to it any more.
    unsafe { Arena.deallocate(memory.cast(), layout) };
    result
}

/// The path in the line for `address`. `read` fills a buffer with what comes next, and gives its length; 0 at the end.
fn find(room: &mut [u8], address: usize, mut read: impl FnMut(&mut [u8]) -> usize) -> Option<&[u8]> {
    let mut filled = 0;
    let (line, length) = loop {
        let got = read(&mut room[filled..]);
        filled += got;
        let mut start = 0;
        let mut found = None;
        while let Some(length) = room[start..filled].iter().position(|&byte| byte == b'\n') {
            if covers(&room[start..start + length], address) {
                found = Some((start, length));
                break;
            }
            start += length + 1;
        }
        if let Some(found) = found {
            break found;
        }
        if got == 0 || (start == 0 && filled == room.len()) {
            return None;
        }
        room.copy_within(start..filled, 0);
        filled -= start;
    };
    let line = &room[line..line + length];
    // After address, rights, offset, device and inode comes the path, which may have blanks in it.
    let mut rest = line;
    for _ in 0..5 {
        let blank = rest.iter().position(|&byte| byte == b' ')?;
        rest = rest[blank..].trim_ascii_start();
    }
    (rest.first() == Some(&b'/') && !rest.ends_with(b" (deleted)")).then_some(rest)
}

/// Whether a line begins with a range that the address is in.
fn covers(line: &[u8], address: usize) -> bool {
    let hexadecimal = |digits: &[u8]| {
        core::str::from_utf8(digits).ok().and_then(|digits| usize::from_str_radix(digits, 16).ok())
    };
    let range = line.split(|&byte| byte == b' ').next().unwrap_or_default();
    let mut ends = range.split(|&byte| byte == b'-').map(hexadecimal);
    matches!((ends.next(), ends.next()), (Some(Some(start)), Some(Some(end))) if start <= address && address < end)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAPS: &[u8] = b"1000-2000 r-xp 00000000 fe:01 12                 /lib/a b.so\n\
        2000-3000 rw-p 00000000 00:00 0 \n\
        3000-4000 r--p 00001000 fe:01 13                 /lib/gone.so (deleted)\n\
        4000-5000 r--p 00001000 fe:01 14                 /lib/last.so\n";

    fn path(address: usize, at_once: usize, room: usize) -> Option<alloc::vec::Vec<u8>> {
        let mut rest = MAPS;
        let mut room = alloc::vec![0; room];
        let read = |buffer: &mut [u8]| {
            let length = rest.len().min(at_once).min(buffer.len());
            buffer[..length].copy_from_slice(&rest[..length]);
            rest = &rest[length..];
            length
        };
        find(&mut room, address, read).map(<[u8]>::to_vec)
    }

    #[test]
    fn paths_are_found_however_little_is_read_at_once() {
        for at_once in [1, 7, 64, 4096] {
            assert_eq!(path(0x1800, at_once, 100).as_deref(), Some(&b"/lib/a b.so"[..]));
            assert_eq!(path(0x4000, at_once, 100).as_deref(), Some(&b"/lib/last.so"[..]));
            assert_eq!(path(0x2800, at_once, 100), None, "no file");
            assert_eq!(path(0x3800, at_once, 100), None, "deleted");
            assert_eq!(path(0x5000, at_once, 100), None, "not mapped");
            assert_eq!(path(0x4000, at_once, 20), None, "lines longer than the room");
        }
    }

    #[test]
    fn this_program_is_found() {
        let here = this_program_is_found as *const () as usize;
        assert!(with_path(here, |path| path.starts_with(b"/")).unwrap());
    }
}
