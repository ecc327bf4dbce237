//! How long freed objects lived, by counter record.
//!
//! The age of an object is counted in KiB that the process allocated meanwhile: a histogram by powers of two, the
//! sum, and how many were freed before their thread allocated anything else. So 0 KiB means: before the next KiB of
//! allocation was full.
//!
//! A record counts in short numbers of its own ([`Recent`]), which lie in the same cache line as its other counts; what
//! these cannot hold goes to a [`Lifetimes`], made only where it is needed.

use core::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};

use mprof_format::history::AGE_CLASSES;

/// Classes of ages: 0, 1, 2–3, 4–7, … KiB; the last holds 2²³ KiB and more.
pub const CLASSES: usize = 25;

/// What is known of an object when it is freed.
#[derive(Debug, Clone, Copy)]
pub struct Freed {
    /// Its size, bytes.
    pub size: u64,
    /// Its age, KiB of allocation, modulo 2²⁴.
    pub age: u32,
    /// Whether its thread had allocated nothing since.
    pub is_temporary: bool,
}

/// The class of an age.
#[inline(always)]
fn class(age: u32) -> usize {
    // The lowest bit makes one instruction of it: there is no zero to look out for. 24 bits have 25 classes.
    (age << 1 | 1).ilog2() as usize
}

/// Lifetimes of the freed objects of one record, in short numbers. Only the record's owner counts here. What a number held
/// that wraps is carried to the record's [`Lifetimes`].
#[derive(Debug)]
#[repr(C)]
pub struct Recent {
    /// Sum of the ages, KiB.
    ages: AtomicU32,
    /// Bytes in objects of the first class.
    young_bytes: AtomicU16,
    /// Objects freed before their thread allocated anything else.
    temporary: AtomicU8,
    classes: [AtomicU8; CLASSES],
}

const _: () = assert!(size_of::<Recent>() == 32, "half a cache line");

impl Recent {
    /// Nothing counted yet.
    pub const fn new() -> Recent {
        Recent {
            ages: AtomicU32::new(0),
            young_bytes: AtomicU16::new(0),
            temporary: AtomicU8::new(0),
            classes: [const { AtomicU8::new(0) }; CLASSES],
        }
    }

    /// Counts a freed object, as the record's owner. `rest`: the record's other lifetimes, if there is memory for them.
    #[inline(always)]
    pub fn count(&self, freed: Freed, rest: impl Fn() -> Option<&'static Lifetimes> + Copy) {
        let class = class(freed.age);
        let (sum, is_over) = self.ages.load(Ordering::Relaxed).overflowing_add(freed.age);
        self.ages.store(sum, Ordering::Relaxed);
        if is_over {
            rest_of(rest, |rest| rest.ages.fetch_add(1 << u32::BITS, Ordering::Relaxed));
        }
        add_to_count(&self.classes[class], 1, class, rest);
        // Without a branch, for it is by chance in many a program.
        add_to_count(&self.temporary, freed.is_temporary.into(), TEMPORARY, rest);
        if freed.age == 0 {
            let sum = u64::from(self.young_bytes.load(Ordering::Relaxed)).wrapping_add(freed.size);
            self.young_bytes.store(sum as u16, Ordering::Relaxed);
            if sum > u16::MAX.into() {
                rest_of(rest, move |rest| rest.young_bytes.fetch_add(sum & !0xffff, Ordering::Relaxed));
            }
        }
    }

    /// The counts now, with those of the rest.
    pub fn get(&self, rest: Option<&Lifetimes>) -> Lifetime {
        let mut all = rest.map_or_else(Lifetime::default, Lifetimes::get);
        for (class, count) in all.classes.iter_mut().zip(&self.classes) {
            *class += u64::from(count.load(Ordering::Relaxed));
        }
        all.temporary += u64::from(self.temporary.load(Ordering::Relaxed));
        all.ages += u64::from(self.ages.load(Ordering::Relaxed));
        all.young_bytes += u64::from(self.young_bytes.load(Ordering::Relaxed));
        all
    }
}

impl Default for Recent {
    fn default() -> Self {
        Recent::new()
    }
}

/// Adds 0 or 1 to a count of a [`Recent`]; where it wraps, the rest takes what it held.
#[inline(always)]
fn add_to_count(count: &AtomicU8, amount: u8, number: usize, rest: impl Fn() -> Option<&'static Lifetimes>) {
    let (sum, is_over) = count.load(Ordering::Relaxed).overflowing_add(amount);
    count.store(sum, Ordering::Relaxed);
    if is_over {
        rest_of(rest, move |rest| rest.add(number, 1 << u8::BITS));
    }
}

/// Does something to the rest of a record's lifetimes. Without memory for them it is lost.
#[cold]
#[inline(never)]
fn rest_of<T>(rest: impl Fn() -> Option<&'static Lifetimes>, change: impl Fn(&Lifetimes) -> T) {
    if let Some(rest) = rest() {
        change(rest);
    }
}

/// All lifetimes of the freed objects of one record. Any thread may count here. Counts wrap at 2³²: how often is
/// counted beside them.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct Lifetimes {
    classes: [AtomicU32; CLASSES],
    temporary: AtomicU32,
    /// How often the count of the class with this number wrapped, 2 bits each, saturating; the highest two bits are
    /// those of `temporary`.
    wraps: AtomicU64,
    /// Sum of the ages, KiB.
    ages: AtomicU64,
    /// Bytes in objects of the first class.
    young_bytes: AtomicU64,
}

const _: () = assert!(size_of::<Lifetimes>() == 128, "two cache lines");

const TEMPORARY: usize = CLASSES;

/// Lifetimes, for a dump.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Lifetime {
    /// Freed objects by class of age.
    pub classes: [u64; CLASSES],
    /// Objects freed before their thread allocated anything else.
    pub temporary: u64,
    /// Sum of the ages, KiB.
    pub ages: u64,
    /// Bytes in the objects of the first class.
    pub young_bytes: u64,
}

impl Lifetimes {
    /// Counts a freed object, from any thread.
    pub fn count_shared(&self, freed: Freed) {
        let class = class(freed.age);
        self.add(class, 1);
        if freed.is_temporary {
            self.add(TEMPORARY, 1);
        }
        if class == 0 {
            self.young_bytes.fetch_add(freed.size, Ordering::Relaxed);
        } else {
            self.ages.fetch_add(freed.age.into(), Ordering::Relaxed);
        }
    }

    /// Adds to the count of a class, or to that of temporary objects.
    fn add(&self, number: usize, amount: u32) {
        let count = self.classes.get(number).unwrap_or(&self.temporary);
        if count.fetch_add(amount, Ordering::Relaxed).checked_add(amount).is_none() {
            self.wrap(number);
        }
    }

    /// A count wrapped.
    #[cold]
    fn wrap(&self, number: usize) {
        let shift = 2 * number as u32;
        let _ = self.wraps.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |wraps| {
            (wraps >> shift & 3 != 3).then(|| wraps + (1 << shift))
        });
    }

    /// Adds to the sum of the ages, KiB; from any thread.
    pub fn add_age(&self, kib: u64) {
        self.ages.fetch_add(kib, Ordering::Relaxed);
    }

    /// The counts now.
    pub fn get(&self) -> Lifetime {
        let wraps = self.wraps.load(Ordering::Relaxed);
        let whole = |count: &AtomicU32, number: usize| {
            u64::from(count.load(Ordering::Relaxed)) + ((wraps >> (2 * number) & 3) << 32)
        };
        let mut classes = [0; CLASSES];
        for (number, class) in classes.iter_mut().enumerate() {
            *class = whole(&self.classes[number], number);
        }
        Lifetime {
            classes,
            temporary: whole(&self.temporary, TEMPORARY),
            ages: self.ages.load(Ordering::Relaxed),
            young_bytes: self.young_bytes.load(Ordering::Relaxed),
        }
    }
}

/// Ages of the freed objects of one record in allocations that the process made meanwhile, where these are watched.
#[derive(Debug)]
pub struct Ages {
    classes: [AtomicU64; AGE_CLASSES],
    sum: AtomicU64,
}

impl Ages {
    /// Counts a freed object, from any thread.
    pub fn count(&self, age: u64) {
        let class = (u64::BITS - age.leading_zeros()) as usize;
        self.classes[class.min(AGE_CLASSES - 1)].fetch_add(1, Ordering::Relaxed);
        self.sum.fetch_add(age, Ordering::Relaxed);
    }

    /// Objects by class of age, and the sum of the ages.
    pub fn get(&self) -> ([u64; AGE_CLASSES], u64) {
        let classes = core::array::from_fn(|class| self.classes[class].load(Ordering::Relaxed));
        (classes, self.sum.load(Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_fall_into_classes_by_powers_of_two() {
        for (age, expected) in [(0, 0), (1, 1), (2, 2), (3, 2), (4, 3), (7, 3), (8, 4), ((1 << 24) - 1, 24)] {
            assert_eq!(class(age), expected, "age {age}");
        }
    }

    /// What some ages come to, counted one by one.
    fn counted(ages: &[u32], rest: &'static Lifetimes) -> Lifetime {
        let recent = Recent::new();
        for &age in ages {
            recent.count(Freed { size: 10, age, is_temporary: age % 3 == 0 }, || Some(rest));
        }
        recent.get(Some(rest))
    }

    fn leaked() -> &'static Lifetimes {
        alloc::boxed::Box::leak(alloc::boxed::Box::default())
    }

    #[test]
    fn counts_go_on_beyond_32_bits() {
        let rest = leaked();
        rest.classes[3].store(u32::MAX, Ordering::Relaxed);
        rest.temporary.store(u32::MAX, Ordering::Relaxed);
        rest.count_shared(Freed { size: 1, age: 5, is_temporary: true });
        rest.classes[4].store(u32::MAX - 9, Ordering::Relaxed);
        rest.add(4, 1 << 16);
        let lifetime = rest.get();
        assert_eq!(lifetime.classes[3], 1 << 32);
        assert_eq!(lifetime.classes[4], (1 << 32) - 10 + (1 << 16));
        assert_eq!(lifetime.temporary, 1 << 32);
        assert_eq!(lifetime.ages, 5);
    }

    #[test]
    fn all_ages_are_counted_whatever_comes_first() {
        let all: alloc::vec::Vec<u32> =
            (0..24).map(|bit| 1 << bit).chain([0, 0, 3, 9, (1 << 24) - 1]).collect();
        let mut classes = [1; CLASSES];
        (classes[0], classes[2], classes[4], classes[24]) = (2, 2, 2, 2);
        for start in 0..all.len() {
            let mut ages = all.clone();
            ages.rotate_left(start);
            let lifetime = counted(&ages, leaked());
            assert_eq!(lifetime.classes, classes, "beginning with {}", ages[0]);
            assert_eq!(lifetime.ages, all.iter().map(|&age| u64::from(age)).sum::<u64>());
            assert_eq!(lifetime.temporary, all.iter().filter(|age| **age % 3 == 0).count() as u64);
            assert_eq!(lifetime.young_bytes, 20);
        }
    }

    #[test]
    fn short_numbers_are_carried_over() {
        let rest = leaked();
        let recent = Recent::new();
        let count = |size, age, is_temporary| recent.count(Freed { size, age, is_temporary }, || Some(rest));
        for _ in 0..70_000 {
            count(1 << 20, 0, true);
            count(1, (1 << 23) + 1, false);
        }
        count(5 << 32, 0, false);
        let lifetime = recent.get(Some(rest));
        assert_eq!((lifetime.classes[0], lifetime.classes[24], lifetime.temporary), (70_001, 70_000, 70_000));
        assert_eq!(lifetime.ages, 70_000 * ((1 << 23) + 1));
        assert_eq!(lifetime.young_bytes, (70_000 << 20) + (5 << 32));
    }
}
