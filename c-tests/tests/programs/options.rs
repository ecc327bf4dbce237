//! What the environment asks of the monitor.

use c_tests::{Program, kept, totals};

/// `MPROF_DEPTH=5`, the paper's partial chains: callers further out are `...`, counts stay whole.
#[test]
fn depth() {
    Program::c("mutual_recursion").env("MPROF_DEPTH", "5").prints("").check(|run| {
        let facts = run.facts();
        assert_eq!(facts.total(), kept(9, 3330));
        assert_eq!(facts.chain("main > first > second > third"), kept(1, 1000), "{:#?}", facts.chains());
        let last = facts.chain("... > second > third > first > second > third");
        assert_eq!(last, kept(2, 2000), "{:#?}", facts.chains());
        assert_eq!(facts.profile.process.depth_limit, 5);
    });
}

/// Past the cap new contexts are filed under their last five callers; no count is lost.
#[test]
fn max_contexts() {
    Program::c("many_contexts").env("MPROF_MAX_CONTEXTS", "2000").prints("16384 chains\n").check(|run| {
        let facts = run.facts();
        let bytes = |paths: &mut dyn Iterator<Item = u64>| paths.map(|path| 1 + path % 5).sum::<u64>() * 2;
        let (all, odd) = (bytes(&mut (0..16_384)), bytes(&mut (1..16_384).step_by(2)));
        assert_eq!(facts.total(), totals(32_768, all, 16_384, odd));
        assert!(facts.profile.contexts.len() < 4000, "{} contexts", facts.profile.contexts.len());
        assert!(facts.chains().keys().any(|chain| chain.starts_with("... > ")));
    });
}

/// A process that is watched takes another way through the hooks; the counts are the same.
#[test]
fn watched() {
    // Births take 16 bytes more than the header.
    let program = Program::c("widgets").prints("").numbers_counted();
    let watched = program.env("MPROF_LIFETIMES", "1").env("MPROF_USABLE", "1").env("MPROF_SNAPSHOTS", "10");
    watched.check(|run| {
        let facts = run.facts();
        assert_eq!(facts.total(), totals(10_000, 2_040_000, 4981, 1_016_124));
        let history = &facts.profile.history;
        let peak = &history.peak.as_ref().expect("recorded").totals;
        assert_eq!((peak.objects, peak.bytes, peak.uncertainty), (10_000, 2_040_000, 0));
        assert!((5..=10).contains(&history.snapshots.len()), "{} snapshots", history.snapshots.len());
        let ages = history.ages.iter().flat_map(|ages| ages.classes).sum::<u64>();
        let lifetimes = history.lifetimes.iter().map(|lifetime| lifetime.objects()).sum::<u64>();
        assert_eq!((ages, lifetimes), (4981, 4981));
        // malloc(3) of glibc rounds 204 bytes up to 216.
        let rounding: Vec<_> =
            history.rounding.iter().map(|rounding| (rounding.size, rounding.bytes)).collect();
        assert_eq!(rounding, [(Some(204), 120_000)]);
    });
}

/// `%n` is the program's name; the file goes where `MPROF_DATA` says, seen from the folder of the start.
#[test]
fn data_name() {
    let program =
        Program::c("figure6").flags("-O0").prints("").data_named("mprof.data.of-%n", "mprof.data.of-figure6");
    program.check(|run| assert_eq!(run.facts().total(), kept(2, 34)));
}

#[test]
fn nowhere_to_write() {
    let program = Program::c("figure6").flags("-O0").prints("").no_data();
    program
        .env("MPROF_DATA", "/nonexistent/folder/mprof.data")
        .says("/nonexistent/folder/mprof.data")
        .check(|_| {});
}
