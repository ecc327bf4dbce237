//! Options that choose tables and rows.

use crate::analysis::share::Detail;
use crate::report::number::Marks;
use crate::report::options::{Order, Tables};
use crate::report::source::Sources;
use clap::{Args, ValueEnum};

/// Which tables are shown, and which of their rows.
#[derive(Debug, Args)]
#[command(next_help_heading = "What is shown")]
pub struct Shown {
    /// Which tables, of leaks, bins, direct, graph
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    tables: Vec<Table>,

    /// Leave the table of leaks out
    #[arg(long, alias = "noleaktable", conflicts_with = "tables")]
    no_leaks: bool,

    /// Only rows from 1 % on (default: 0.5 %)
    #[arg(short, long)]
    terse: bool,

    /// All rows, all types, and all figures of the leaks
    #[arg(short, long, conflicts_with = "terse")]
    verbose: bool,

    /// At most N rows a table
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,

    /// Order of rows (default: each table's own)
    #[arg(long, value_name = "ORDER")]
    sort: Option<Sort>,

    /// Show source files in place of the tables, with what their lines allocated; without FILE (a path, its end or a
    /// glob), those parts that allocate most
    #[arg(
        long,
        value_name = "FILE",
        num_args = 0..=1,
        default_missing_value = "",
        conflicts_with_all = ["gen_suppressions", "by"]
    )]
    annotate: Option<Vec<String>>,

    /// Show `.` for shares under 1 % and `**` for all, where the paper has blanks and 99
    #[arg(long)]
    marks: bool,
}

/// A table of the report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Table {
    /// Memory leaks
    Leaks,
    /// Allocation bins
    Bins,
    /// Direct allocation
    Direct,
    /// Allocation call graph
    Graph,
}

/// An order of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Sort {
    /// By falling bytes allocated
    Bytes,
    /// By falling bytes kept
    Kept,
    /// By falling objects allocated
    Allocs,
    /// By name, path or size
    Name,
}

impl Shown {
    /// The tables asked for; all of them where none is named.
    pub fn tables(&self) -> Tables {
        let wanted = |table| self.tables.is_empty() || self.tables.contains(&table);
        Tables {
            leaks: wanted(Table::Leaks) && !self.no_leaks,
            bins: wanted(Table::Bins),
            direct: wanted(Table::Direct),
            graph: wanted(Table::Graph),
        }
    }

    /// The source files asked for in place of the tables.
    pub fn sources(&self) -> Option<Sources> {
        let mut names = self.annotate.clone()?;
        names.retain(|name| !name.is_empty());
        Some(if names.is_empty() { Sources::Largest } else { Sources::Named(names) })
    }

    /// How much of the tables.
    pub fn detail(&self) -> Detail {
        match (self.terse, self.verbose) {
            (true, _) => Detail::Terse,
            (_, true) => Detail::Verbose,
            _ => Detail::Normal,
        }
    }

    /// The order asked for.
    pub fn order(&self) -> Option<Order> {
        self.sort.map(|sort| match sort {
            Sort::Bytes => Order::Bytes,
            Sort::Kept => Order::Kept,
            Sort::Allocs => Order::Allocs,
            Sort::Name => Order::Name,
        })
    }

    /// How small and full shares are written.
    pub fn marks(&self) -> Marks {
        if self.marks { Marks::Shown } else { Marks::None }
    }
}
