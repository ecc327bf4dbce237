//! Random histories of a heap.

use super::truth::{Alive, Truth};
use super::{SITES, allocate, reallocate, release};

/// A linear congruential generator (Knuth, TAOCP volume 2, section 3.3.4).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit.max(1)
    }
}

/// How a history goes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Character {
    /// Sizes are below this, most of them far.
    pub(crate) largest: u64,
    /// In a hundred events so many are frees, while it grows and while it shrinks.
    pub(crate) frees: [u64; 2],
    /// In a hundred allocations so many are reallocations.
    pub(crate) reallocations: u64,
    /// Events after which it turns from growing to shrinking and back.
    pub(crate) turn: u64,
}

impl Character {
    pub(crate) fn random(random: &mut Random) -> Character {
        Character {
            largest: [16, 300, 3000, 100_000][random.below(4) as usize],
            frees: [random.below(50), 30 + random.below(70)],
            reallocations: [0, 5, 40][random.below(3) as usize],
            turn: 1 + random.below(150),
        }
    }

    pub(crate) fn size(&self, random: &mut Random) -> usize {
        let bound = 1 + random.below(self.largest);
        random.below(bound) as usize
    }
}

/// Makes events in the engine and in the books.
pub(crate) fn run(random: &mut Random, character: Character, events: u64, truth: &mut Truth) -> Vec<Alive> {
    let mut objects: Vec<Alive> = Vec::new();
    for event in 0..events {
        let frees = character.frees[(event / character.turn % 2) as usize];
        if random.below(100) < frees && !objects.is_empty() {
            let freed = take(random, &mut objects);
            truth.free(freed);
            release(freed.made.object);
        } else if random.below(100) < character.reallocations && !objects.is_empty() {
            let old = take(random, &mut objects);
            let size = 1 + character.size(random);
            let made = reallocate(random.below(2) as usize, old.made.object, size);
            objects.push(truth.reallocate(old, made, size));
        } else {
            let size = character.size(random);
            let made = allocate(random.below(SITES as u64) as usize, size);
            objects.push(truth.allocate(made, size));
        }
    }
    objects
}

/// One of the objects, often the last.
pub(crate) fn take(random: &mut Random, objects: &mut Vec<Alive>) -> Alive {
    let last = objects.len() as u64 - 1;
    let index = if random.below(2) == 0 { last } else { random.below(last + 1) };
    objects.swap_remove(index as usize)
}
