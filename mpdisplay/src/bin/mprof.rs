//! `mprof`: runs a program under the library and says what it kept.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    mpdisplay::wrapper::main(std::env::args_os().collect())
}
