//! Where in the memory each thing that is told has its cells. An index that is too large means the last place.

use super::models::{Cells, Pace};
use super::numbers::{Differences, Numbers};
use crate::history::LIFETIME_CLASSES;

/// Categories that have places of their own; the others share one more.
pub(super) const CATEGORIES: usize = 5;
/// Half octaves, of a number of objects, that have places of their own.
pub(super) const OBJECTS: usize = 32;
/// Octaves, of objects that are left, that have places of their own; with both cases of [`CLASS_EMPTY`].
pub(super) const LEFT: usize = 12 * 2;

// Whether another entry follows.
pub(super) const MORE: Cells = Cells::start(1);
// Whether the context is the last entry's, by its category.
pub(super) const SAME_CONTEXT: Cells = MORE.then(16);
// Contexts left out.
pub(super) const STEP: Numbers = Numbers::after(SAME_CONTEXT, 1, 2, Pace::Quick);
// The category: trees of 4 bits, by the last entry's if it has the same context.
pub(super) const CATEGORY: Cells = STEP.last().then(17 * 16);
pub(super) const HAS_COUNTER: Cells = CATEGORY.then(1);

// Allocations, by category: whether they are as many as those of the last entry of this category; how many.
pub(super) const SAME_ALLOCS: Cells = HAS_COUNTER.then(CATEGORIES);
pub(super) const ALLOCS: Numbers = Numbers::after(SAME_ALLOCS, CATEGORIES, 4, Pace::Quick);
// Bytes: whether they are a multiple of the allocations, by category and allocations; if so, whether of the size that
// the category had last, and the size; if not, the mean size.
pub(super) const IS_MULTIPLE: Cells = ALLOCS.last().then(CATEGORIES * OBJECTS);
pub(super) const SAME_SIZE: Cells = IS_MULTIPLE.then(CATEGORIES);
pub(super) const SIZE: Numbers = Numbers::after(SAME_SIZE, CATEGORIES, 7, Pace::Quick);
pub(super) const MEAN: Numbers = Numbers::after(SIZE.last(), CATEGORIES, 5, Pace::Quick);
// Kept: whether there are any, by the last entry's life; whether all are, by that and whether there is more than one.
pub(super) const ANY_KEPT: Cells = MEAN.last().then(3);
pub(super) const ALL_KEPT: Cells = ANY_KEPT.then(3 * 2);
pub(super) const KEPT: Numbers = Numbers::after(ALL_KEPT, 16, 2, Pace::Quick);
// Bytes of a part of the objects.
pub(super) const AS_EXPECTED: Cells = KEPT.last().then(1);
pub(super) const PART: Differences = Differences::after(AS_EXPECTED, CATEGORIES * 17);

// At the peak: whether anything was alive, and whether all, by life and allocations; how many objects.
pub(super) const ANY_LIVE: Cells = PART.last().then(3 * OBJECTS);
pub(super) const ALL_LIVE: Cells = ANY_LIVE.then(3 * OBJECTS);
pub(super) const LIVE: Differences = Differences::after(ALL_LIVE, OBJECTS);

// Lifetimes: whether there are any, by whether anything was freed; whether their sum has 64 bits; whether they are those
// of all that was freed, and how many.
pub(super) const HAS_LIFETIME: Cells = LIVE.last().then(2);
pub(super) const IS_PLAIN: Cells = HAS_LIFETIME.then(1);
pub(super) const ALL_KNOWN: Cells = IS_PLAIN.then(1);
pub(super) const KNOWN: Differences = Differences::after(ALL_KNOWN, 1);
// Classes: whether one is empty, whether it has all that is left; how many, if few are expected, and if many are.
pub(super) const CLASS_EMPTY: Cells = KNOWN.last().then(LIFETIME_CLASSES * LEFT);
pub(super) const CLASS_LAST: Cells = CLASS_EMPTY.then(LIFETIME_CLASSES * LEFT);
pub(super) const FEW: Numbers = Numbers::after(CLASS_LAST, 12, 2, Pace::Slow);
pub(super) const MANY: Differences = Differences::after(FEW.last(), 48);
// Temporary objects: whether there are any, whether those of class 0 are, how many.
pub(super) const ANY_TEMPORARY: Cells = MANY.last().then(16);
pub(super) const ALL_TEMPORARY: Cells = ANY_TEMPORARY.then(1);
pub(super) const TEMPORARY: Numbers = Numbers::after(ALL_TEMPORARY, 16, 2, Pace::Quick);
// The sum of ages, by class where there is one, and by how far it may be off where there are several.
pub(super) const AGES_OF_ONE: Differences = Differences::after(TEMPORARY.last(), LIFETIME_CLASSES);
pub(super) const AGES: Differences = Differences::after(AGES_OF_ONE.last(), 32);
// Numbers of which nothing is expected.
pub(super) const PLAIN: Numbers = Numbers::after(AGES.last(), 1, 1, Pace::Quick);

// What is kept: two cells each.
pub(super) const NEXT_CONTEXT: Cells = PLAIN.last().then(2);
pub(super) const LAST_CATEGORY: Cells = NEXT_CONTEXT.then(2);
pub(super) const LAST_LIFE: Cells = LAST_CATEGORY.then(2);
pub(super) const LAST_ALLOCS: Cells = LAST_LIFE.then(2 * CATEGORIES);
pub(super) const LAST_SIZE: Cells = LAST_ALLOCS.then(2 * CATEGORIES);
pub(super) const LAST_AGE: Cells = LAST_SIZE.then(2 * LIFETIME_CLASSES);
// Averages: two cells each.
pub(super) const SHARE_ALIVE: Cells = LAST_AGE.then(2 * CATEGORIES);
pub(super) const SHARE_OF_CLASS: Cells = SHARE_ALIVE.then(2 * LIFETIME_CLASSES);
pub(super) const AGE_IN_CLASS: Cells = SHARE_OF_CLASS.then(2);

/// Cells in all.
pub(crate) const CELLS: usize = AGE_IN_CLASS.end();
