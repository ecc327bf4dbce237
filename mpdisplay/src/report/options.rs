//! What of the report is drawn, and how.

use super::number::Marks;
use super::style::Styles;
use crate::analysis::chains::Chains;
use crate::analysis::curve::Clock;
use crate::analysis::graph::GraphKind;
use crate::analysis::half::Half;
use crate::analysis::kinds::Kinds;
use crate::analysis::leaks::PathOptions;
use crate::analysis::pattern::Patterns;
use crate::analysis::share::Detail;
use crate::suppress::Suppressions;
use std::path::PathBuf;

/// Settings of a report. The default is what the command shows without options in a pipe.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    /// Which tables.
    pub tables: Tables,
    /// Paths of the leak table.
    pub paths: PathOptions,
    /// Which rows.
    pub detail: Detail,
    /// Whether cycles are merged.
    pub graph: GraphKind,
    /// How small and full shares are written.
    pub marks: Marks,
    /// Order of rows; `None`: each table's own.
    pub order: Option<Order>,
    /// Rows of a table at most.
    pub limit: Option<usize>,
    /// What is done to call chains before.
    pub chains: Chains,
    /// Kinds of kept objects that the leak table shows; `None`: all.
    pub kinds: Option<Kinds>,
    /// Kept objects that are no rows of the leak table.
    pub suppressions: Suppressions,
    /// Rows are shown only if one of these is in them; all, where there are none.
    pub show: Patterns,
    /// Whether the parts of the input are summed or kept apart.
    pub by: By,
    /// Which half of the profiles is drawn; they have nothing of another.
    pub half: Half,
    /// Folders in which sources are looked for that are not where the debug information says.
    pub source_directories: Vec<PathBuf>,
    /// All numbers are of what was alive at the heap's peak.
    pub at_peak: bool,
    /// What time is measured in.
    pub clock: Clock,
    /// Where the report is drawn.
    pub page: Page,
    /// Whether it is drawn with bold and colour.
    pub styles: Styles,
}

/// Whether the parts of the input are summed or kept apart.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum By {
    /// Everything is summed, by function.
    #[default]
    Function,
    /// Everything is summed, by module: the program and its libraries stand for their functions.
    Module,
    /// A report for each process.
    Process,
    /// A report for each thread, as far as threads were told apart when the program ran.
    Thread,
}

/// A choice of tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tables {
    /// Memory leaks.
    pub leaks: bool,
    /// Allocation bins.
    pub bins: bool,
    /// Direct allocation.
    pub direct: bool,
    /// Allocation call graph.
    pub graph: bool,
    /// Heap at its peak.
    pub peak: bool,
    /// Heap over time.
    pub timeline: bool,
    /// Lifetimes.
    pub lifetime: bool,
    /// Reallocation.
    pub growth: bool,
}

impl Tables {
    /// Whether there is none.
    pub fn is_empty(self) -> bool {
        let Tables { leaks, bins, direct, graph, peak, timeline, lifetime, growth } = self;
        ![leaks, bins, direct, graph, peak, timeline, lifetime, growth].contains(&true)
    }

    /// Those of them that there are of a half.
    pub fn of(self, half: Half) -> Tables {
        let freed = half.is_freed();
        let Tables { leaks, bins, direct, graph, peak, timeline, lifetime, growth } = self;
        Tables {
            leaks: leaks && freed,
            bins,
            direct,
            graph,
            peak: peak && freed,
            timeline: timeline && freed,
            lifetime: lifetime && freed,
            growth: growth && freed,
        }
    }
}

impl Default for Tables {
    /// The paper's four.
    fn default() -> Self {
        Tables {
            leaks: true,
            bins: true,
            direct: true,
            graph: true,
            peak: false,
            timeline: false,
            lifetime: false,
            growth: false,
        }
    }
}

/// An order of rows. Equal rows follow by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// By falling bytes allocated.
    Bytes,
    /// By falling bytes kept.
    Kept,
    /// By falling objects allocated.
    Allocs,
    /// By falling objects kept.
    KeptObjects,
    /// By name, path or size.
    Name,
}

/// The page that a report is drawn on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Page {
    /// Columns.
    pub width: usize,
    /// Fold what is longer than a line; else it runs over, and nothing is cut.
    pub fold: bool,
    /// Names run over all the same.
    pub full_names: bool,
}

impl Default for Page {
    fn default() -> Self {
        Page { width: 80, fold: false, full_names: false }
    }
}

impl Page {
    /// Columns for a name that begins behind `used` columns; some are always granted.
    pub(super) fn room(&self, used: usize) -> usize {
        self.width.saturating_sub(used).max(36)
    }
}
