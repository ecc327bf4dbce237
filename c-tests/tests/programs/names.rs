//! Names of functions and types.

use c_tests::{Program, kept};

#[test]
fn names() {
    Program::cpp("names").prints("6 kept\n").check(|run| {
        let facts = run.facts();
        let shelf = "shop::Shelf<int, 7>";
        assert_eq!(facts.direct(&format!("{shelf}::stock")), kept(1, 101), "{:#?}", facts.chains());
        assert_eq!(facts.direct(&format!("{shelf}::Shelf")), kept(1, 102));
        assert_eq!(facts.direct(&format!("{shelf}::operator[]")), kept(1, 103));
        assert_eq!(facts.direct("(anonymous namespace)::hidden"), kept(1, 105));
        assert_eq!(facts.chain("main > call > Derived::act"), kept(1, 106));
        let chains = facts.chains();
        let lambda =
            chains.iter().find(|(_, totals)| **totals == kept(1, 104)).expect("the lambda's chain").0;
        assert!(lambda.starts_with("main > ") && lambda.contains("lambda"), "{lambda}");
    });
}

#[test]
fn types() {
    Program::c("types").prints("").check(|run| {
        let facts = run.facts();
        assert_eq!(facts.types(24), ["pair", "pair_t"]);
        assert_eq!(facts.types(40), ["either", "inner_only"]);
        assert_eq!(facts.types(56), ["fourteen"]);
        assert_eq!(facts.types(8), [""; 0]);
        assert_eq!(facts.types(4), [""; 0]);
    });
}

#[test]
fn types_cpp() {
    Program::cpp("types_cpp").prints("volume 0\n").check(|run| {
        let facts = run.facts();
        assert_eq!(facts.types(48), ["Crate", "geometry::Box"]);
        assert_eq!(facts.types(72), ["Stack<double>"]);
        assert_eq!(facts.types(88), ["Outer::Inner"]);
        assert_eq!(facts.types(4), [""; 0]);
    });
}

#[test]
fn inlined() {
    Program::c("inlined").flags("-O2").prints("").check(|run| {
        let chain = "main > host > middle_inlined > leaf_inlined";
        assert_eq!(run.facts().chain(chain), kept(6, 594), "{:#?}", run.facts().chains());
    });
}

#[test]
fn exported_names() {
    Program::c("exported_names").also("-rdynamic -s").prints("").check(|run| {
        let chain = "main > exported_middle > exported_leaf";
        assert_eq!(run.facts().chain(chain), kept(3, 393), "{:#?}", run.facts().chains());
    });
}

/// A program that is no position-independent executable lies where its file says.
#[test]
fn fixed_address() {
    Program::c("figure6").also("-no-pie").prints("").check(|run| {
        assert_eq!(run.facts().chain("main > foo > bar"), kept(1, 24));
        assert_eq!(run.facts().total(), kept(2, 34));
    });
}

/// A static program never reaches the library: it runs as ever and there is no file.
#[test]
fn static_program() {
    Program::c("figure6").also("-static").prints("").no_data().check(|_| {});
}
