//! What can be measured of allocations.

use crate::analysis::tally::Usage;
use crate::report::options::Order;

/// What a format shows, or shows first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Measure {
    /// Bytes allocated.
    #[default]
    Bytes,
    /// Objects allocated.
    Allocs,
    /// Bytes never freed.
    Kept,
    /// Objects never freed.
    KeptObjects,
    /// Bytes alive at the heap's peak.
    Peak,
    /// Objects alive at the heap's peak.
    PeakObjects,
}

impl Measure {
    /// All measures, in the order in which formats that hold several have them.
    pub const ALL: [Measure; 6] = [
        Measure::Bytes,
        Measure::Allocs,
        Measure::Kept,
        Measure::KeptObjects,
        Measure::Peak,
        Measure::PeakObjects,
    ];

    /// So many of them, the first ones, are of all that was allocated.
    pub(super) const WITHOUT_KEPT: usize = 2;

    /// So many of them, the first ones, are not of the peak.
    pub(super) const WITHOUT_PEAK: usize = 4;

    /// How much of it there is.
    pub fn of(self, usage: &Usage) -> u64 {
        match self {
            Measure::Bytes => usage.bytes,
            Measure::Allocs => usage.allocs,
            Measure::Kept => usage.kept_bytes(),
            Measure::KeptObjects => usage.kept(),
            Measure::Peak => usage.peak_bytes,
            Measure::PeakObjects => usage.peak,
        }
    }

    /// Its place among all measures.
    pub(super) fn index(self) -> usize {
        Measure::ALL.iter().position(|&measure| measure == self).unwrap_or_default()
    }

    /// As the command line calls it.
    pub fn name(self) -> &'static str {
        match self {
            Measure::Bytes => "bytes",
            Measure::Allocs => "allocs",
            Measure::Kept => "kept",
            Measure::KeptObjects => "kept-objects",
            Measure::Peak => "peak",
            Measure::PeakObjects => "peak-objects",
        }
    }

    /// For headings.
    pub fn title(self) -> &'static str {
        match self {
            Measure::Bytes => "Bytes allocated",
            Measure::Allocs => "Objects allocated",
            Measure::Kept => "Bytes kept",
            Measure::KeptObjects => "Objects kept",
            Measure::Peak => "Bytes at the peak",
            Measure::PeakObjects => "Objects at the peak",
        }
    }

    /// What its numbers count.
    pub fn unit(self) -> &'static str {
        match self {
            Measure::Bytes | Measure::Kept | Measure::Peak => "bytes",
            Measure::Allocs | Measure::KeptObjects | Measure::PeakObjects => "objects",
        }
    }

    /// Whether it is of what was never freed.
    pub(super) fn is_kept(self) -> bool {
        matches!(self, Measure::Kept | Measure::KeptObjects)
    }

    /// Whether it is of what was alive at the peak.
    pub fn is_peak(self) -> bool {
        matches!(self, Measure::Peak | Measure::PeakObjects)
    }

    /// The order of rows that shows it.
    pub fn order(self) -> Order {
        match self {
            Measure::Bytes | Measure::Peak => Order::Bytes,
            Measure::Allocs | Measure::PeakObjects => Order::Allocs,
            Measure::Kept => Order::Kept,
            Measure::KeptObjects => Order::KeptObjects,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measures_of_a_usage() {
        let usage = Usage { peak: 7, peak_bytes: 900, ..Usage::new(10, 1000, 4, 300) };
        assert_eq!(Measure::ALL.map(|measure| measure.of(&usage)), [1000, 10, 700, 6, 900, 7]);
        assert_eq!(Measure::ALL.map(Measure::index), [0, 1, 2, 3, 4, 5]);
    }
}
