//! What the C library promises of each allocation function.

use c_tests::{Program, Totals, freed, kept, totals};

#[test]
fn realloc_counts() {
    Program::c("realloc_counts").prints("contents kept\n").check(|run| {
        let facts = run.facts();
        assert_eq!(facts.chain("main > make"), freed(1, 100));
        assert_eq!(facts.chain("main > grow"), freed(1, 5000));
        assert_eq!(facts.chain("main > same"), freed(1, 5000));
        assert_eq!(facts.chain("main > shrink"), kept(1, 50));
        assert_eq!(facts.bin(Some(50)), kept(1, 50));
        assert_eq!(facts.bin(None), freed(2, 10_000));
    });
}

#[test]
fn realloc_moves() {
    Program::c("realloc_moves").prints("contents kept\n").check(|run| {
        let facts = run.facts();
        let steps =
            [1, 15, 17, 24, 25, 100, 1000, 1032, 4000, 70000, 140_000, 3_000_000, 200_000, 8000, 900, 40, 1];
        let bytes: u64 = steps.iter().sum();
        assert_eq!(facts.chain("main > step"), totals(17, bytes, 16, bytes - 1));
        assert_eq!(facts.chain("main"), freed(18, 1 + 17 * 24));
    });
}

#[test]
fn realloc_null() {
    Program::c("realloc_null").prints("").check(|run| {
        let facts = run.facts();
        assert_eq!(facts.chain("main > allocate"), totals(2, 80, 1, 40));
        assert_eq!(facts.bin(Some(40)), totals(2, 80, 1, 40));
    });
}

#[test]
fn realloc_zero() {
    Program::c("realloc_zero").prints("as the C library does\n").check(|run| {
        let facts = run.facts();
        assert_eq!(facts.chain("main > make"), freed(3, 90));
        assert_eq!(facts.chain("main > vanish"), Totals::default());
        assert_eq!(facts.chain("main > appear"), totals(2, 0, 1, 0));
    });
}

#[test]
fn realloc_fails() {
    Program::c("realloc_fails").prints("object kept\n").check(|run| {
        let facts = run.facts();
        assert_eq!(facts.chain("main > make"), freed(1, 64));
        assert_eq!(facts.chain("main"), freed(1, 128));
        assert_eq!(facts.total(), freed(2, 192));
    });
}

#[test]
fn posix_memalign() {
    Program::c("posix_memalign").prints("as POSIX says\n").check(|run| {
        assert_eq!(run.facts().chain("main > ask"), kept(3, 300));
        assert_eq!(run.facts().total(), kept(3, 300));
    });
}

#[test]
fn alignment() {
    Program::c("alignment").numbers_counted().prints("all aligned\n").check(|run| {
        let total = run.facts().total();
        // 11 sizes; 6 plain ways, 21 alignments by memalign and by aligned_alloc, 18 by posix_memalign; each with
        // its realloc.
        assert_eq!(total.allocs, 11 * (6 + 21 + 21 + 18) * 2);
        assert_eq!((total.frees, total.freed_bytes), (total.allocs, total.bytes));
    });
}

#[test]
fn errno_kept() {
    Program::c("errno_kept").prints("errno untouched\n").check(|run| {
        let total = run.facts().total();
        assert_eq!((total.allocs, total.frees), (3 * 6 * 4, 3 * 6 * 4));
    });
}

#[test]
fn usable_size() {
    Program::c("usable_size").prints("all usable\n").check(|run| {
        let total = run.facts().total();
        // 20 rounds of 60 objects, of which 12 are reallocated.
        assert_eq!((total.allocs, total.frees), (20 * 72, 20 * 72));
        let sizes = (0..20).flat_map(|round| (0..60).map(move |i| (i, i * round * 13 + i)));
        let bytes: u64 = sizes.map(|(i, size)| if i % 5 == 2 { 5 + size + 1 } else { size }).sum();
        assert_eq!((total.bytes, total.freed_bytes), (bytes, bytes));
    });
}

#[test]
fn calloc_zeroes() {
    Program::c("calloc_zeroes").prints("all zero\n").check(|run| {
        let total = run.facts().total();
        assert_eq!((total.frees, total.freed_bytes), (total.allocs, total.bytes));
    });
}

/// `__libc_malloc` and its like may be counted or not; what plain malloc gave is, whoever freed it.
#[test]
fn libc_aliases() {
    Program::c("libc_aliases").uncounted().prints("crossed both ways\n").check(|run| {
        let sizes: Vec<u64> = (1..=2000).step_by(7).collect();
        let bytes = sizes.iter().sum::<u64>() * 2;
        let plain = run.facts().chain("main > to_alias > plain");
        assert_eq!((plain.allocs, plain.bytes), (sizes.len() as u64 * 2, bytes));
    });
}
