//! Everything at once, for as long as `C_TESTS_SOAK` says (seconds; otherwise one round): `make soak`.
//!
//! A round is one seed, which is printed before it: threads, forks, libraries, signals, snapshots and random sizes.
//! Each process's totals must be those of the library that counts behind the profiler, and what the program itself
//! counted must be what the profile says of the function that allocated it.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use c_tests::{Program, totals};

#[test]
fn soak() {
    let seconds = std::env::var("C_TESTS_SOAK").ok().and_then(|text| text.parse().ok()).unwrap_or(0);
    let since = SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock that is set").as_secs();
    let first = std::env::var("C_TESTS_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(since);
    let end = Instant::now() + Duration::from_secs(seconds);
    let mut seed: u64 = first;
    loop {
        println!("seed {seed}");
        round(seed);
        seed += 1;
        if Instant::now() >= end {
            break;
        }
    }
    println!("{} rounds", seed - first);
}

fn round(seed: u64) {
    let library = "-O1 -g -shared -fPIC -fno-builtin";
    let program = Program::c("soak")
        .flags("-O2 -pthread")
        .companion("plugin.c", "first.so", &format!("{library} -DPLUGIN_NAME=first"))
        .companion("plugin.c", "second.so", &format!("{library} -DPLUGIN_NAME=second"))
        .link("-ldl -Wl,-rpath,$ORIGIN");
    let program = program
        .time_limit(300)
        .args(&[&seed.to_string()])
        .env("MPROF_SIGNAL", "USR2")
        .no_reference()
        .varies();
    program.check(|run| {
        let counted: Vec<u64> = run.output.stdout.split_whitespace().map(|n| n.parse().unwrap()).collect();
        let [objects, bytes, freed] = counted[..] else { panic!("{:?}", run.output) };
        assert_eq!(objects, freed);
        assert_eq!(run.facts().ending("take"), totals(objects, bytes, freed, bytes), "seed {seed}");
        // A third of the children become another program at once.
        let children = run.children();
        assert_eq!(children.iter().map(|child| child.chain("main > in_child").allocs).sum::<u64>(), 10 * 16);
    });
}
