//! How long freed objects lived, by counter record.
//!
//! The age of an object is counted in KiB that the process allocated meanwhile: a histogram by powers of two, the
//! sum, and how many were freed before their thread allocated anything else. So 0 KiB means: before the next KiB of
//! allocation was full.
//!
//! The objects of one chain mostly live about as long as each other. So a record counts in few and short numbers of its
//! own ([`Recent`]), which lie in the same cache line as its other counts; what does not fit these goes to a
//! [`Lifetimes`] that has all of them, made only where it is needed.

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
    (u32::BITS - 1 - (age << 1 | 1).leading_zeros()) as usize
}

/// Classes that a record counts by itself, besides the first.
const WINDOW: usize = 19;
/// They are the lower ones, up to half a GiB of allocation, unless the first object is of a class above this.
const LOW: usize = 16;

/// Lifetimes of the freed objects of one record, as far as they fit. Only the record's owner counts here. Numbers that
/// wrap are carried to the record's [`Lifetimes`].
#[derive(Debug)]
#[repr(C)]
pub struct Recent {
    /// Sum of the ages, KiB.
    ages: AtomicU32,
    /// Bytes in objects of the first class.
    young_bytes: AtomicU32,
    /// Objects freed before their thread allocated anything else.
    temporary: AtomicU16,
    /// Objects of the first class.
    young: AtomicU16,
    /// Class that the window begins with; 0: there is no window yet.
    first: AtomicU8,
    window: [AtomicU8; WINDOW],
}

const _: () = assert!(size_of::<Recent>() == 32, "half a cache line");

impl Recent {
    /// Nothing counted yet.
    pub const fn new() -> Recent {
        Recent {
            ages: AtomicU32::new(0),
            young_bytes: AtomicU32::new(0),
            temporary: AtomicU16::new(0),
            young: AtomicU16::new(0),
            first: AtomicU8::new(0),
            window: [const { AtomicU8::new(0) }; WINDOW],
        }
    }

    /// Counts a freed object, as the record's owner. `rest`: the record's other lifetimes, if there is memory for them.
    #[inline(always)]
    pub fn count(&self, freed: Freed, rest: impl Fn() -> Option<&'static Lifetimes> + Copy) {
        let class = class(freed.age);
        if class == 0 {
            add_one_of_many(&self.young, 0, rest);
            let (sum, carry) = add(&self.young_bytes, freed.size);
            if carry != 0 {
                rest_of(rest, move |rest| rest.young_bytes.fetch_add(carry, Ordering::Relaxed));
            }
            self.young_bytes.store(sum, Ordering::Relaxed);
        } else {
            let (sum, carry) = add(&self.ages, freed.age.into());
            if carry != 0 {
                rest_of(rest, move |rest| rest.ages.fetch_add(carry, Ordering::Relaxed));
            }
            self.ages.store(sum, Ordering::Relaxed);
            let first = self.first.load(Ordering::Relaxed);
            match self.window.get(class.wrapping_sub(first.into())) {
                Some(count) if first != 0 => add_one(count, class, rest),
                _ => self.count_outside(class, rest),
            }
        }
        if freed.is_temporary {
            add_one_of_many(&self.temporary, TEMPORARY, rest);
        }
    }

    /// Counts an object whose class is not in the window.
    #[cold]
    #[inline(never)]
    fn count_outside(&self, class: usize, rest: impl Fn() -> Option<&'static Lifetimes> + Copy) {
        if self.first.load(Ordering::Relaxed) != 0 {
            rest_of(rest, move |rest| rest.add(class, 1));
            return;
        }
        let first = if class > LOW { CLASSES - WINDOW } else { 1 };
        self.first.store(first as u8, Ordering::Relaxed);
        add_one(&self.window[class - first], class, rest);
    }

    /// The counts now, with those of the rest.
    pub fn get(&self, rest: Option<&Lifetimes>) -> Lifetime {
        let mut all = rest.map_or_else(Lifetime::default, Lifetimes::get);
        let first = usize::from(self.first.load(Ordering::Relaxed));
        all.classes[0] += u64::from(self.young.load(Ordering::Relaxed));
        for (class, count) in all.classes.iter_mut().skip(first).zip(&self.window) {
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

/// Adds one to a count of a [`Recent`]; where it wraps, the rest takes what it held.
#[inline(always)]
fn add_one(count: &AtomicU8, number: usize, rest: impl Fn() -> Option<&'static Lifetimes>) {
    let next = count.load(Ordering::Relaxed).wrapping_add(1);
    count.store(next, Ordering::Relaxed);
    if next == 0 {
        rest_of(rest, move |rest| rest.add(number, 1 << 8));
    }
}

/// The same for a count that wraps more seldom.
#[inline(always)]
fn add_one_of_many(count: &AtomicU16, number: usize, rest: impl Fn() -> Option<&'static Lifetimes>) {
    let next = count.load(Ordering::Relaxed).wrapping_add(1);
    count.store(next, Ordering::Relaxed);
    if next == 0 {
        rest_of(rest, move |rest| rest.add(number, 1 << 16));
    }
}

/// A sum and what is carried over 32 bits.
#[inline(always)]
fn add(sum: &AtomicU32, amount: u64) -> (u32, u64) {
    let total = u64::from(sum.load(Ordering::Relaxed)).wrapping_add(amount);
    (total as u32, total >> 32 << 32)
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
