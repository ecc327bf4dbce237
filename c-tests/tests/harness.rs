//! The harness's own parts: what libcount counts, time limits, and that a difference is noticed.

use c_tests::count::Counts;
use c_tests::{Program, Status};

/// The counts of a program that is one process.
fn counts(program: Program) -> Counts {
    let all = program.count_bare();
    let [counts] = all[..] else { panic!("one process expected: {all:?}") };
    counts
}

#[test]
fn widgets_are_counted() {
    let counts = counts(Program::c("widgets").flags("-O0"));
    assert_eq!((counts.allocs, counts.frees, counts.bytes), (10_000, 4981, 2_040_000));
    assert_eq!((counts.aligned, counts.padding, counts.forked), (0, 0, false));
}

#[test]
fn every_allocation_function_is_counted() {
    let counts = counts(Program::c("bins_of_all_functions"));
    assert_eq!((counts.allocs, counts.frees, counts.bytes), (9, 0, 9 * 77));
    // posix_memalign, aligned_alloc, memalign and valloc; not memalign to 8 bytes.
    assert_eq!((counts.aligned, counts.padding), (4, 256 + 64 + 32 + 4096));
}

#[test]
fn a_realloc_is_a_free_and_an_allocation() {
    let counts = counts(Program::c("realloc_counts"));
    assert_eq!((counts.allocs, counts.frees, counts.bytes), (4, 3, 100 + 5000 + 5000 + 50));
}

#[test]
fn a_realloc_to_nothing_is_a_free() {
    let counts = counts(Program::c("realloc_zero"));
    assert_eq!((counts.allocs, counts.frees, counts.bytes), (3 + 2, 3 + 1, 90));
}

#[test]
fn what_fails_is_not_counted() {
    let counts = counts(Program::c("overflow"));
    assert_eq!((counts.allocs, counts.frees, counts.bytes), (0, 0, 0));
}

#[test]
fn counts_are_those_at_the_very_end() {
    let counts = counts(Program::c("constructors"));
    assert_eq!((counts.allocs, counts.frees), (8, 4));
    let counts = self::counts(Program::c("immediate_exit").args(&["_exit"]).ends(Status::Exited(9)));
    assert_eq!((counts.allocs, counts.bytes), (2, 280));
}

#[test]
fn threads_lose_no_count() {
    let counts = counts(Program::c("threads_exchange").also("-pthread"));
    // Besides the program's own 240 000: what the C library allocates for four threads.
    assert!((240_000..240_040).contains(&counts.allocs), "{counts:?}");
    assert!((240_000 - 256..240_000 - 256 + 40).contains(&counts.frees), "{counts:?}");
}

#[test]
fn a_forked_child_has_counts_of_its_own() {
    let mut all = Program::c("fork").count_bare();
    all.sort_by_key(|counts| counts.forked);
    let [parent, child] = all[..] else { panic!("two processes expected: {all:?}") };
    assert_eq!((parent.forked, parent.allocs, parent.frees, parent.bytes), (false, 7, 0, 1100));
    assert_eq!((child.forked, child.allocs, child.frees, child.bytes), (true, 3, 2, 600));
}

#[test]
fn a_vforked_child_is_counted_with_its_parent() {
    let counts = counts(Program::c("vfork"));
    assert_eq!((counts.allocs, counts.frees), (8, 1));
}

#[test]
fn headers_and_padding_are_subtracted() {
    let counts =
        Counts { allocs: 3, bytes: 16 + 100 + 16 + 7 + 64 + 9, aligned: 1, padding: 64, ..Counts::default() };
    assert_eq!(counts.bytes_of_program(), 116);
}

#[test]
fn an_endless_program_is_stopped() {
    Program::c("endless").flags("-O0").time_limit(1).ends(Status::TimedOut).count_bare();
}

#[test]
#[should_panic(expected = "standard output")]
fn another_output_is_noticed() {
    Program::c("realloc_counts").flags("-O0").prints("something else\n").check(|_| {});
}

#[test]
#[should_panic(expected = "Exited(0)")]
fn another_status_is_noticed() {
    Program::c("realloc_counts").flags("-O0").ends(Status::Exited(3)).check(|_| {});
}
