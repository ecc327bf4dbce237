//! Programs with a garbage collector, but no Lisp (`MPROF_GC=1`).

use std::path::Path;

use c_tests::{Outcome, Program, freed, skipped};
use mpdisplay::analysis::half::Half;

/// Objects and bytes that the collector gave out while this function ran; all of them for `main`.
fn collected(run: &Outcome, function: &str) -> (u64, u64) {
    let profile = Half::Collected.take(&run.facts().profile).into_owned();
    let names = profile.names.as_ref().expect("the profile has names");
    let is_on = |mut context: Option<u32>| {
        while let Some(id) = context {
            let here = profile.contexts[id as usize];
            let frames = names.sites.get(&here.frame).map_or(&[][..], |site| &site.frames);
            if frames.iter().any(|frame| names.functions[frame.function as usize].name == function.as_bytes())
            {
                return true;
            }
            context = here.parent;
        }
        false
    };
    let counters = profile.counters.iter().filter(|counter| is_on(Some(counter.context)));
    counters.fold((0, 0), |(objects, bytes), counter| (objects + counter.allocs, bytes + counter.bytes))
}

#[test]
fn a_program_with_libgc() {
    if !Path::new("/usr/include/gc.h").exists() && !Path::new("/usr/include/gc/gc.h").exists() {
        return skipped("collector.c: there is no gc.h");
    }
    // The second half's head has the process id, and is compared with the tables.
    Program::c("collector").link("-lgc").env("MPROF_GC", "1").varies().check(|run| {
        let many: u64 = run.output.stdout.trim().parse().expect("it prints a number");
        assert_eq!(collected(run, "nodes"), (100, 2400));
        assert_eq!(collected(run, "texts"), (60, 5060));
        assert_eq!(collected(run, "grow"), (3, 4100));
        assert_eq!(collected(run, "many"), (many, 16 * many));
        assert_eq!(collected(run, "main"), (163 + many, 11_560 + 16 * many));
        assert_eq!(run.facts().chain("main"), freed(1, 24));
    });
}

#[test]
fn w3m() {
    let Some(w3m) = Program::installed("/usr/bin/w3m") else { return };
    let rows: String = (0..200).map(|row| format!("<tr><td>{row}<td><a href=x{row}>x</a></tr>")).collect();
    let page = format!("<html><title>t</title><table>{rows}</table></html>");
    let w3m =
        w3m.file("page.html", &page).args(&["-dump", "page.html"]).env("HOME", ".").env("MPROF_GC", "1");
    w3m.varies().check(|run| {
        let total = |run: &Outcome| {
            let profile = Half::Collected.take(&run.facts().profile).into_owned();
            profile.counters.iter().map(|counter| counter.allocs).sum::<u64>()
        };
        assert!(total(run) > 1000, "{}", total(run));
    });
}
