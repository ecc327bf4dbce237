//! Which kept objects the program could still reach when it ended.

use crate::kinds::Category;

/// Classes of kept objects, as memcheck has them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// No pointer to the object was left.
    Lost,
    /// Only lost objects had pointers to it.
    Indirect,
    /// Only pointers into the middle of an object led to it.
    Possible,
    /// The program could still get at it.
    Reachable,
}

/// Number of classes.
pub const CLASSES: usize = 4;

impl Class {
    /// All classes, in the order of their numbers.
    pub const ALL: [Class; CLASSES] = [Class::Lost, Class::Indirect, Class::Possible, Class::Reachable];

    /// Its number in the file, from 0.
    pub const fn index(self) -> usize {
        self as usize
    }
}

/// Objects and their bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Amount {
    /// Number of objects.
    pub objects: u64,
    /// Bytes, as asked for.
    pub bytes: u64,
}

/// The kept objects of one context and category, by class. It can be less than the counter says, and very seldom more,
/// where threads went on while the program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kept {
    /// Context id.
    pub context: u32,
    /// Category of the objects.
    pub category: Category,
    /// By [`Class::index`].
    pub classes: [Amount; CLASSES],
}
