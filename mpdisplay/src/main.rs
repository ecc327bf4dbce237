//! `mpdisplay`: shows profiles.
#![forbid(unsafe_code)]

use clap::Parser;
use mpdisplay::cli::Arguments;
use std::process::ExitCode;

fn main() -> ExitCode {
    mpdisplay::command::run(&Arguments::parse())
}
