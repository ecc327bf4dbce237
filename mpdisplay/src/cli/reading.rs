//! Options that choose what counts.

use crate::analysis::chains::{Chains, WRAPPERS};
use crate::analysis::pattern::{Pattern, Patterns};
use clap::Args;

/// Which call chains count, and which of their functions.
#[derive(Debug, Clone, Args)]
#[command(
    next_help_heading = "What counts (SPEC is a function, FILE:LINE, FILE:* or module:NAME, each with * ? [a-z])"
)]
pub struct Reading {
    /// Count only call chains with a SPEC in them; may be given more than once, as the next three
    #[arg(long, value_name = "SPEC", value_parser = spec)]
    focus: Vec<Pattern>,

    /// Do not count call chains with a SPEC in them
    #[arg(long, value_name = "SPEC", value_parser = spec)]
    ignore: Vec<Pattern>,

    /// Take the functions that a SPEC means out of all chains: what they allocate counts as their callers'
    #[arg(long, value_name = "SPEC", value_parser = spec)]
    hide: Vec<Pattern>,

    /// Print only the rows that a SPEC means; the numbers stay the same
    #[arg(long, value_name = "SPEC", value_parser = spec)]
    show: Vec<Pattern>,

    /// Pass over wrappers at the ends of chains (operator new, std::allocator, strdup, g_malloc, xmalloc, PyMem_…,
    /// Rust's alloc::…): what they allocate counts as their callers'
    #[arg(long)]
    skip_wrappers: bool,

    /// Pass over these too; may be given more than once
    #[arg(long, value_name = "SPEC", value_parser = spec)]
    wrapper: Vec<Pattern>,
}

fn spec(text: &str) -> Result<Pattern, String> {
    if text.is_empty() {
        return Err("a function, FILE:LINE, FILE:* or module:NAME".into());
    }
    let Ok(pattern) = text.parse();
    Ok(pattern)
}

impl Reading {
    /// What is done to the call chains.
    pub fn chains(&self) -> Chains {
        let mut wrappers = self.wrapper.clone();
        if self.skip_wrappers || !wrappers.is_empty() {
            wrappers.extend(WRAPPERS.iter().map(|text| {
                let Ok(pattern) = text.parse();
                pattern
            }));
        }
        Chains {
            focus: Patterns(self.focus.clone()),
            ignore: Patterns(self.ignore.clone()),
            hide: Patterns(self.hide.clone()),
            wrappers: Patterns(wrappers),
        }
    }

    /// The rows that are printed.
    pub fn show(&self) -> Patterns {
        Patterns(self.show.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrapper_of_ones_own_comes_with_the_known_ones() {
        let none = Reading {
            focus: Vec::new(),
            ignore: Vec::new(),
            hide: Vec::new(),
            show: Vec::new(),
            skip_wrappers: false,
            wrapper: Vec::new(),
        };
        assert!(none.chains().is_nothing());
        let own = Reading { wrapper: vec![spec("my_alloc").expect("a pattern")], ..none.clone() };
        assert!(own.chains().wrappers.to_string().starts_with("my_alloc, operator new*, "));
        let known = Reading { skip_wrappers: true, ..none };
        assert_eq!(known.chains().wrappers.0.len(), WRAPPERS.len());
        assert!(spec("").is_err());
    }
}
