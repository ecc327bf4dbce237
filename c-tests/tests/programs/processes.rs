//! Processes: each has a file of its own, and never one over another.

use crate::signals::with_bump;
use c_tests::{Facts, Outcome, Program, Totals, kept, totals};
use mprof_format::model::Reason;

/// The chains of all children, one a process, by their bytes.
fn children_by_size(run: &Outcome) -> Vec<Facts> {
    let mut children = run.children();
    children.sort_by_key(|child| child.total().bytes);
    children
}

#[test]
fn fork() {
    Program::c("fork").prints("child ended\n").check(|run| {
        let parent = run.facts();
        assert_eq!(parent.chain("main > before"), kept(5, 500));
        assert_eq!(parent.chain("main > after"), kept(2, 600));
        assert_eq!(parent.total(), kept(7, 1100));
        let children = run.children();
        assert_eq!(children.len(), 1);
        assert_eq!(children[0].chain("main > in_child"), kept(3, 600));
        assert_eq!(children[0].total(), kept(3, 600));
        assert_eq!(children[0].profile.process.parent_pid, parent.profile.process.pid);
    });
}

#[test]
fn fork_chain() {
    Program::c("fork_chain").prints("four generations\n").check(|run| {
        assert_eq!(run.facts().total(), kept(1, 100));
        let children = children_by_size(run);
        let totals: Vec<Totals> = children.iter().map(Facts::total).collect();
        assert_eq!(totals, [kept(1, 101), kept(1, 102), kept(1, 103)]);
    });
}

#[test]
fn fork_immediate_exit() {
    Program::c("fork_immediate_exit").prints("five children\n").check(|run| {
        assert_eq!(run.facts().total(), totals(1, 1, 1, 1));
        let children = children_by_size(run);
        let totals: Vec<Totals> = children.iter().map(|child| child.chain("main > in_child")).collect();
        assert_eq!(totals, [kept(1, 10), kept(1, 11), kept(1, 12), kept(1, 13), kept(1, 14)]);
        assert!(children.iter().all(|child| child.profile.process.reason == Reason::ImmediateExit));
    });
}

#[test]
fn fork_while_allocating() {
    Program::c("fork_while_allocating").also("-pthread").prints("60 children\n").varies().check(|run| {
        let files = run.data_files();
        assert_eq!(files.len(), 61);
        for file in &files[1..] {
            assert_eq!(Facts::total_of(&run.raw(file)), kept(20, 1280), "{file}");
        }
        assert_eq!(run.read(&files[1]).chain("main > in_child"), kept(20, 1280));
    });
}

/// A child of a signal handler's goes on in the midst of the monitor, which has forgotten what its parent recorded.
#[test]
fn fork_in_signal_handler() {
    for way in ["known", "first"] {
        // (The C library's allocator does not stand a fork in its midst.)
        let program = with_bump("fork_steps").flags("-O2 -pthread").args(&[way]).unverified();
        program.prints("0 failed\n").check(|run| {
            let files = run.data_files();
            assert!(files.len() > 25, "{files:?}");
            for file in &files[1..] {
                let bins = run.raw(file).bins;
                let bin = bins.iter().find(|bin| bin.size == Some(80)).map(|bin| (bin.allocs, bin.frees));
                assert_eq!(bin, Some((8, 8)), "{way}: {file}");
            }
        });
    }
}

#[test]
fn vfork() {
    Program::c("vfork").prints("three children\n").check(|run| {
        let facts = run.facts();
        assert_eq!(facts.chain("main > before"), kept(3, 333));
        assert_eq!(facts.chain("main > after"), kept(4, 888));
        assert_eq!(facts.chain("main"), totals(1, 33, 1, 33));
        assert_eq!(run.data_files(), ["mprof.data"]);
        assert_eq!(facts.profile.process.reason, Reason::Exit);
    });
}

#[test]
fn exec() {
    Program::c("exec").prints("image 3\n").check(|run| {
        assert_eq!(run.facts().chain("main > keep_some"), kept(5, 1500));
        assert_eq!(run.facts().total(), kept(5, 1500));
        assert_eq!(run.data_files(), ["mprof.data"]);
    });
}

#[test]
fn exec_family() {
    Program::c("exec_family").prints("9 functions\n").check(|run| {
        let children = children_by_size(run);
        assert_eq!(children.len(), 9);
        for (n, child) in children.iter().enumerate() {
            assert_eq!(child.chain("main > keep_one"), kept(1, 100 + n as u64));
            assert_eq!(child.profile.process.reason, Reason::Exec);
        }
        assert_eq!(run.facts().total(), totals(1, 1, 1, 1));
    });
}

#[test]
fn exec_fails() {
    Program::c("exec_fails").prints("still here\n").check(|run| {
        let facts = run.facts();
        assert_eq!(facts.chain("main > before"), kept(2, 80));
        assert_eq!(facts.chain("main > after"), kept(3, 150));
        assert_eq!(facts.profile.process.reason, Reason::Exit);
        assert_eq!(run.data_files(), ["mprof.data"]);
    });
}

/// `system` and `popen` go through a shell, which is a process with a profile of its own (or becomes the program).
#[test]
fn spawn() {
    Program::c("spawn").prints("four children\n").check(|run| {
        assert_eq!(run.facts().chain("main > keep_six"), kept(6, 3000));
        let children = run.children();
        let mut kept_by_children: Vec<u64> = children
            .iter()
            .map(|child| child.chain("main > in_child").bytes)
            .filter(|bytes| *bytes > 0)
            .collect();
        kept_by_children.sort_unstable();
        assert_eq!(kept_by_children, [101, 102, 103, 104]);
    });
}

#[test]
fn daemon() {
    Program::c("daemon").no_reference().prints("the service ended\n").check(|run| {
        let service: Vec<Facts> =
            run.children().into_iter().filter(|child| child.through("serve").allocs > 0).collect();
        assert_eq!(service.len(), 1);
        assert_eq!(service[0].chain("main > serve"), kept(4, 920));
    });
}
