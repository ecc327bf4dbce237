//! Threads: many, short, crossing, dying, and still running at the end.

use c_tests::{Program, freed, kept, totals};

const PTHREAD: &str = "-pthread";

#[test]
fn threads_many() {
    Program::c("threads_many").also(PTHREAD).prints("3000 threads\n").check(|run| {
        let facts = run.facts();
        assert_eq!(facts.chain("worker > work"), totals(9000, 3000 * 570, 6000, 3000 * 520));
        let started = facts.profile.threads.iter().filter(|thread| thread.start.is_some());
        assert_eq!(started.map(|thread| thread.count).sum::<u64>(), 3000, "{:?}", facts.profile.threads);
    });
}

#[test]
fn threads_cross_free() {
    Program::c("threads_cross_free").also(PTHREAD).prints("kept 40\n").check(|run| {
        let facts = run.facts();
        assert_eq!(facts.chain("main > produce"), totals(40_000, 40_000 * 72, 39_960, 39_960 * 72));
        assert_eq!(facts.chain("enlarger > enlarge"), freed(19_960, 19_960 * 720));
    });
}

#[test]
fn threads_exchange() {
    Program::c("threads_exchange").also(PTHREAD).prints("kept 256\n").varies().check(|run| {
        let facts = run.facts();
        let [small, large] = ["worker > small", "worker > large"].map(|chain| facts.chain(chain));
        assert_eq!((small.allocs, small.bytes), (120_000, 120_000 * 40));
        assert_eq!((large.allocs, large.bytes), (120_000, 120_000 * 400));
        assert_eq!(small.frees + large.frees, 240_000 - 256);
        assert_eq!((small.freed_bytes, large.freed_bytes), (small.frees * 40, large.frees * 400));
    });
}

#[test]
fn thread_destructors() {
    Program::c("thread_destructors").also(PTHREAD).prints("200 threads\n").check(|run| {
        let facts = run.facts();
        assert_eq!(facts.ending("worker"), freed(200, 6000));
        assert_eq!(facts.ending("at_thread_end"), totals(400, 20_000, 200, 8000));
        assert_eq!(facts.bin(Some(60)), kept(200, 12_000));
        assert_eq!(facts.bin(Some(40)), freed(200, 8000));
    });
}

#[test]
fn thread_small_stack() {
    Program::c("thread_small_stack").also(PTHREAD).prints("100 small stacks\n").check(|run| {
        let facts = run.facts();
        assert_eq!(facts.chain("worker"), totals(10_100, 5000 * 1010 + 7000, 10_000, 5000 * 1010));
    });
}

#[test]
fn thread_cancel() {
    Program::c("thread_cancel").also(PTHREAD).prints("50 cancelled\n").check(|run| {
        let facts = run.facts();
        assert_eq!(facts.chain("target"), freed(50, 50 * 45));
        assert_eq!(facts.ending("cleanup"), kept(50, 50 * 90));
    });
}

#[test]
fn threads_at_exit() {
    Program::c("threads_at_exit").uncounted().also(PTHREAD).prints("leaving\n").varies().check(|run| {
        assert_eq!(run.facts().chain("main > keep_five"), kept(5, 1665));
        assert!(run.facts().ending("worker").allocs > 100);
    });
}

#[test]
fn thread_exit_main() {
    Program::c("thread_exit_main").also(PTHREAD).prints("the last thread ends\n").check(|run| {
        assert_eq!(run.facts().chain("last > keep_three"), kept(3, 450));
    });
}
