//! The kinds of kept objects, by what the program could still reach when it ended.

use super::tally::Usage;
use mprof_format::model::{Amount, CLASSES, Category, Class, Kept, Profile};
use std::collections::HashMap;

/// A kind as the tables name it.
pub fn name(kind: Class) -> &'static str {
    match kind {
        Class::Lost => "lost",
        Class::Indirect => "indirect",
        Class::Possible => "possible",
        Class::Reachable => "reachable",
    }
}

/// A set of kinds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kinds([bool; CLASSES]);

impl Kinds {
    /// Every kind.
    pub const ALL: Kinds = Kinds([true; CLASSES]);
    /// No kind.
    pub const NONE: Kinds = Kinds([false; CLASSES]);
    /// What the program cannot reach any more, for certain.
    pub const LOST: Kinds = Kinds::NONE.with(Class::Lost).with(Class::Indirect);

    /// The set with one kind more.
    #[must_use]
    pub const fn with(self, kind: Class) -> Self {
        let mut kinds = self.0;
        kinds[kind.index()] = true;
        Kinds(kinds)
    }

    /// Whether objects of this kind are meant. Those that were not classified always are.
    pub fn has(self, kind: Option<Class>) -> bool {
        kind.is_none_or(|kind| self.0[kind.index()])
    }

    /// Reads names with commas between them, this tool's or Valgrind's; `None` where one is something else.
    pub fn read(text: &str) -> Option<Kinds> {
        text.split(',').try_fold(Kinds::NONE, |kinds, word| {
            Some(match word.trim() {
                "lost" | "definite" => kinds.with(Class::Lost),
                "indirect" => kinds.with(Class::Indirect),
                "possible" => kinds.with(Class::Possible),
                "reachable" => kinds.with(Class::Reachable),
                "all" => Kinds::ALL,
                "none" => kinds,
                _ => return None,
            })
        })
    }
}

/// The kept objects of a profile by kind.
#[derive(Debug)]
pub struct Classified<'p>(Option<HashMap<(u32, Category), &'p Kept>>);

impl<'p> Classified<'p> {
    /// Looks at a profile.
    pub fn new(profile: &'p Profile) -> Self {
        let kept = profile.reachability.as_ref().map(|reachability| &reachability.kept);
        Classified(kept.map(|kept| kept.iter().map(|kept| ((kept.context, kept.category), kept)).collect()))
    }

    /// Splits what one counter says: its kept objects by kind, then everything else. The parts sum up to the whole.
    pub fn split(&self, context: u32, category: Category, usage: Usage) -> Vec<(Option<Class>, Usage)> {
        let kept = self.0.as_ref().and_then(|kept| kept.get(&(context, category)));
        let mut rest = usage;
        let mut parts = Vec::new();
        for kind in Class::ALL {
            let amount = kept.map_or(Amount::default(), |kept| kept.classes[kind.index()]);
            let objects = amount.objects.min(rest.kept());
            let bytes = amount.bytes.min(rest.kept_bytes());
            if objects > 0 {
                rest.allocs -= objects;
                rest.bytes -= bytes;
                parts.push((Some(kind), Usage::new(objects, bytes, 0, 0)));
            }
        }
        if rest != Usage::default() || parts.is_empty() {
            parts.push((None, rest));
        }
        parts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mprof_format::model::Reachability;

    #[test]
    fn kinds_are_read_by_either_name() {
        let two = Kinds::NONE.with(Class::Lost).with(Class::Possible);
        assert_eq!(Kinds::read("definite,possible"), Some(two));
        assert_eq!(Kinds::read("possible, lost"), Some(two));
        assert_eq!(Kinds::read("all"), Some(Kinds::ALL));
        assert_eq!(Kinds::read("none"), Some(Kinds::NONE));
        assert_eq!(Kinds::read("leaked"), None);
        assert!(two.has(Some(Class::Lost)) && two.has(None) && !two.has(Some(Class::Reachable)));
    }

    #[test]
    fn the_parts_sum_up_to_the_whole() {
        let amount = |objects, bytes| Amount { objects, bytes };
        let classes = [amount(1, 10), amount(0, 0), amount(0, 0), amount(2, 40)];
        let kept = Kept { context: 3, category: Category::Small, classes };
        let reachability = Some(Reachability { unseen_threads: 0, kept: vec![kept] });
        let profile = Profile { reachability, ..Profile::default() };
        let classified = Classified::new(&profile);
        assert_eq!(
            classified.split(3, Category::Small, Usage::new(10, 100, 6, 45)),
            [
                (Some(Class::Lost), Usage::new(1, 10, 0, 0)),
                (Some(Class::Reachable), Usage::new(2, 40, 0, 0)),
                (None, Usage::new(7, 50, 6, 45)),
            ]
        );
        // More than the counter has is not believed.
        assert_eq!(
            classified.split(3, Category::Small, Usage::new(2, 15, 0, 0)),
            [(Some(Class::Lost), Usage::new(1, 10, 0, 0)), (Some(Class::Reachable), Usage::new(1, 5, 0, 0))]
        );
        let freed = Usage::new(5, 50, 5, 50);
        assert_eq!(classified.split(4, Category::Small, freed), [(None, freed)]);
    }
}
