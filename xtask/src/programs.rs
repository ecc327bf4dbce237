//! The programs' command lines.

use clap::{Command, CommandFactory};

#[path = "../../mpfilt/src/cli.rs"]
#[allow(dead_code, reason = "only the definition is of interest here, not the values")]
mod mpfilt_cli;

/// `mprof`, `mpfilt`, `mpdisplay`, in this order.
pub(crate) fn all() -> [Command; 3] {
    [
        mpdisplay::cli::WrapperArguments::command(),
        mpfilt_cli::Arguments::command(),
        mpdisplay::cli::Arguments::command(),
    ]
}

/// `mprof` with `show` as the subcommand that it looks like.
pub(crate) fn mprof_with_show() -> Command {
    let show = mpdisplay::cli::Arguments::command();
    mpdisplay::cli::WrapperArguments::command()
        .subcommand(show.name("show").about("Prints the tables, as mpdisplay does"))
}
