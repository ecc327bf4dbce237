//! Options about call chains.

use crate::analysis::graph::GraphKind;
use crate::analysis::leaks::{Depth, PathOptions};
use clap::Args;

/// How call chains are shown.
#[derive(Debug, Args)]
#[command(next_help_heading = "Call chains")]
pub struct Paths {
    /// Callers in a path of the leaks: a number, or `all`
    #[arg(long, value_name = "N", default_value = "5", value_parser = depth)]
    depth: Depth,

    /// Tell call sites apart by their offset in the function: make_widget+26
    #[arg(long)]
    offsets: bool,

    /// Tell call sites apart by their line: make_widget (widgets.c:17)
    #[arg(long)]
    lines: bool,

    /// Do not merge functions that call each other in a cycle: whole call chains are known, so each function's
    /// bytes can be counted once however often it is on a chain
    #[arg(long)]
    exact: bool,
}

impl Paths {
    /// The paths of the leaks.
    pub fn paths(&self) -> PathOptions {
        PathOptions { depth: self.depth, offsets: self.offsets, lines: self.lines }
    }

    /// The call graph's kind.
    pub fn graph(&self) -> GraphKind {
        if self.exact { GraphKind::Exact } else { GraphKind::Merged }
    }
}

fn depth(text: &str) -> Result<Depth, String> {
    match text.parse() {
        Ok(0) => Err("at least 1, or `all`".into()),
        Ok(number) => Ok(Depth::Last(number)),
        Err(_) if text == "all" => Ok(Depth::All),
        Err(_) => Err("a number, or `all`".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depths_are_numbers_from_1_or_all() {
        assert_eq!(depth("5"), Ok(Depth::Last(5)));
        assert_eq!(depth("all"), Ok(Depth::All));
        assert!(depth("0").is_err());
        assert!(depth("-1").is_err());
    }
}
