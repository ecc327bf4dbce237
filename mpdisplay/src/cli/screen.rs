//! Options about the terminal.

use clap::{Args, ValueEnum};

/// How the report looks on a terminal.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "On the terminal")]
pub struct Screen {
    /// Use bold and colour; auto: on a terminal, unless NO_COLOR is set
    #[arg(long, value_name = "WHEN", default_value = "auto", hide_default_value = true)]
    pub color: When,

    /// Do not show a long report in a pager ($MPROF_PAGER, $PAGER or less)
    #[arg(long)]
    pub no_pager: bool,

    /// Do not fold long names to fit the terminal
    #[arg(long)]
    pub full_names: bool,
}

/// When something is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum When {
    /// On a terminal
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}
