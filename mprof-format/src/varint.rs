//! LEB128: integers of variable length, both directions side by side.
//!
//! Seven bits a byte, the lowest first; the high bit of a byte says that another follows
//! (DWARF 5, section 7.6). Signed numbers are zigzagged first, so that small ones of either sign are short.
//!
//! ```text
//!      300 = 0b10_0101100     ->  AC 02
//!       -3 -> zigzag 5        ->  05
//! ```

/// Bytes of the longest number: 64 bits, seven a byte.
pub const MAX_VARINT: usize = 10;

/// The LEB128 form of one number.
#[derive(Debug, Clone, Copy)]
pub struct Varint {
    bytes: [u8; MAX_VARINT],
    length: usize,
}

impl Varint {
    /// Encodes `value` in the shortest form.
    pub const fn new(mut value: u64) -> Varint {
        let mut bytes = [0; MAX_VARINT];
        let mut length = 0;
        loop {
            let low = (value & 0x7f) as u8;
            value >>= 7;
            if value == 0 {
                bytes[length] = low;
                return Varint { bytes, length: length + 1 };
            }
            bytes[length] = low | 0x80;
            length += 1;
        }
    }

    /// The encoded bytes, 1 to 10.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

/// Decodes the number at the start of `bytes`: the number and the bytes that it took.
/// `None` where the bytes end first or the number needs more than 64 bits. Longer forms than needed are read.
pub fn decode(bytes: &[u8]) -> Option<(u64, usize)> {
    let mut value = 0;
    for (index, &byte) in bytes.iter().take(MAX_VARINT).enumerate() {
        let bits = u64::from(byte & 0x7f);
        // The tenth byte has room for one bit.
        if index == MAX_VARINT - 1 && bits > 1 {
            return None;
        }
        value |= bits << (7 * index);
        if byte & 0x80 == 0 {
            return Some((value, index + 1));
        }
    }
    None
}

/// Maps a signed number to an unsigned one, small to small: 0, -1, 1, -2 … to 0, 1, 2, 3 …
pub const fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

/// Undoes [`zigzag`].
pub const fn unzigzag(value: u64) -> i64 {
    ((value >> 1) as i64) ^ -((value & 1) as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encoded(value: u64) -> std::vec::Vec<u8> {
        Varint::new(value).as_bytes().to_vec()
    }

    #[test]
    fn known_bytes() {
        assert_eq!(encoded(0), [0]);
        assert_eq!(encoded(127), [0x7f]);
        assert_eq!(encoded(128), [0x80, 0x01]);
        assert_eq!(encoded(300), [0xac, 0x02]);
        assert_eq!(encoded(u64::MAX), [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]);
    }

    #[test]
    fn every_length_comes_back() {
        for shift in 0..64 {
            for value in [1u64 << shift, (1 << shift) - 1, u64::MAX >> shift] {
                let bytes = encoded(value);
                assert_eq!(decode(&bytes), Some((value, bytes.len())));
                assert_eq!(decode(&bytes[..bytes.len() - 1]), None, "cut {value}");
            }
        }
    }

    #[test]
    fn padded_forms_are_read_and_long_ones_refused() {
        assert_eq!(decode(&[0x85, 0x80, 0x00, 0xff]), Some((5, 3)));
        assert_eq!(decode(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02]), None);
        assert_eq!(decode(&[0x80; 11]), None);
        assert_eq!(decode(&[]), None);
    }

    #[test]
    fn zigzag_maps_small_to_small() {
        for (signed, unsigned) in
            [(0, 0), (-1, 1), (1, 2), (-2, 3), (i64::MAX, u64::MAX - 1), (i64::MIN, u64::MAX)]
        {
            assert_eq!(zigzag(signed), unsigned);
            assert_eq!(unzigzag(unsigned), signed);
        }
    }
}
