//! Signals: handlers that allocate, anywhere and on any stack, and jumps out of them.

use std::fs;

use c_tests::{Outcome, Program, kept, totals};

/// The number in a file that the program wrote.
fn number(run: &Outcome, name: &str) -> u64 {
    let text = fs::read_to_string(run.folder.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    text.trim().parse().unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[test]
fn signal_handler() {
    Program::c("signal_handler").prints("100 kept\n").check(|run| {
        let facts = run.facts();
        assert_eq!(facts.ending("on_signal > handler_keep"), kept(100, 3500));
        assert_eq!(facts.beginning("main > interrupted"), kept(100, 3500));
    });
}

#[test]
fn signal_each_instruction() {
    Program::c("signal_each_instruction").check(|run| {
        let words: Vec<&str> = run.output.stdout.split_whitespace().collect();
        let traps: u64 = words[2].parse().expect("`result N, TRAPS traps`");
        assert!(traps > 150, "{traps} traps");
        let facts = run.facts();
        assert_eq!(facts.ending("on_trap > at_trap"), kept(traps, 19 * traps));
        assert_eq!(facts.beginning("main > stepped"), kept(traps, 19 * traps), "{:#?}", facts.chains());
        assert!(facts.beginning("main > stepped > realigned > variable > many_registers").allocs > 20);
    });
}

#[test]
fn signal_alternate_stack() {
    Program::c("signal_alternate_stack").prints("100 kept\n").check(|run| {
        let facts = run.facts();
        assert_eq!(facts.ending("on_outer > outer_keep"), kept(50, 1800));
        assert_eq!(facts.ending("on_inner > inner_keep"), kept(50, 1850));
        assert_eq!(facts.beginning("main"), kept(100, 3650));
        let inner = facts.ending("on_inner > inner_keep");
        assert_eq!(inner.bytes, facts.through("inner_keep").bytes);
        assert_eq!(facts.through("on_outer"), kept(100, 3650));
    });
}

#[test]
fn signal_timer() {
    Program::c("signal_timer").prints("200 ticks\n").varies().check(|run| {
        let facts = run.facts();
        assert_eq!(facts.ending("on_alarm > timer_keep"), kept(200, 7600));
        assert_eq!(facts.beginning("main"), kept(1200, 46_600), "{:#?}", facts.chains());
        assert_eq!(facts.chain("main > compute_keep"), kept(1000, 39_000));
    });
}

#[test]
fn signal_jump() {
    Program::c("signal_jump").prints("400 kept\n").check(|run| {
        let facts = run.facts();
        assert_eq!(facts.chain("main > before_fault"), kept(200, 5400));
        assert_eq!(facts.chain("main > recovered"), kept(200, 5600));
    });
}

/// A program whose allocator stands interruption at any point.
pub(crate) fn with_bump(name: &str) -> Program {
    Program::c(name)
        .companion("bump.c", "bump.so", "-O2 -g -shared -fPIC -fno-builtin -Wl,-soname,bump.so")
        .link("./bump.so -Wl,-rpath,$ORIGIN,-z,now")
        .uncounted()
        .varies()
}

#[test]
fn reentrance() {
    with_bump("reentrance").prints("stepped\n").check(|run| {
        let traps = number(run, "traps");
        let facts = run.facts();
        let total = facts.total();
        assert_eq!((total.allocs, total.frees), (8 + 2 * traps, 7 + traps), "{traps} traps");
        // Twice malloc(100), realloc to 200, calloc(100); malloc(300) and malloc(400).
        assert_eq!(total.bytes, 2 * 400 + 700 + traps * (47 + 48));
        assert_eq!(facts.bin(Some(48)), kept(traps, 48 * traps));
        assert_eq!(facts.bin(Some(300)), kept(1, 300));
    });
}

#[test]
fn reentrant_free() {
    with_bump("reentrant_free").prints("stepped\n").check(|run| {
        let (left, facts) = (number(run, "left"), run.facts());
        let freed = 4000 - left;
        assert_eq!(facts.chain("main > pool_object"), totals(4000, 400_000, freed, 100 * freed));
        assert_eq!(facts.chain("main > stepped_realloc"), kept(1, 200));
        assert_eq!(facts.bin(Some(100)), totals(4000, 400_000, freed, 100 * freed));
    });
}

#[test]
fn jump_out_of_hook() {
    with_bump("jump_out_of_hook").half_recorded().prints("jumped\n").check(|run| {
        let jumps = number(run, "jumps");
        assert!(jumps > 100, "{jumps} jumps");
        let chain = run.facts().ending("jumped_at > after_jump");
        assert_eq!(chain, kept(3 * jumps, 3 * 49 * jumps));
        assert_eq!(run.facts().chain("main > jumped_at > after_jump"), chain, "{:#?}", run.facts().chains());
        let curve = &run.facts().profile.history.curve;
        // The second hill is the peak, which is in every profile.
        let end = curve.last().unwrap();
        let first = curve.iter().filter(|point| point.bytes <= end.bytes - 600_000);
        assert!(first.map(|point| point.most_bytes).max() > Some(end.live_bytes + 250_000), "{curve:#?}");
    });
}
