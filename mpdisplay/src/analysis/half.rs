//! The halves of a profile: what the C library's allocation functions gave out, and what a garbage collector's heap did
//! (paper, sections 2 and 3.4). They have categories of their own, and are shown in tables of their own: a half is a
//! profile in which nothing else was allocated.

use super::lisp;
use mprof_format::model::{Category, History, Profile};
use std::borrow::Cow;

/// A half.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Half {
    /// What malloc and its kin gave out, by size.
    #[default]
    C,
    /// What a Lisp system allocated, by type.
    Lisp,
    /// What another program's garbage collector gave out, by size.
    Collected,
}

impl Half {
    /// All, in the order in which they are shown.
    pub const ALL: [Half; 3] = [Half::C, Half::Lisp, Half::Collected];

    /// The half that objects of a category belong to.
    pub fn of(category: Category) -> Half {
        match category.index() {
            4..8 => Half::Lisp,
            8..12 => Half::Collected,
            _ => Half::C,
        }
    }

    /// The letters of its categories.
    pub fn letters(self) -> [u8; 4] {
        match self {
            Half::Lisp => *b"cfso",
            Half::C | Half::Collected => *b"smlx",
        }
    }

    /// The letter of a column of its categories.
    pub fn letter(self, column: usize) -> char {
        self.letters().get(column).map_or(' ', |&letter| letter.into())
    }

    /// Whether the program frees its objects, so that what it keeps means something.
    pub fn is_freed(self) -> bool {
        self == Half::C
    }

    /// What it is called, where there are several.
    pub fn name(self) -> &'static str {
        match self {
            Half::C => "C",
            Half::Lisp => "Lisp",
            Half::Collected => "Garbage collector",
        }
    }

    /// As the command line calls it.
    pub fn option(self) -> &'static str {
        match self {
            Half::C => "c",
            Half::Lisp => "lisp",
            Half::Collected => "gc",
        }
    }

    /// Whether a profile has something of this half.
    pub fn is_in(self, profile: &Profile) -> bool {
        profile.counters.iter().any(|counter| Half::of(counter.category) == self)
            || (self != Half::C && profile.collected.bins.iter().any(|bin| Half::of(bin.category) == self))
    }

    /// The halves that the profiles have something of; where there is nothing at all, C's.
    pub fn all_in<'p>(profiles: impl IntoIterator<Item = &'p Profile>) -> Vec<Half> {
        let profiles: Vec<&Profile> = profiles.into_iter().collect();
        let is_there = |half: &Half| profiles.iter().any(|profile| half.is_in(profile));
        match Half::ALL.into_iter().filter(is_there).collect::<Vec<_>>() {
            none if none.is_empty() => vec![Half::C],
            halves => halves,
        }
    }

    /// This half of a profile.
    pub fn take(self, profile: &Profile) -> Cow<'_, Profile> {
        let has_lisp = !profile.collected.functions.is_empty();
        let is_whole = profile.counters.iter().all(|counter| Half::of(counter.category) == self);
        if self == Half::C && is_whole && !has_lisp {
            return Cow::Borrowed(profile);
        }
        let mut half = profile.clone();
        half.counters.retain(|counter| Half::of(counter.category) == self);
        half.collected.bins.retain(|bin| Half::of(bin.category) == self);
        if !self.is_freed() {
            half.bins.clear();
            // It is the balance's, in which there is nothing of a collector's.
            half.history = History::default();
            // Whatever is not used any more, the collector frees: nothing is kept.
            for counter in &mut half.counters {
                (counter.frees, counter.freed_bytes) = (counter.allocs, counter.bytes);
            }
        }
        if has_lisp {
            let roles = lisp::name_functions(&mut half);
            if self == Half::Lisp {
                lisp::fold(&mut half, &roles);
            }
        }
        Cow::Owned(half)
    }

    /// This half of some profiles.
    pub fn take_all(self, profiles: &[Profile]) -> Vec<Profile> {
        profiles.iter().map(|profile| self.take(profile).into_owned()).collect()
    }

    /// The same, of profiles that are not needed any more.
    pub fn leave_all(self, profiles: Vec<Profile>) -> Vec<Profile> {
        let leave = |profile: Profile| match self.take(&profile) {
            Cow::Owned(half) => half,
            Cow::Borrowed(_) => profile,
        };
        profiles.into_iter().map(leave).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_category_belongs_to_one_half() {
        let halves: Vec<Half> = (0..13).map(|index| Half::of(Category::from_index(index))).collect();
        let (c, lisp, collected) = (Half::C, Half::Lisp, Half::Collected);
        assert_eq!(halves[..4], [c; 4]);
        assert_eq!(halves[4..8], [lisp; 4]);
        assert_eq!(halves[8..12], [collected; 4]);
        assert_eq!(halves[12], c);
    }

    #[test]
    fn a_profile_without_lisp_is_taken_as_it_is() {
        let profile = Profile::default();
        assert_eq!(Half::all_in([&profile]), [Half::C]);
        assert!(matches!(Half::C.take(&profile), Cow::Borrowed(_)));
    }
}
