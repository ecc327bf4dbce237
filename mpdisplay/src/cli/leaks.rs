//! Options about leaks as a test result.

use crate::analysis::kinds::Kinds;
use crate::leak_check::Settings;
use crate::suppress::generate::Format;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Which leaks count, and what follows from them.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Leaks as a test result")]
pub struct LeakChecks {
    /// End with status 1 if objects were kept, or at least BYTES of them (K, M, G and T are powers of 1024); of those
    /// that were classified (MPROF_LEAK_CHECK=1) only the lost and indirect ones count, or what --leak-kinds names
    #[arg(
        long,
        value_name = "BYTES",
        value_parser = bytes,
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "0"
    )]
    fail_on_leak: Option<u64>,

    /// Kinds of kept objects that are shown and count, of lost, indirect, possible and reachable, or all; without this
    /// option all are shown, and lost and indirect ones count. They are known where the program ran with
    /// MPROF_LEAK_CHECK=1
    #[arg(long, value_name = "LIST", value_parser = kinds)]
    leak_kinds: Option<Kinds>,

    /// Only leaks count that are new or have grown since this profile; may be given more than once, and is summed
    #[arg(long, value_name = "PROFILE")]
    pub baseline: Vec<PathBuf>,

    /// Leaks that do not count: a file in LeakSanitizer's or Valgrind's format; may be given more than once. The
    /// variable MPROF_SUPPRESSIONS may name more, with colons between them
    #[arg(long, value_name = "FILE")]
    suppressions: Vec<PathBuf>,

    /// Count what the C library, the loader and common runtimes keep on purpose, too
    #[arg(long)]
    no_default_suppressions: bool,

    /// Write the leaks as a JUnit test report, for CI systems
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,

    /// Write the leaks as SARIF 2.1.0, for code hosts that show them at the source lines
    #[arg(long, value_name = "FILE")]
    sarif: Option<PathBuf>,
}

/// A format of suppressions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SuppressionFormat {
    /// LeakSanitizer's: everything that a function and those below it allocate
    Lsan,
    /// Valgrind's: exactly the path shown
    Valgrind,
}

/// Suppressions in place of the tables.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Leaks as a test result")]
pub struct Generation {
    /// Print suppressions for the leaks that the table would show, instead of the tables
    #[arg(
        long,
        value_name = "FORMAT",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "lsan"
    )]
    gen_suppressions: Option<SuppressionFormat>,
}

impl Generation {
    /// The format, if suppressions are asked for.
    pub fn format(&self) -> Option<Format> {
        self.gen_suppressions.map(|format| match format {
            SuppressionFormat::Lsan => Format::Sanitizer,
            SuppressionFormat::Valgrind => Format::Valgrind,
        })
    }
}

impl LeakChecks {
    /// The kinds of kept objects that are asked for, if any are named.
    pub fn kinds(&self) -> Option<Kinds> {
        self.leak_kinds
    }

    /// The settings, with what the environment adds.
    pub fn settings(&self) -> Settings {
        let mut suppressions = self.suppressions.clone();
        if let Some(more) = std::env::var_os("MPROF_SUPPRESSIONS") {
            suppressions.extend(std::env::split_paths(&more).filter(|path| !path.as_os_str().is_empty()));
        }
        Settings {
            suppressions,
            built_in: !self.no_default_suppressions,
            limit: self.fail_on_leak,
            kinds: self.leak_kinds.unwrap_or(Kinds::LOST),
            junit: self.junit.clone(),
            sarif: self.sarif.clone(),
        }
    }
}

fn kinds(text: &str) -> Result<Kinds, String> {
    Kinds::read(text)
        .ok_or_else(|| "of lost, indirect, possible and reachable, with commas between them, or all".into())
}

/// A number of bytes.
fn bytes(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let shift = match &text[digits.len()..] {
        "" | "B" => 0,
        "K" | "k" | "KiB" => 10,
        "M" | "MiB" => 20,
        "G" | "GiB" => 30,
        "T" | "TiB" => 40,
        _ => return Err("a number of bytes, as 4096, 64K or 1M".into()),
    };
    let number: Option<u64> = digits.parse().ok();
    number
        .and_then(|number| number.checked_mul(1 << shift))
        .ok_or_else(|| "a number of bytes, as 4096, 64K or 1M".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_may_have_a_unit() {
        assert_eq!(bytes("0"), Ok(0));
        assert_eq!(bytes("4096"), Ok(4096));
        assert_eq!(bytes("64K"), Ok(65_536));
        assert_eq!(bytes("2MiB"), Ok(2 << 20));
        assert_eq!(bytes("1G"), Ok(1 << 30));
        for wrong in ["", "K", "-1", "1.5M", "1 K", "10X", "99999999999T", "mprof.data"] {
            assert!(bytes(wrong).is_err(), "{wrong}");
        }
    }
}
