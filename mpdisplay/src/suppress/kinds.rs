//! Kinds of leaks, as Valgrind's `match-leak-kinds` names them.

/// A set of kinds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeakKinds {
    /// No pointer to the object is left.
    pub definite: bool,
    /// Only lost objects point to it.
    pub indirect: bool,
    /// Only pointers into its middle are left.
    pub possible: bool,
    /// The program can still reach it.
    pub reachable: bool,
}

impl LeakKinds {
    /// Every kind.
    pub const ALL: LeakKinds = LeakKinds { definite: true, indirect: true, possible: true, reachable: true };
    /// No kind.
    pub const NONE: LeakKinds =
        LeakKinds { definite: false, indirect: false, possible: false, reachable: false };

    /// Reads `definite,possible`, `all` or `none`; `None` where it is something else.
    pub(super) fn read(text: &str) -> Option<LeakKinds> {
        let mut kinds = LeakKinds::NONE;
        for word in text.split(',') {
            match word.trim() {
                "definite" => kinds.definite = true,
                "indirect" => kinds.indirect = true,
                "possible" => kinds.possible = true,
                "reachable" => kinds.reachable = true,
                "all" => kinds = LeakKinds::ALL,
                "none" => {}
                _ => return None,
            }
        }
        Some(kinds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_read_as_valgrind_writes_them() {
        let two = LeakKinds { definite: true, possible: true, ..LeakKinds::NONE };
        assert_eq!(LeakKinds::read("definite,possible"), Some(two));
        assert_eq!(LeakKinds::read("possible, definite"), Some(two));
        assert_eq!(LeakKinds::read("all"), Some(LeakKinds::ALL));
        assert_eq!(LeakKinds::read("none"), Some(LeakKinds::NONE));
        assert_eq!(LeakKinds::read("lost"), None);
    }
}
