//! What is known of objects beside how many there were: how long they lived, how they grew, and what of them was alive
//! at the snapshots.

use super::leaks::{Path, PathOptions, path_keys, path_to};
use super::number::Number;
use super::tree::Tree;
use mprof_format::model::{AGE_CLASSES, Ages, Category, Growth, History, LIFETIME_CLASSES, Lifetime, Live};
use std::collections::{BTreeMap, HashMap};
use std::ops::AddAssign;

/// The past of the objects of one counter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Past {
    /// How long the freed ones lived.
    pub lifetimes: Option<Box<Lifetimes>>,
    /// Reallocations that made them.
    pub growth: Option<Growing>,
    /// What was alive at the snapshots: for each at which it changed its number, and objects and bytes from then on.
    pub alive: Alive,
}

impl Past {
    /// Bytes alive at a snapshot.
    pub fn bytes_at(&self, snapshot: u32) -> u64 {
        self.at(snapshot).1
    }

    /// Objects and bytes alive at a snapshot.
    pub fn at(&self, snapshot: u32) -> (u64, u64) {
        let later = self.alive.partition_point(|&(number, ..)| number <= snapshot);
        later.checked_sub(1).map_or((0, 0), |last| (self.alive[last].1, self.alive[last].2))
    }
}

/// Snapshots by number, each with the objects and bytes that are alive from it on.
pub type Alive = Vec<(u32, u64, u64)>;

/// How long freed objects lived. Additions stop at the end of the numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lifetimes {
    /// Objects by class of age in KiB allocated meanwhile: 0, 1, 2–3, 4–7, …
    pub classes: [u64; LIFETIME_CLASSES],
    /// Sum of these ages, KiB.
    pub kib: u64,
    /// Objects freed before their thread allocated anything else.
    pub temporary: u64,
    /// Bytes in the young objects: those of the first class.
    pub young_bytes: u64,
    /// Objects by class of age in allocations made meanwhile: 0, 1, 2–3, 4–7, …; none where these were not recorded.
    pub by_allocations: [u64; AGE_CLASSES],
    /// Sum of these ages.
    pub allocations: u64,
}

impl Default for Lifetimes {
    fn default() -> Self {
        Lifetimes {
            classes: [0; LIFETIME_CLASSES],
            kib: 0,
            temporary: 0,
            young_bytes: 0,
            by_allocations: [0; AGE_CLASSES],
            allocations: 0,
        }
    }
}

impl Lifetimes {
    fn of(lifetime: Option<&Lifetime>, ages: Option<&Ages>) -> Option<Self> {
        if lifetime.is_none() && ages.is_none() {
            return None;
        }
        let mut lifetimes = Lifetimes::default();
        if let Some(lifetime) = lifetime {
            lifetimes.classes = lifetime.classes;
            lifetimes.kib = lifetime.ages;
            lifetimes.temporary = lifetime.temporary;
            lifetimes.young_bytes = lifetime.young_bytes;
        }
        if let Some(ages) = ages {
            lifetimes.by_allocations = ages.classes;
            lifetimes.allocations = ages.ages;
        }
        Some(lifetimes)
    }

    /// Freed objects whose age is known.
    pub fn objects(&self) -> u64 {
        sum(&self.classes)
    }

    /// Objects that died within 1 KiB of further allocation.
    pub fn young(&self) -> u64 {
        self.classes[0]
    }

    /// Freed objects whose age in allocations is known.
    pub fn counted_in_allocations(&self) -> u64 {
        sum(&self.by_allocations)
    }
}

fn sum(classes: &[u64]) -> u64 {
    classes.iter().fold(0, |sum: u64, class| sum.saturating_add(*class))
}

impl AddAssign<&Lifetimes> for Lifetimes {
    fn add_assign(&mut self, other: &Lifetimes) {
        let classes = self.classes.iter_mut().zip(other.classes);
        let by_allocations = self.by_allocations.iter_mut().zip(other.by_allocations);
        let sums = [
            (&mut self.kib, other.kib),
            (&mut self.temporary, other.temporary),
            (&mut self.young_bytes, other.young_bytes),
            (&mut self.allocations, other.allocations),
        ];
        for (sum, number) in classes.chain(by_allocations).chain(sums) {
            sum.add(number);
        }
    }
}

/// Reallocations. Additions stop at the end of the numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Growing {
    /// How many.
    pub reallocations: u64,
    /// Those of objects that no reallocation had made: so many chains begin here.
    pub first: u64,
    /// Those after which the object lay elsewhere.
    pub moved: u64,
    /// Bytes copied by these at most.
    pub copied_bytes: u64,
    /// The smallest size before, bytes.
    pub smallest: u64,
    /// The largest size after, bytes.
    pub largest: u64,
}

impl Growing {
    fn of(growth: &Growth) -> Self {
        let Growth { reallocations, first, moved, copied_bytes, smallest, largest, .. } = *growth;
        Growing { reallocations, first, moved, copied_bytes, smallest, largest }
    }
}

impl AddAssign<&Growing> for Growing {
    fn add_assign(&mut self, other: &Growing) {
        self.smallest = match (self.reallocations, other.reallocations) {
            (0, _) => other.smallest,
            (_, 0) => self.smallest,
            _ => self.smallest.min(other.smallest),
        };
        self.largest = self.largest.max(other.largest);
        self.reallocations.add(other.reallocations);
        self.first.add(other.first);
        self.moved.add(other.moved);
        self.copied_bytes.add(other.copied_bytes);
    }
}

/// Finds what a profile knows of each of its counters, asked for in their order.
pub(super) struct Pasts<'p> {
    live: Cursor<'p, Live>,
    lifetimes: Cursor<'p, Lifetime>,
    ages: Cursor<'p, Ages>,
    growth: Cursor<'p, Growth>,
    alive: BTreeMap<(u32, Category), Alive>,
}

impl<'p> Pasts<'p> {
    pub(super) fn new(history: &'p History) -> Self {
        let live = history.peak.as_ref().map_or(&[][..], |peak| &peak.live);
        Pasts {
            live: Cursor { rest: live, key: |live| (live.context, live.category) },
            lifetimes: Cursor { rest: &history.lifetimes, key: |life| (life.context, life.category) },
            ages: Cursor { rest: &history.ages, key: |ages| (ages.context, ages.category) },
            growth: Cursor { rest: &history.growth, key: |growth| (growth.context, growth.category) },
            alive: alive(history),
        }
    }

    /// What was alive at the peak, and what else is known.
    pub(super) fn of(&mut self, context: u32, category: Category) -> (Option<&'p Live>, Option<Past>) {
        let key = (context, category);
        let past = Past {
            lifetimes: Lifetimes::of(self.lifetimes.find(key), self.ages.find(key)).map(Box::new),
            growth: self.growth.find(key).map(Growing::of),
            alive: self.alive.remove(&key).unwrap_or_default(),
        };
        (self.live.find(key), (past != Past::default()).then_some(past))
    }
}

/// A list in the order of its keys, of which the first part has been passed.
struct Cursor<'p, T> {
    rest: &'p [T],
    key: fn(&T) -> (u32, Category),
}

impl<'p, T> Cursor<'p, T> {
    fn find(&mut self, key: (u32, Category)) -> Option<&'p T> {
        while let [first, rest @ ..] = self.rest {
            match (self.key)(first).cmp(&key) {
                std::cmp::Ordering::Greater => return None,
                std::cmp::Ordering::Equal => return Some(first),
                std::cmp::Ordering::Less => self.rest = rest,
            }
        }
        None
    }
}

/// What was alive at the snapshots, by counter. What a damaged file makes less than nothing is nothing.
fn alive(history: &History) -> BTreeMap<(u32, Category), Alive> {
    let mut alive: BTreeMap<(u32, Category), Alive> = BTreeMap::new();
    for (snapshot, changes) in (0..).zip(history.snapshots.iter().map(|snapshot| &snapshot.changes)) {
        for change in changes {
            let steps = alive.entry((change.context, change.category)).or_default();
            let (objects, bytes) = steps.last().map_or((0, 0), |&(_, objects, bytes)| (objects, bytes));
            let objects = objects.saturating_add_signed(change.objects);
            steps.push((snapshot, objects, bytes.saturating_add_signed(change.bytes)));
        }
    }
    alive
}

/// The past of the objects of one path.
#[derive(Debug, Clone)]
pub struct PathRow<T> {
    /// The path.
    pub path: Path,
    /// Functions of the path, innermost first, where it is of one chain.
    pub node: u32,
    /// The sum.
    pub sum: T,
}

/// Sums up by path what `of` finds in the past; in no particular order.
pub fn by_path<T: Default + for<'a> AddAssign<&'a T>>(
    tree: &Tree,
    options: PathOptions,
    of: impl Fn(&Past) -> Option<&T>,
) -> Vec<PathRow<T>> {
    let keys = path_keys(tree, options);
    let mut row_of = HashMap::new();
    let mut rows: Vec<(u32, T)> = Vec::new();
    for (node, past) in pasts(tree) {
        let Some(more) = of(past) else { continue };
        let row = *row_of.entry(keys[node as usize]).or_insert(rows.len());
        if row == rows.len() {
            rows.push((node, T::default()));
        }
        rows[row].1 += more;
    }
    let row = |(node, sum)| PathRow { path: path_to(tree, node, options), node, sum };
    rows.into_iter().map(row).collect()
}

/// What is known of the counts of a tree, with their nodes.
pub fn pasts(tree: &Tree) -> impl Iterator<Item = (u32, &Past)> {
    tree.counts.iter().filter_map(|count| Some((count.node, tree.pasts.get(count.past? as usize)?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read_along_with_the_counters() {
        let live = |context, category, bytes| Live { context, category, objects: 1, bytes };
        let peak = mprof_format::model::Peak {
            live: vec![
                live(1, Category::Small, 8),
                live(1, Category::Large, 2000),
                live(3, Category::Small, 9),
            ],
            ..Default::default()
        };
        let history = History { peak: Some(peak), ..History::default() };
        let mut pasts = Pasts::new(&history);
        let mut bytes = |context, category| pasts.of(context, category).0.map(|live| live.bytes);
        assert_eq!(bytes(0, Category::Small), None);
        assert_eq!(bytes(1, Category::Small), Some(8));
        assert_eq!(bytes(1, Category::Medium), None);
        assert_eq!(bytes(1, Category::Large), Some(2000));
        assert_eq!(bytes(3, Category::Small), Some(9));
    }

    #[test]
    fn growth_is_summed_with_its_bounds() {
        let mut sum = Growing::default();
        for (reallocations, smallest, largest) in [(3, 100, 800), (0, 0, 0), (1, 50, 60)] {
            sum += &Growing { reallocations, smallest, largest, ..Growing::default() };
        }
        assert_eq!((sum.reallocations, sum.smallest, sum.largest), (4, 50, 800));
    }
}
