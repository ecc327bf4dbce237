//! Options that choose tables and rows.

use crate::analysis::curve::Clock;
use crate::analysis::half::Half;
use crate::analysis::share::Detail;
use crate::analysis::text::printable;
use crate::error::Error;
use crate::export::CsvRows;
use crate::report::number::Marks;
use crate::report::options::{Order, Tables};
use crate::report::source::Sources;
use clap::{Args, ValueEnum};
use mprof_format::layout::MAGIC;
use std::fs::File;
use std::io::Read;

/// Which tables are shown, and which of their rows.
#[derive(Debug, Args)]
#[command(next_help_heading = "What is shown")]
pub struct Shown {
    /// Which tables, of leaks, bins, direct, graph (those four by default), peak, timeline, lifetime, growth
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

    /// Only what C's malloc and its kin gave out (default: all that there is)
    #[arg(long)]
    c: bool,

    /// Only what a Lisp system allocated, by type
    #[arg(long)]
    lisp: bool,

    /// Only what another program's garbage collector gave out (recorded with MPROF_GC=1)
    #[arg(long)]
    gc: bool,

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

    /// What time is measured in: seconds (s), bytes allocated (B) or allocations (i)
    #[arg(long, value_name = "UNIT", default_value = "s", hide_default_value = true)]
    time_unit: TimeUnit,

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
    /// Heap at its peak
    Peak,
    /// Heap over time
    Timeline,
    /// Lifetimes of freed objects
    Lifetime,
    /// Reallocation
    Growth,
}

/// What time is measured in, by massif's names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum TimeUnit {
    /// Seconds
    #[value(name = "s")]
    Seconds,
    /// Bytes allocated
    #[value(name = "B")]
    Bytes,
    /// Allocations
    #[value(name = "i")]
    Allocations,
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
    /// By falling objects kept
    KeptObjects,
    /// By name, path or size
    Name,
}

impl Shown {
    /// What a file of comma-separated values has rows of: the one table that is named, or call chains.
    ///
    /// # Errors
    /// What is wrong and what to do, where several tables are named or another than the paper's four.
    pub fn csv_rows(&self) -> Result<CsvRows, &'static str> {
        match self.tables[..] {
            [] => Ok(CsvRows::Chains),
            [Table::Leaks] => Ok(CsvRows::Leaks),
            [Table::Bins] => Ok(CsvRows::Bins),
            [Table::Direct] => Ok(CsvRows::Direct),
            [Table::Graph] => Ok(CsvRows::Graph),
            _ => Err(
                "csv holds one table: name one of leaks, bins, direct, graph, or none for all call chains",
            ),
        }
    }

    /// The tables asked for; the paper's four where none is named.
    pub fn tables(&self) -> Tables {
        let named = |table| self.tables.contains(&table);
        let usual = |table| self.tables.is_empty() || named(table);
        Tables {
            leaks: usual(Table::Leaks) && !self.no_leaks,
            bins: usual(Table::Bins),
            direct: usual(Table::Direct),
            graph: usual(Table::Graph),
            peak: named(Table::Peak),
            timeline: named(Table::Timeline),
            lifetime: named(Table::Lifetime),
            growth: named(Table::Growth),
        }
    }

    /// What time is measured in.
    pub fn clock(&self) -> Clock {
        match self.time_unit {
            TimeUnit::Seconds => Clock::Time,
            TimeUnit::Bytes => Clock::Bytes,
            TimeUnit::Allocations => Clock::Allocations,
        }
    }

    /// The halves asked for; none where none is named.
    pub fn halves(&self) -> Vec<Half> {
        let asked = [(self.c, Half::C), (self.lisp, Half::Lisp), (self.gc, Half::Collected)];
        asked.into_iter().filter(|(is_asked, _)| *is_asked).map(|(_, half)| half).collect()
    }

    /// The source files asked for in place of the tables.
    pub fn sources(&self) -> Option<Sources> {
        let mut names = self.annotate.clone()?;
        names.retain(|name| !name.is_empty());
        Some(if names.is_empty() { Sources::Largest } else { Sources::Named(names) })
    }

    /// Refuses a profile in the place of a source file: as the option's argument it would not be read.
    ///
    /// # Errors
    /// What to write instead.
    pub(crate) fn check_sources(&self) -> Result<(), Error> {
        let is_profile = |name: &&String| {
            let mut start = [0; MAGIC.len()];
            File::open(name).and_then(|mut file| file.read_exact(&mut start)).is_ok() && start == MAGIC
        };
        match self.annotate.iter().flatten().find(is_profile) {
            Some(name) => Err(Error::ProfileAsSource { name: printable(name.as_bytes()) }),
            None => Ok(()),
        }
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
            Sort::KeptObjects => Order::KeptObjects,
            Sort::Name => Order::Name,
        })
    }

    /// How small and full shares are written.
    pub fn marks(&self) -> Marks {
        if self.marks { Marks::Shown } else { Marks::None }
    }
}
