//! The paper's programs and figures, and the call graph's special cases.

use c_tests::{Program, Totals, freed, kept, totals};

/// Figures 1 to 5: the four tables, byte by byte.
#[test]
fn widgets() {
    Program::c("widgets").flags("-O0").prints("").check(|run| {
        let facts = run.facts();
        assert_eq!(facts.chain("main > make_red_widget > make_widget"), kept(5019, 1_023_876));
        assert_eq!(facts.chain("main > make_blue_widget > make_widget"), freed(4981, 1_016_124));
        assert_eq!(facts.total(), totals(10_000, 2_040_000, 4981, 1_016_124));
        assert_eq!(facts.types(204), ["widget"]);
        let report = run.report(&[]);
        assert_eq!(report.tables(), include_str!("../../expected/widgets.txt"));
    });
}

#[test]
fn figure6() {
    Program::c("figure6").prints("").check(|run| {
        let facts = run.facts();
        assert_eq!(facts.chain("main > foo > bar"), kept(1, 24));
        assert_eq!(facts.chain("main > foo > otherbar"), kept(1, 10));
        assert_eq!(facts.edge("main", "foo"), kept(2, 34));
        assert_eq!(facts.edge("foo", "bar"), kept(1, 24));
        assert_eq!(facts.edge("foo", "otherbar"), kept(1, 10));
        assert_eq!(facts.total(), kept(2, 34));
    });
}

#[test]
fn figure7() {
    Program::c("figure7").prints("").check(|run| {
        let facts = run.facts();
        assert_eq!(facts.chain("main > F > G > F > G"), kept(1, 10));
        for function in ["main", "F", "G"] {
            assert_eq!(facts.through(function), kept(1, 10), "{function}");
        }
        assert_eq!(facts.edge("F", "G"), kept(1, 10));
        let report = run.report(&["--tables", "graph"]);
        assert!(report.text().contains("<cycle 1>"), "{}", report.text());
        let numbers = report.text().split(|c: char| !c.is_ascii_digit());
        assert!(!numbers.into_iter().any(|number| number == "20"), "{}", report.text());
    });
}

#[test]
fn mutual_recursion() {
    Program::c("mutual_recursion").prints("").check(|run| {
        let facts = run.facts();
        assert_eq!(facts.direct("first"), kept(3, 30));
        assert_eq!(facts.direct("second"), kept(3, 300));
        assert_eq!(facts.direct("third"), kept(3, 3000));
        assert_eq!(facts.chain("main > first > second > third > first"), kept(1, 10));
        assert_eq!(facts.through("main"), kept(9, 3330));
        let report = run.report(&["--tables", "graph", "--verbose"]);
        let entries = report.entries();
        for (member, own_bytes) in
            [("first <cycle 1>", 30), ("second <cycle 1>", 300), ("third <cycle 1>", 3000)]
        {
            let mut lines = entries.iter().filter(|entry| entry.name.starts_with(member));
            assert!(lines.any(|entry| entry.own_bytes == own_bytes), "{member}:\n{}", report.text());
        }
    });
}

#[test]
fn direct_recursion() {
    Program::c("direct_recursion").prints("").check(|run| {
        let facts = run.facts();
        assert_eq!(facts.total(), kept(10, 80));
        assert_eq!(facts.direct("descend"), kept(10, 80));
        assert_eq!(facts.edge("descend", "descend"), kept(8, 64));
        for levels in 1..=5 {
            let chain = format!("main > twice{}", " > descend".repeat(levels));
            assert_eq!(facts.chain(&chain), kept(2, 16), "{chain}");
        }
        let report = run.report(&["--tables", "graph"]);
        assert!(!report.text().contains("cycle"), "{}", report.text());
    });
}

#[test]
fn chains() {
    Program::c("chains").prints("").check(|run| {
        let facts = run.facts();
        assert_eq!(facts.chain("main > careful > leaf"), freed(100, 11_100));
        assert_eq!(facts.chain("main > careless > leaf"), kept(3, 333));
        assert_eq!(facts.chain("main > deeper > careless > leaf"), kept(2, 222));
        assert_eq!(facts.chain("main > leaf"), totals(10, 1110, 5, 555));
        assert_eq!(facts.direct("leaf"), facts.total());
        assert_eq!(facts.direct("careful"), Totals::default());
    });
}
