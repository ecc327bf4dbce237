//! Bins, categories and extreme sizes.

use c_tests::{Program, Totals, freed, kept, totals};
use mprof_format::model::Category;

#[test]
fn bins() {
    Program::c("bins").prints("").check(|run| {
        let facts = run.facts();
        for size in 0..=1024 {
            let expected = if size % 3 == 0 { freed(1, size) } else { kept(1, size) };
            assert_eq!(facts.bin(Some(size)), expected, "bin of {size} bytes");
        }
        assert_eq!(facts.bin(None), kept(1, 1025));
        assert_eq!(facts.profile.bins.len(), 1026);
    });
}

#[test]
fn bins_of_all_functions() {
    Program::c("bins_of_all_functions").prints("").check(|run| {
        let facts = run.facts();
        assert_eq!(facts.bin(Some(77)), kept(9, 9 * 77));
        assert_eq!(facts.chain("main"), kept(9, 9 * 77));
        assert_eq!(facts.total(), kept(9, 9 * 77));
    });
}

#[test]
fn categories() {
    Program::c("categories").prints("").check(|run| {
        let facts = run.facts();
        assert_eq!(facts.category(Category::Small), kept(2, 32));
        assert_eq!(facts.category(Category::Medium), kept(2, 33 + 256));
        assert_eq!(facts.category(Category::Large), kept(2, 257 + 2048));
        assert_eq!(facts.category(Category::ExtraLarge), kept(1, 2049));
    });
}

#[test]
fn huge_object() {
    Program::c("huge_object").prints("huge\n").check(|run| {
        let facts = run.facts();
        assert_eq!(facts.chain("main > huge"), totals(2, 9_500_000_007, 1, 4_500_000_000));
        assert_eq!(facts.bin(None), totals(2, 9_500_000_007, 1, 4_500_000_000));
    });
}

#[test]
fn zero_and_null() {
    Program::c("zero_and_null").prints("nothing is something\n").check(|run| {
        let facts = run.facts();
        assert_eq!(facts.chain("main > nothing_kept"), kept(100, 0));
        assert_eq!(facts.chain("main > nothing_freed"), freed(60, 0));
        assert_eq!(facts.bin(Some(0)), totals(160, 0, 60, 0));
        assert_eq!(facts.total(), totals(160, 0, 60, 0));
    });
}

#[test]
fn overflow() {
    Program::c("overflow")
        .no_reference()
        .prints("all failed\n")
        .check(|run| assert_eq!(run.facts().total(), Totals::default()));
}

#[test]
fn memory_limit() {
    Program::c("memory_limit").may_complain().prints("ran out, went on\n").varies().check(|run| {
        let total = run.facts().total();
        assert_eq!((total.allocs, total.bytes), (total.frees, total.freed_bytes));
        assert!(total.allocs > 3000, "{total:?}");
    });
}
