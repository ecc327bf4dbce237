//! What must come out: the same events booked the plain way.

use std::collections::BTreeMap;

use mprof_format::kinds::Category;
use mprof_format::model::{AGE_CLASSES, LIFETIME_CLASSES, Lifetime, Profile};

use super::{Made, site_of};

/// Call site and category number.
pub(crate) type Key = (usize, u8);

/// Objects and bytes.
pub(crate) type Amount = (u64, u64);

/// What is alive, without what is nothing.
pub(crate) type Heap = BTreeMap<Key, Amount>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ages {
    pub(crate) classes: [u64; LIFETIME_CLASSES],
    pub(crate) temporary: u64,
    pub(crate) ages: u64,
    pub(crate) young_bytes: u64,
}

impl Default for Ages {
    fn default() -> Self {
        Ages { classes: [0; LIFETIME_CLASSES], temporary: 0, ages: 0, young_bytes: 0 }
    }
}

/// Ages in allocations: objects by class, and the sum.
pub(crate) type ByAllocations = BTreeMap<Key, ([u64; AGE_CLASSES], u64)>;

/// Reallocations.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Growth {
    pub(crate) reallocations: u64,
    pub(crate) first: u64,
    pub(crate) moved: u64,
    pub(crate) copied_bytes: u64,
    pub(crate) smallest: u64,
    pub(crate) largest: u64,
}

/// An object that is alive.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Alive {
    pub(crate) made: Made,
    pub(crate) size: usize,
    birth: u64,
    number: u64,
    /// A reallocation has made it.
    grown: bool,
}

impl Alive {
    fn key(&self) -> Key {
        (self.made.site, Category::of_size(self.size as u64).index())
    }
}

/// Sums at a moment: bytes and objects alive, bytes and objects allocated.
pub(crate) type Sums = (u64, u64, u64, u64);

/// The heap at its peak.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Peak {
    pub(crate) bytes: u64,
    pub(crate) objects: u64,
    pub(crate) number: u64,
    pub(crate) heap: Heap,
}

/// The books.
#[derive(Debug, Default)]
pub(crate) struct Truth {
    pub(crate) heap: Heap,
    pub(crate) ages: BTreeMap<Key, Ages>,
    pub(crate) by_allocations: ByAllocations,
    pub(crate) growth: BTreeMap<Key, Growth>,
    /// After each event, if it is to be kept.
    pub(crate) past: Vec<Sums>,
    /// The heap after each event, likewise.
    pub(crate) heaps: Vec<Heap>,
    pub(crate) keep_heaps: bool,
    bytes: u64,
    objects: u64,
    pub(crate) allocated: u64,
    pub(crate) number: u64,
    most: u64,
    /// Whether there was no free since the last maximum.
    falls: bool,
    peak: Peak,
}

impl Truth {
    pub(crate) fn allocate(&mut self, made: Made, size: usize) -> Alive {
        self.bytes += size as u64;
        self.objects += 1;
        self.allocated += size as u64;
        self.number += 1;
        if self.bytes > self.most {
            self.most = self.bytes;
            self.falls = false;
        }
        let alive = Alive { made, size, birth: self.allocated, number: self.number, grown: false };
        let amount = self.heap.entry(alive.key()).or_default();
        *amount = (amount.0 + 1, amount.1 + size as u64);
        self.note();
        alive
    }

    /// A reallocation, which is a free and an allocation.
    pub(crate) fn reallocate(&mut self, old: Alive, made: Made, size: usize) -> Alive {
        self.free(old);
        let alive = Alive { grown: true, ..self.allocate(made, size) };
        let growth =
            self.growth.entry(alive.key()).or_insert(Growth { smallest: u64::MAX, ..Growth::default() });
        let (from, to) = (old.size as u64, size as u64);
        growth.reallocations += 1;
        growth.first += u64::from(!old.grown);
        if old.made.object != made.object {
            growth.moved += 1;
            growth.copied_bytes += from.min(to);
        }
        growth.smallest = growth.smallest.min(from);
        growth.largest = growth.largest.max(to);
        alive
    }

    pub(crate) fn free(&mut self, alive: Alive) {
        let is_temporary = alive.number == self.number;
        self.free_by(alive, is_temporary);
    }

    pub(crate) fn free_by(&mut self, alive: Alive, is_temporary: bool) {
        self.end_climb();
        self.bytes -= alive.size as u64;
        self.objects -= 1;
        let amount = self.heap.get_mut(&alive.key()).unwrap();
        *amount = (amount.0 - 1, amount.1 - alive.size as u64);
        if amount.0 == 0 {
            self.heap.remove(&alive.key());
        }
        let age = (self.allocated >> 10) - (alive.birth >> 10);
        let ages = self.ages.entry(alive.key()).or_default();
        ages.classes[Lifetime::class_of(age)] += 1;
        ages.temporary += u64::from(is_temporary);
        ages.ages += age;
        ages.young_bytes += if age == 0 { alive.size as u64 } else { 0 };
        let age = self.number - alive.number;
        let (classes, sum) = self.by_allocations.entry(alive.key()).or_insert(([0; AGE_CLASSES], 0));
        classes[(u64::BITS - age.leading_zeros()) as usize] += 1;
        *sum += age;
        self.note();
    }

    fn note(&mut self) {
        self.past.push((self.bytes, self.objects, self.allocated, self.number));
        if self.keep_heaps {
            self.heaps.push(self.heap.clone());
        }
    }

    fn end_climb(&mut self) {
        if !self.falls {
            self.falls = true;
            let heap = self.heap.clone();
            self.peak = Peak { bytes: self.bytes, objects: self.objects, number: self.number, heap };
        }
    }

    /// The peak so far. What comes after it begins a new climb only with a new maximum, as it would without the call.
    pub(crate) fn peak(&mut self) -> Peak {
        if self.falls {
            return self.peak.clone();
        }
        self.end_climb();
        self.falls = false;
        self.peak.clone()
    }
}

/// What a profile says was alive at the peak.
pub(crate) fn peak_of(profile: &Profile) -> Peak {
    let peak = profile.history.peak.as_ref().unwrap();
    assert!(!peak.totals.incomplete);
    let mut heap = Heap::new();
    for live in &peak.live {
        let amount = heap.entry((site_of(profile, live.context), live.category.index())).or_default();
        *amount = (amount.0 + live.objects, amount.1 + live.bytes);
    }
    let totals = &peak.totals;
    Peak { bytes: totals.bytes, objects: totals.objects, number: totals.number, heap }
}

/// What a profile says of ages.
pub(crate) fn ages_of(profile: &Profile) -> BTreeMap<Key, Ages> {
    let mut all = BTreeMap::new();
    for lifetime in &profile.history.lifetimes {
        let key = (site_of(profile, lifetime.context), lifetime.category.index());
        let ages: &mut Ages = all.entry(key).or_default();
        for (sum, count) in ages.classes.iter_mut().zip(lifetime.classes) {
            *sum += count;
        }
        ages.temporary += lifetime.temporary;
        ages.ages += lifetime.ages;
        ages.young_bytes += lifetime.young_bytes;
    }
    all
}
