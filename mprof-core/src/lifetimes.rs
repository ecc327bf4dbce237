//! How long freed objects lived, by counter record.
//!
//! The age of an object is counted in KiB that the process allocated meanwhile: a histogram by powers of two, the
//! sum, and how many were freed before their thread allocated anything else. So 0 KiB means: before the next KiB of
//! allocation was full.

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

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

/// Lifetimes of the freed objects of one record. Counts wrap at 2³²: how often is counted beside them.
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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
    /// Counts a freed object, as the record's owner.
    #[inline(always)]
    pub fn count_owned(&self, freed: Freed) {
        let add = |count: &AtomicU32, number: usize| {
            let next = count.load(Ordering::Relaxed).wrapping_add(1);
            count.store(next, Ordering::Relaxed);
            if next == 0 {
                self.wrap(number);
            }
        };
        let class = class(freed.age);
        add(&self.classes[class % CLASSES], class);
        if freed.is_temporary {
            add(&self.temporary, TEMPORARY);
        }
        let add = |sum: &AtomicU64, amount: u64| {
            sum.store(sum.load(Ordering::Relaxed).wrapping_add(amount), Ordering::Relaxed);
        };
        if class == 0 {
            add(&self.young_bytes, freed.size);
        } else {
            add(&self.ages, freed.age.into());
        }
    }

    /// Counts a freed object, from any thread.
    pub fn count_shared(&self, freed: Freed) {
        let add = |count: &AtomicU32, number: usize| {
            if count.fetch_add(1, Ordering::Relaxed) == u32::MAX {
                self.wrap(number);
            }
        };
        let class = class(freed.age);
        add(&self.classes[class], class);
        if freed.is_temporary {
            add(&self.temporary, TEMPORARY);
        }
        if class == 0 {
            self.young_bytes.fetch_add(freed.size, Ordering::Relaxed);
        } else {
            self.ages.fetch_add(freed.age.into(), Ordering::Relaxed);
        }
    }

    #[cold]
    fn wrap(&self, number: usize) {
        let shift = 2 * number as u32;
        let _ = self.wraps.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |wraps| {
            (wraps >> shift & 3 != 3).then(|| wraps + (1 << shift))
        });
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_fall_into_classes_by_powers_of_two() {
        for (age, expected) in [(0, 0), (1, 1), (2, 2), (3, 2), (4, 3), (7, 3), (8, 4), ((1 << 24) - 1, 24)] {
            assert_eq!(class(age), expected, "age {age}");
        }
    }

    #[test]
    fn counts_go_on_beyond_32_bits() {
        let lifetimes = Lifetimes::default();
        lifetimes.classes[3].store(u32::MAX, Ordering::Relaxed);
        lifetimes.count_owned(Freed { size: 1, age: 4, is_temporary: false });
        lifetimes.temporary.store(u32::MAX, Ordering::Relaxed);
        lifetimes.count_shared(Freed { size: 1, age: 5, is_temporary: true });
        let lifetime = lifetimes.get();
        assert_eq!(lifetime.classes[3], (1 << 32) + 1);
        assert_eq!(lifetime.temporary, 1 << 32);
        assert_eq!(lifetime.ages, 9);
    }
}
