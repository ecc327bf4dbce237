//! What the monitor's own memory may be.

use std::fs;
use std::process::Command;

use c_tests::{Program, Tools, bare_only, peak_memory};

/// Resident bytes for a million contexts, the program's own two megabytes besides.
const MOST: u64 = 100_000_000;

#[test]
fn a_million_contexts_take_less_than_100_megabytes() {
    if bare_only() {
        return;
    }
    let program = Program::c("million_contexts").flags("-O2").build();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let data = folder.path().join("data");
    let mut command = Command::new(program);
    command.env("LD_PRELOAD", &Tools::get().library).env("MPROF_DATA", &data).current_dir(folder.path());
    let peak = peak_memory(&mut command);
    let bytes = fs::read(&data).expect("the data file is written");
    let profile = mprof_format::read(&bytes).expect("a sound file").profile;
    let contexts = profile.contexts.len();
    assert!((1_000_000..1_100_000).contains(&contexts), "{contexts} contexts");
    assert_eq!(profile.counters.iter().filter(|counter| counter.bytes == 1).count(), 170_000);
    println!("{contexts} contexts, {peak} bytes resident, {} bytes of data", bytes.len());
    assert!(peak < MOST, "{peak} bytes resident for {contexts} contexts");
}
