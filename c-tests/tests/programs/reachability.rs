//! Kept objects by what the program could still reach.

use c_tests::{Facts, Program};

const LEAK_CHECK: &str = "MPROF_LEAK_CHECK";

const LOST: [u64; 4] = [1, 0, 0, 0];
const POSSIBLE: [u64; 4] = [0, 0, 1, 0];
const REACHABLE: [u64; 4] = [0, 0, 0, 1];

fn checked(program: Program) -> Program {
    program.env(LEAK_CHECK, "1").uncounted()
}

fn assert_classes(facts: &Facts, expected: &[(&str, [u64; 4])]) {
    let found: Vec<_> = expected.iter().map(|&(function, _)| (function, facts.classes(function))).collect();
    assert_eq!(found, expected, "lost, indirect, possible, reachable");
}

/// Each kept object has a class: no more and no fewer.
fn assert_whole(facts: &Facts) {
    let profile = &facts.profile;
    let reachability = profile.reachability.as_ref().expect("the kept objects are classified");
    let amounts = reachability.kept.iter().flat_map(|kept| kept.classes);
    let sums =
        amounts.fold((0, 0), |(objects, bytes), amount| (objects + amount.objects, bytes + amount.bytes));
    let total = facts.total();
    assert_eq!(sums, (total.allocs - total.frees, total.bytes - total.freed_bytes));
}

/// Checks `reach_kinds` with a variable more.
fn check_kinds(variable: &str, value: &str) {
    let program = checked(Program::c("reach_kinds").also("-pthread")).env(variable, value);
    program.prints("").varies().check(|run| {
        let facts = run.facts();
        assert_classes(
            facts,
            &[
                ("for_stack", REACHABLE),
                ("in_variable", REACHABLE),
                ("in_initialised", REACHABLE),
                ("in_thread_local", REACHABLE),
                ("in_mapping", REACHABLE),
                ("in_shared_mapping", REACHABLE),
                ("in_protected_mapping", REACHABLE),
                ("in_first_keys", REACHABLE),
                // (The C library's array of keys, and that of the environment, among them.)
                ("in_last_keys", [0, 0, 0, 2]),
                ("in_environment", [0, 0, 0, 2]),
                ("in_list", [0, 0, 0, 6]),
                ("in_large_object", [0, 0, 0, 2]),
                ("aligned", REACHABLE),
                ("grown", REACHABLE),
                ("grown_aligned", [0, 0, 0, 2]),
                ("empty", REACHABLE),
                ("by_its_middle", [0, 0, 2, 0]),
                ("lose", [4, 0, 0, 0]),
                ("lose_large", LOST),
                ("lose_aligned", LOST),
                ("lose_list", [1, 4, 0, 0]),
                ("lose_ring", [1, 3, 0, 0]),
                ("known_to_freed", [2, 0, 0, 0]),
                ("known_to_freed_large", LOST),
                ("known_by_its_end", LOST),
                ("known_crooked", LOST),
                ("known_hidden", LOST),
            ],
        );
        assert_whole(facts);
    });
}

#[test]
fn reach_kinds() {
    check_kinds("MPROF_START", "on");
}

/// Objects lie further from their blocks then.
#[test]
fn reach_kinds_with_exact_births() {
    check_kinds("MPROF_LIFETIMES", "1");
}

/// Whether threads may be stopped here at all.
fn threads_are_seen(facts: &Facts) -> bool {
    let seen =
        facts.profile.reachability.as_ref().is_some_and(|reachability| reachability.unseen_threads == 0);
    if !seen {
        eprintln!("SKIPPED: this machine does not let threads be stopped");
    }
    seen
}

#[test]
fn reach_threads() {
    let program = checked(Program::c("reach_threads").also("-pthread")).prints("leaving\n");
    program.may_complain().varies().check(|run| {
        let facts = run.facts();
        if threads_are_seen(facts) {
            assert_classes(
                facts,
                &[
                    ("waiter", [0, 0, 0, 3]),
                    ("below", LOST),
                    ("holder", REACHABLE),
                    ("vector_holder", REACHABLE),
                    ("passer", LOST),
                ],
            );
            assert_whole(facts);
            // The C library's vectors of threads' variables, to which only pointers into their middles are kept.
            assert_eq!(facts.classes("pthread_create")[..3], [0, 0, 0]);
        }
    });
}

fn ends(how: &str) -> Program {
    checked(Program::c("reach_ends").also("-pthread")).args(&[how])
}

#[test]
fn reach_ends_in_every_way() {
    for how in ["", "_exit", "quick_exit"] {
        ends(how).check(|run| {
            assert_classes(run.facts(), &[("hold", REACHABLE), ("lose", LOST)]);
            assert_whole(run.facts());
        });
    }
    ends("abort").ends(c_tests::Status::Signalled(libc::SIGABRT)).check(|run| {
        assert_classes(run.facts(), &[("hold", REACHABLE), ("lose", LOST)]);
    });
}

#[test]
fn reach_ends_by_a_signal() {
    let program = ends("signal").env("MPROF_ON_SIGNAL", "1");
    program.ends(c_tests::Status::Signalled(libc::SIGTERM)).check(|run| {
        assert_classes(run.facts(), &[("hold", REACHABLE), ("lose", LOST)]);
        assert_whole(run.facts());
    });
}

#[test]
fn reach_ends_in_another_thread_than_the_first() {
    // (The first thread may be gone by then, or not: the loader keeps more or less.)
    ends("thread").varies().check(|run| {
        assert_classes(run.facts(), &[("hold", REACHABLE), ("lose", LOST)]);
        assert_whole(run.facts());
    });
}

#[test]
fn reach_ends_in_a_child() {
    ends("fork").check(|run| {
        assert_classes(run.facts(), &[("hold", REACHABLE), ("lose", LOST), ("lose_in_child", [0; 4])]);
        let children = run.children();
        assert_eq!(children.len(), 1);
        // What hangs on an object of the parent's is reachable; the parent's own are none of the child's.
        let expected =
            [("hold_in_child", REACHABLE), ("lose_in_child", LOST), ("hold", [0; 4]), ("lose", [0; 4])];
        assert_classes(&children[0], &expected);
    });
}

fn refused(what: &str) -> Program {
    checked(Program::c("reach_refused").also("-pthread")).args(&[what])
}

#[test]
fn reach_without_ptrace() {
    refused("ptrace").says("leak check: a thread could not be stopped").check(|run| {
        let facts = run.facts();
        assert_eq!(
            facts.profile.reachability.as_ref().map(|reachability| reachability.unseen_threads),
            Some(1)
        );
        assert_classes(facts, &[("waiter", REACHABLE), ("lose", LOST)]);
    });
}

#[test]
fn reach_without_a_helper() {
    refused("clone").says("leak check: a thread could not be stopped").check(|run| {
        assert_classes(run.facts(), &[("waiter", REACHABLE), ("lose", LOST)]);
    });
}

#[test]
fn reach_without_anything() {
    refused("all").says("kept objects are not classified").check(|run| {
        assert_eq!(run.facts().profile.reachability, None);
    });
}

#[test]
fn reach_hostile() {
    checked(Program::c("reach_hostile")).prints("").check(|run| {
        assert_classes(run.facts(), &[("hold", [0, 0, 0, 2000]), ("lose", [10, 0, 0, 0])]);
        assert_whole(run.facts());
    });
}

#[test]
fn reach_cpp() {
    checked(Program::cpp("reach_cpp")).prints("").check(|run| {
        let facts = run.facts();
        let expected = [
            ("array", REACHABLE),
            ("base", REACHABLE),
            ("middle", POSSIBLE),
            ("string", [0, 0, 0, 2]),
            ("lose", LOST),
        ];
        assert_classes(facts, &expected);
    });
}
