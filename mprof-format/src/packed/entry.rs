//! What is told of one context and category, bit by bit. Each function serves both directions: it returns what it is
//! given, or, where the coder decodes, what was read.

use super::coder::Coder;
use super::models::{Cells, Pace};
use super::numbers::{Codec, Numbers, half_octave, share};
use super::places::*;
use crate::entries::Life;
use crate::history::LIFETIME_CLASSES;

/// What is allocated and kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) allocs: u64,
    pub(crate) bytes: u64,
    pub(crate) kept: u64,
    pub(crate) kept_bytes: u64,
}

/// How long the freed ones lived, as in [`crate::history::Lifetime`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Lives {
    pub(crate) classes: [u64; LIFETIME_CLASSES],
    pub(crate) temporary: u64,
    pub(crate) ages: u64,
    pub(crate) young_bytes: u64,
}

/// All of one context and category.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Packed {
    pub(crate) context: u32,
    pub(crate) category: u8,
    pub(crate) counts: Option<Counts>,
    /// Objects and bytes alive at the peak.
    pub(crate) live: Option<(u64, u64)>,
    pub(crate) lives: Option<Lives>,
}

/// What the later numbers of an entry are told after.
#[derive(Debug, Clone, Copy)]
struct Known {
    counts: Counts,
    /// What became of the objects.
    life: Life,
    /// The bytes are a multiple of the allocations: all objects may have the same size.
    is_multiple: bool,
    /// The category's place.
    category: usize,
    /// The allocations in half octaves.
    objects: usize,
}

/// The places of a number that is often the same: whether it is, the last one, and the number.
type Repeated = (Cells, Cells, Numbers);

const OF_ALLOCS: Repeated = (SAME_ALLOCS, LAST_ALLOCS, ALLOCS);
const OF_SIZE: Repeated = (SAME_SIZE, LAST_SIZE, SIZE);

/// What was coded, or why it cannot be.
type Coded<T> = Result<T, &'static str>;

impl<C: Coder> Codec<'_, C> {
    /// Whether another entry follows.
    pub(super) fn more(&mut self, more: bool) -> bool {
        self.flag(MORE, 0, more)
    }

    /// One entry.
    pub(super) fn entry(&mut self, entry: &Packed) -> Coded<Packed> {
        let (context, category) = self.key(entry.context, entry.category);
        let place = usize::from(category).min(CATEGORIES - 1);
        let has_counter = self.flag(HAS_COUNTER, 0, entry.counts.is_some());
        let mut known = Known {
            counts: Counts::default(),
            life: Life::None,
            is_multiple: true,
            category: place,
            objects: 0,
        };
        if has_counter {
            self.counter(&entry.counts.unwrap_or_default(), &mut known)?;
        }
        let live = self.live(entry.live, &known);
        let lives = self.lives(entry.lives.as_ref(), &known)?;
        Ok(Packed { context, category, counts: has_counter.then_some(known.counts), live, lives })
    }

    fn key(&mut self, context: u32, category: u8) -> (u32, u8) {
        let next = self.models.kept(NEXT_CONTEXT, 0) as u32;
        let last = self.models.kept(LAST_CATEGORY, 0) as usize;
        let is_same = self.flag(SAME_CONTEXT, last, context == next.wrapping_sub(1));
        let context = match is_same {
            true => next.wrapping_sub(1),
            false => next.wrapping_add(self.number(STEP, 0, context.wrapping_sub(next).into()) as u32),
        };
        let trees = CATEGORY.part(if is_same { last } else { 16 }, 16);
        let small = self.tree(trees, 4, Pace::Quick, category.min(15).into());
        let category = if small == 15 { self.even(8, category.into()) } else { small };
        self.models.keep(NEXT_CONTEXT, 0, context.wrapping_add(1).into());
        self.models.keep(LAST_CATEGORY, 0, category.min(15));
        (context, category as u8)
    }

    fn counter(&mut self, counts: &Counts, known: &mut Known) -> Coded<()> {
        let allocs = self.repeated(OF_ALLOCS, known.category, counts.allocs);
        known.objects = half_octave(allocs);
        let (bytes, is_multiple) = self.bytes(counts.bytes, allocs, known)?;
        known.is_multiple = is_multiple;
        known.counts = Counts { allocs, bytes, kept: 0, kept_bytes: 0 };
        let last = self.models.kept(LAST_LIFE, 0) as usize;
        if self.flag(ANY_KEPT, last, (counts.kept, counts.kept_bytes) != (0, 0)) {
            let is_all = (counts.kept, counts.kept_bytes) == (allocs, bytes);
            if self.flag(ALL_KEPT, 2 * last + usize::from(allocs == 1), is_all) {
                known.life = Life::All;
                (known.counts.kept, known.counts.kept_bytes) = (allocs, bytes);
            } else {
                known.life = Life::Some;
                let kept = self.number(KEPT, known.objects, counts.kept);
                known.counts.kept_bytes = self.part(kept, counts.kept_bytes, known);
                known.counts.kept = kept;
            }
        }
        self.models.keep(LAST_LIFE, 0, known.life as u64);
        Ok(())
    }

    /// A number that is often what it was in the last entry of the category: whether it is (`same`), or the number.
    fn repeated(&mut self, (same, last, numbers): Repeated, category: usize, value: u64) -> u64 {
        let before = self.models.kept(last, category);
        if self.flag(same, category, value == before) {
            return before;
        }
        let value = self.number(numbers, category, value);
        self.models.keep(last, category, value);
        value
    }

    /// The bytes of so many allocations, and whether they are a multiple of these.
    fn bytes(&mut self, bytes: u64, allocs: u64, known: &Known) -> Coded<(u64, bool)> {
        let category = known.category;
        if allocs == 0 {
            return Ok((self.number(PLAIN, 0, bytes), true));
        }
        let place = IS_MULTIPLE.part(category, OBJECTS);
        let (size, rest) = (bytes / allocs, bytes % allocs);
        let is_multiple = allocs == 1 || self.flag(place, known.objects, rest == 0);
        let (size, rest) = if is_multiple {
            (self.repeated(OF_SIZE, category, size), 0)
        } else {
            (self.number(MEAN, category, size), self.below(allocs, rest))
        };
        let bytes = size.checked_mul(allocs).and_then(|bytes| bytes.checked_add(rest));
        Ok((bytes.ok_or("bytes of a counter: fewer expected")?, is_multiple))
    }

    /// The bytes of some of the objects.
    fn part(&mut self, objects: u64, bytes: u64, known: &Known) -> u64 {
        let Counts { allocs, bytes: all, .. } = known.counts;
        let expected = share(objects, all, allocs);
        if (known.is_multiple || objects == allocs) && self.flag(AS_EXPECTED, 0, bytes == expected) {
            return expected;
        }
        let context = 17 * known.category + half_octave(objects).min(16);
        self.difference(PART, context, bytes, expected)
    }

    fn live(&mut self, live: Option<(u64, u64)>, known: &Known) -> Option<(u64, u64)> {
        let (objects, bytes) = live.unwrap_or_default();
        let allocs = known.counts.allocs;
        let context = known.life as usize;
        let is_any = self.flag(ANY_LIVE.part(context, OBJECTS), known.objects, live.is_some());
        let is_all = is_any && self.flag(ALL_LIVE.part(context, OBJECTS), known.objects, objects == allocs);
        let objects = match (is_any, is_all) {
            (false, _) => 0,
            (true, true) => allocs,
            (true, false) => {
                let expected = parts(allocs, self.models.average(SHARE_ALIVE, known.category));
                self.difference(LIVE, half_octave(expected), objects, expected)
            }
        };
        if allocs > 1 {
            self.models.add(SHARE_ALIVE, known.category, share(objects, 1 << 32, allocs));
        }
        is_any.then(|| (objects, self.part(objects, bytes, known)))
    }

    fn lives(&mut self, lives: Option<&Lives>, known: &Known) -> Coded<Option<Lives>> {
        let freed = known.counts.allocs.wrapping_sub(known.counts.kept);
        if !self.flag(HAS_LIFETIME, usize::from(freed > 0), lives.is_some()) {
            return Ok(None);
        }
        let given = lives.copied().unwrap_or_default();
        let sum = given.classes.iter().try_fold(0u64, |sum, count| sum.checked_add(*count));
        let mut lives = Lives::default();
        if self.flag(IS_PLAIN, 0, sum.is_none()) {
            for (class, given) in lives.classes.iter_mut().zip(given.classes) {
                *class = self.number(PLAIN, 0, given);
            }
        } else {
            let sum = sum.unwrap_or(0);
            let sum = match self.flag(ALL_KNOWN, 0, sum == freed) {
                true => freed,
                false => self.difference(KNOWN, 0, sum, freed),
            };
            lives.classes = self.classes(&given.classes, sum)?;
        }
        let young = lives.classes[0];
        if self.flag(ANY_TEMPORARY, half_octave(young), given.temporary != 0) {
            lives.temporary = match self.flag(ALL_TEMPORARY, 0, given.temporary == young) {
                true => young,
                false => self.number(TEMPORARY, half_octave(young), given.temporary),
            };
        }
        lives.ages = self.ages(given.ages, &lives.classes);
        if young > 0 {
            lives.young_bytes = self.part(young, given.young_bytes, known);
        }
        Ok(Some(lives))
    }

    /// The objects of each class, of `sum` in all.
    fn classes(&mut self, given: &[u64; LIFETIME_CLASSES], sum: u64) -> Coded<[u64; LIFETIME_CLASSES]> {
        let mut classes = [0; LIFETIME_CLASSES];
        let mut left = sum;
        for (number, (class, given)) in classes.iter_mut().zip(given).enumerate() {
            if left == 0 {
                break;
            }
            *class =
                if number == LIFETIME_CLASSES - 1 { left } else { self.class(number, *given, left, sum) };
            if left > 1 {
                self.models.add(SHARE_OF_CLASS, number, share(*class, 1 << 32, left));
            }
            left = left.checked_sub(*class).ok_or("objects of an age: fewer expected")?;
        }
        Ok(classes)
    }

    /// The objects of one class, of those `left`.
    fn class(&mut self, number: usize, given: u64, left: u64, sum: u64) -> u64 {
        let context = half_octave(left).min(LEFT - 1) / 2 * 2 + usize::from(left != sum);
        if self.flag(CLASS_EMPTY.part(number, LEFT), context, given == 0) {
            return 0;
        }
        if left == 1 || self.flag(CLASS_LAST.part(number, LEFT), context, given == left) {
            return left;
        }
        let average = self.models.average(SHARE_OF_CLASS, number);
        let quarters = (u128::from(left) * u128::from(average)) >> 30;
        if quarters < 12 {
            return self.number(FEW, quarters as usize, given);
        }
        let expected = parts(left, average);
        let spread = share(expected, left - expected, left);
        self.difference(MANY, half_octave(spread), given, expected)
    }

    /// The sum of the ages of all objects, given their classes.
    fn ages(&mut self, given: u64, classes: &[u64; LIFETIME_CLASSES]) -> u64 {
        let old = || (1..LIFETIME_CLASSES).zip(&classes[1..]).filter(|(_, count)| **count > 0);
        let Some((first, &objects)) = old().next() else { return 0 };
        if old().count() == 1 {
            let mean = match self.models.kept(LAST_AGE, first) {
                0 => 3 << first >> 2,
                mean => mean,
            };
            let ages = self.difference(AGES_OF_ONE, first, given, mean.wrapping_mul(objects));
            self.models.keep(LAST_AGE, first, ages / objects);
            return ages;
        }
        let least: u128 = old().map(|(class, &count)| u128::from(count) << (class - 1)).sum();
        let spread: u128 = old().map(|(class, &count)| u128::from(count) << (2 * class - 2)).sum();
        let average = self.models.average(AGE_IN_CLASS, 0);
        let expected = (least + ((least * u128::from(average)) >> 32)) as u64;
        let octaves = (u128::BITS - spread.leading_zeros()) as usize / 2;
        let ages = self.difference(AGES, octaves, given, expected);
        let over = u128::from(ages).saturating_sub(least);
        self.models.add(AGE_IN_CLASS, 0, ((over << 32) / least).min(u64::MAX.into()) as u64);
        ages
    }
}

/// So many parts of 2³² of a number.
fn parts(number: u64, parts: u32) -> u64 {
    ((u128::from(number) * u128::from(parts)) >> 32) as u64
}
