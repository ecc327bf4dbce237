//! Prints how many contexts a data file has, how many of them allocated something themselves, and how many threads.

use std::process::ExitCode;
use std::{env, fs};

fn main() -> ExitCode {
    let Some(path) = env::args_os().nth(1) else {
        eprintln!("usage: count FILE");
        return ExitCode::from(2);
    };
    let bytes = match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) => {
            eprintln!("{}: {error}", path.display());
            return ExitCode::from(2);
        }
    };
    match mprof_format::read(&bytes) {
        Ok(loaded) => {
            let profile = loaded.profile;
            let mut allocating: Vec<u32> = profile.counters.iter().map(|counter| counter.context).collect();
            allocating.dedup();
            println!("{} {} {}", profile.contexts.len(), allocating.len(), profile.threads.len());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{}: {error}", path.display());
            ExitCode::from(2)
        }
    }
}
