//! The live objects, found by their headers.

use crate::arena::Array;
use crate::header::{self, HEADER};
use crate::page_objects;
use crate::records;

use super::allocator::Areas;
use super::memory::Scanner;
use super::pieces::{Piece, reach};
use super::ranges::Range;

/// The live objects, by rising address; they do not overlap.
#[derive(Debug, Default)]
pub(super) struct Objects {
    starts: Array<usize>,
    sizes: Array<u64>,
    records: Array<u32>,
    groups: Array<Group>,
    buckets: Array<u32>,
}

/// Objects near each other, and where to look for one at an address: bucket `b` has the index of the first object
/// that begins at or after `start + b << shift`.
#[derive(Debug, Clone, Copy)]
struct Group {
    start: usize,
    end: usize,
    shift: u32,
    buckets: usize,
}

/// Objects further apart than this are in different groups, bytes.
const APART: usize = 1 << 30;
/// Smallest length of a bucket, log2 bytes.
const SMALLEST_BUCKET: u32 = 10;

impl Objects {
    /// Searches the pieces for headers. `None` without memory.
    pub(super) fn find(pieces: &[Piece], scanner: &mut Scanner, areas: &mut Areas) -> Option<Objects> {
        let mut objects = Objects::default();
        let mut resume = 0;
        let mut whole = true;
        for (index, piece) in pieces.iter().enumerate() {
            let start = piece.range.start.max(resume);
            if start >= piece.range.end {
                continue;
            }
            scanner.scan(Range { start, end: piece.range.end }, |address, words| {
                let mut at = address.next_multiple_of(HEADER);
                let end = address + size_of_val(words);
                while at + HEADER <= end {
                    let word = (at - address) / 8;
                    at += HEADER;
                    if let Some((size, record)) =
                        object(pieces, index, at, [words[word], words[word + 1]], areas)
                    {
                        whole &= objects.push(at, size, record);
                        // What it holds is no header.
                        at = (at + size).next_multiple_of(HEADER);
                    }
                }
                resume = at;
                at
            });
        }
        (whole && areas.whole && objects.group()).then_some(objects)
    }

    /// Objects with these starts, sizes and records, by rising address.
    #[cfg(test)]
    pub(super) fn of(list: impl Iterator<Item = (usize, usize, u32)>) -> Objects {
        let mut objects = Objects::default();
        list.for_each(|(start, size, record)| assert!(objects.push(start, size, record)));
        assert!(objects.group());
        objects
    }

    fn push(&mut self, start: usize, size: usize, record: u32) -> bool {
        self.starts.len() < u32::MAX as usize
            && self.starts.push(start)
            && self.sizes.push(size as u64)
            && self.records.push(record)
    }

    /// Makes the groups. False without memory.
    fn group(&mut self) -> bool {
        let mut first = 0;
        for index in 1..=self.len() {
            let is_last = index == self.len();
            if is_last || self.starts[index] - self.starts[index - 1] > APART {
                if !self.add_group(first, index) {
                    return false;
                }
                first = index;
            }
        }
        true
    }

    /// Makes a group of the objects from `first` to before `end`.
    fn add_group(&mut self, first: usize, end: usize) -> bool {
        let start = self.starts[first];
        let last = self.range(end - 1);
        let length = last.end.max(last.start + 1) - start;
        let mut shift = SMALLEST_BUCKET;
        while length >> shift > 2 * (end - first) + 64 {
            shift += 1;
        }
        let group = Group { start, end: start + length, shift, buckets: self.buckets.len() };
        let mut next = first;
        for bucket in 0..=(length >> shift) + 1 {
            while next < end && self.starts[next] < start + (bucket << shift) {
                next += 1;
            }
            if !self.buckets.push(next as u32) {
                return false;
            }
        }
        self.groups.push(group)
    }

    /// Number of objects.
    pub(super) fn len(&self) -> usize {
        self.starts.len()
    }

    /// Where an object lies.
    #[inline]
    pub(super) fn range(&self, index: usize) -> Range {
        let start = self.starts[index];
        Range { start, end: start + self.sizes[index] as usize }
    }

    /// The counter record of an object.
    pub(super) fn record(&self, index: usize) -> u32 {
        self.records[index]
    }

    /// The object that an address is in, or at the start of.
    #[inline]
    pub(super) fn at(&self, address: usize) -> Option<usize> {
        let group = self.groups.partition_point(|group| group.end <= address);
        let group = self.groups.get(group).filter(|group| group.start <= address)?;
        let bucket = group.buckets + ((address - group.start) >> group.shift);
        let (from, to) = (self.buckets[bucket] as usize, self.buckets[bucket + 1] as usize);
        // The last object that begins at or before the address; the one before the bucket may reach into it.
        let index =
            (from + self.starts[from..to].partition_point(|&start| start <= address)).checked_sub(1)?;
        let range = self.range(index);
        (range.contains(address) || range.start == address).then_some(index)
    }
}

/// Size and counter record of the object at `address` in piece `index`, if the two words before it are the header of
/// one.
#[inline]
fn object(
    pieces: &[Piece],
    index: usize,
    address: usize,
    [word0, word1]: [u64; 2],
    areas: &mut Areas,
) -> Option<(usize, u32)> {
    if word1 == 0 {
        return None;
    }
    let header = header::parse(address, word0, word1)?;
    let block = address.checked_sub(header.offset())?;
    let end = address.checked_add(header.size)?;
    // (How far the block is says nothing of the address: a reallocation moves an aligned object to where it likes.)
    let is_object = (!page_objects::on_page_start(address) || page_objects::contains(address))
        && records::counter(header.record).is_some()
        && block >= pieces[index].range.start
        && reach(pieces, index, end)
        && areas.add_object(pieces, index, block, end);
    is_object.then_some((header.size, header.record))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn objects(list: &[(usize, usize)]) -> Objects {
        Objects::of(list.iter().map(|&(start, size)| (start, size, 7)))
    }

    #[test]
    fn objects_are_found_by_any_address_in_them() {
        let far = 0x7f00_0000_0000;
        let objects = objects(&[(0x1000, 16), (0x1020, 0), (0x1030, 5000), (0x9000, 1), (far, 1 << 20)]);
        let at = |address| objects.at(address);
        assert_eq!([at(0x1000), at(0x100f), at(0x1010)], [Some(0), Some(0), None]);
        assert_eq!([at(0x1020), at(0x1021), at(0x102f)], [Some(1), None, None]);
        assert_eq!([at(0x1030), at(0x23b7), at(0x23b8)], [Some(2), Some(2), None]);
        assert_eq!([at(0x8fff), at(0x9000), at(0x9001)], [None, Some(3), None]);
        assert_eq!([at(far - 1), at(far), at(far + (1 << 20) - 1)], [None, Some(4), Some(4)]);
        assert_eq!([at(0), at(0xfff), at(far + (1 << 20)), at(usize::MAX)], [None; 4]);
    }

    #[test]
    fn every_address_is_as_a_search_says() {
        let mut list = alloc::vec::Vec::new();
        let (mut at, mut random) = (0x5000_0000, 12_345u64);
        for _ in 0..3000 {
            random = random.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            at += (random >> 60) as usize * 16;
            let size = (random >> 33) as usize % if random >> 32 & 15 == 0 { 20_000 } else { 200 };
            list.push((at, size));
            at = (at + size + 16).next_multiple_of(16);
        }
        let objects = objects(&list);
        for address in (list[0].0 - 64..at + 64).step_by(8) {
            let is_in = |&(start, size): &(usize, usize)| {
                start == address || (start..start + size).contains(&address)
            };
            let index = list.partition_point(|&(start, _)| start <= address);
            let expected = index.checked_sub(1).filter(|&index| is_in(&list[index]));
            assert_eq!(objects.at(address), expected, "{address:#x}");
        }
    }

    #[test]
    fn no_objects_are_found_in_nothing() {
        assert_eq!(objects(&[]).at(0x1000), None);
    }
}
