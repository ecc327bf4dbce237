//! Leaks as a test result: what counts, whether that is too much, and reports for CI systems.

pub mod junit;
pub mod location;
pub mod sarif;
mod settings;
mod time;

pub use settings::{Error, Settings};

use crate::analysis::leaks::{Leaks, Path};
use crate::report::number::counted;
use std::collections::HashSet;
use std::fmt;

/// What was kept beyond suppressions and baseline.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Excess {
    /// Paths in the leak table.
    pub paths: u64,
    /// Objects.
    pub objects: u64,
    /// Bytes.
    pub bytes: u64,
}

impl Excess {
    /// Sums the table.
    pub fn of(leaks: &Leaks<'_>) -> Excess {
        let mut sum = Excess::default();
        // A path may have several kinds.
        let paths: HashSet<Path> = leaks.rows.iter().map(|row| leaks.path(row)).collect();
        sum.paths = paths.len() as u64;
        for row in &leaks.rows {
            let (objects, bytes) = row.excess();
            sum.objects = sum.objects.saturating_add(objects);
            sum.bytes = sum.bytes.saturating_add(bytes);
        }
        sum
    }

    /// Whether it is too much: `limit` bytes or more, or with a limit of 0 anything, also objects of no bytes.
    pub fn reaches(&self, limit: u64) -> bool {
        if limit == 0 { self.paths > 0 } else { self.bytes >= limit }
    }
}

impl fmt::Display for Excess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (objects, bytes) = (counted(self.objects, "object"), counted(self.bytes, "byte"));
        write!(f, "{objects}, {bytes} on {}", counted(self.paths, "path"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_of_nothing_is_reached_by_anything() {
        let nothing = Excess::default();
        let empty_object = Excess { paths: 1, objects: 1, bytes: 0 };
        let some = Excess { paths: 1, objects: 2, bytes: 100 };
        assert!(!nothing.reaches(0));
        assert!(empty_object.reaches(0));
        assert!(!empty_object.reaches(1));
        assert!(some.reaches(100));
        assert!(!some.reaches(101));
        assert_eq!(some.to_string(), "2 objects, 100 bytes on 1 path");
    }
}
