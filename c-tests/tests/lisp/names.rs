//! `lisp/names.lisp`: callers of every kind under their names.

use crate::ecl::{compiled, interpreted};
use crate::facts::{LispFacts, by_category};
use c_tests::Program;

/// A chain of callers, and with what numbers they call `leaf`, which is how often it conses.
type Row = (&'static str, &'static [u64]);

/// Checks what `leaf` allocates on each chain, and on no other; `more`: what the interpreter conses for itself each time.
fn check(program: Option<Program>, more: u64, chains: &[Row]) {
    let Some(program) = program else { return };
    program.check(|run| {
        assert!(run.output.stdout.ends_with("done\n"), "{:?}", run.output);
        let facts = LispFacts::of(run);
        let mut found = facts.chains_through("leaf");
        // What the interpreter conses to call it.
        found.retain(|chain, _| !chain.ends_with("leaf > keep"));
        for (chain, calls) in chains {
            let conses = calls.iter().map(|conses| conses + more).sum::<u64>();
            let chain = format!("{chain} > leaf");
            assert_eq!(found.remove(&chain), Some(by_category(&[('c', conses, 16 * conses)])), "{chain}");
        }
        assert!(found.is_empty(), "{found:#?}");
    });
}

#[test]
fn compiled_callers_have_their_names() {
    check(
        compiled("names.lisp"),
        0,
        &[
            ("(lambda 24)", &[81]),
            ("toplevel > run", &[72]),
            ("toplevel > run > (setf label)", &[21]),
            ("toplevel > run > (setf side)", &[15]),
            // CALL-NEXT-METHOD is the last thing that these methods do.
            ("toplevel > run > area", &[11, 12, 13, 14]),
            ("toplevel > run > eval", &[71]),
            ("toplevel > run > handle", &[63]),
            ("toplevel > run > jump", &[66]),
            ("toplevel > run > jump > walk", &[67]),
            ("toplevel > run > locals > deeper > deeper > deeper > deeper", &[41]),
            // Local functions have the names that ECL's compiler gave them in C.
            ("toplevel > run > locals > helper-", &[42, 43]),
            ("toplevel > run > mapper > (lambda 12)", &[31]),
            ("toplevel > run > pass", &[65]),
            ("toplevel > run > pass > warn > signal > (lambda 19)", &[64]),
            ("toplevel > run > protect", &[61, 62]),
            ("toplevel > run > recurse > recurse > recurse", &[51]),
            ("toplevel > run > |MixedCase|", &[22]),
        ],
    );
}

#[test]
fn interpreted_callers_have_their_names() {
    check(
        interpreted("names.lisp"),
        8,
        &[
            ("(lambda)", &[81]),
            ("toplevel > run", &[72]),
            ("toplevel > run > (setf label)", &[21]),
            ("toplevel > run > (setf side)", &[15]),
            ("toplevel > run > eval", &[71]),
            ("toplevel > run > handle", &[63]),
            ("toplevel > run > jump", &[66]),
            ("toplevel > run > jump > walk", &[67]),
            ("toplevel > run > locals > deeper > deeper > deeper > deeper", &[41]),
            ("toplevel > run > locals > helper!", &[42, 43]),
            ("toplevel > run > mapper > mapc > (lambda)", &[31]),
            ("toplevel > run > pass", &[65]),
            ("toplevel > run > pass > warn > signal > (lambda)", &[64]),
            ("toplevel > run > protect", &[61, 62]),
            ("toplevel > run > recurse > recurse > recurse", &[51]),
            ("toplevel > run > |MixedCase|", &[22]),
            ("toplevel > run > area", &[14]),
            ("toplevel > run > area > call-next-method > area", &[12, 13]),
            ("toplevel > run > area > call-next-method > area > call-next-method > area", &[11]),
        ],
    );
}
