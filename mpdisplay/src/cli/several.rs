//! Options about several processes, threads and runs.

use crate::report::options::By;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// How several processes, threads and runs are taken together.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Several processes, threads, runs")]
pub struct Several {
    /// Sum everything by function or by module, or keep apart each process or thread (start the program with
    /// MPROF_THREADS=each to tell threads with the same start function apart)
    #[arg(long, value_name = "WHAT", default_value = "function", hide_default_value = true)]
    by: Group,

    /// Only the process with this number; may be given more than once
    #[arg(long, value_name = "N")]
    pub pid: Vec<u32>,

    /// Only the thread with this number; may be given more than once
    #[arg(long, value_name = "N")]
    pub tid: Vec<u32>,

    /// Show by how much the numbers differ from those of this profile, and which leaks are new, gone, grown; may be
    /// given more than once, and is summed
    #[arg(long, value_name = "BASE", conflicts_with_all = ["gen_suppressions", "fail_on_leak", "baseline"])]
    pub diff: Vec<PathBuf>,
}

/// What numbers are kept apart by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Group {
    /// Function, over all processes
    Function,
    /// Program and libraries
    Module,
    /// A report for each process
    Process,
    /// A report for each thread
    Thread,
}

impl Several {
    /// What numbers are kept apart by.
    pub fn by(&self) -> By {
        match self.by {
            Group::Function => By::Function,
            Group::Module => By::Module,
            Group::Process => By::Process,
            Group::Thread => By::Thread,
        }
    }
}
