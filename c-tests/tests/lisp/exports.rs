//! Exports of a real run: Lisp's types and categories in them, and C's half without the monitor's frames.

use crate::ecl::compiled;
use mprof_format::model::{Frame, ModuleKind};

#[test]
fn a_lisp_programs_profile_taken_away() {
    let Some(program) = compiled("numbers.lisp") else { return };
    program.varies().check(|run| {
        let csv = run.report(&["--lisp", "--format", "csv", "--tables", "direct"]);
        let pushes = csv.text().lines().find(|line| line.starts_with("pushes,"));
        let pushes =
            pushes.and_then(|line| line.split_once(",COMMON-LISP-USER,,")).map(|(_, numbers)| numbers);
        assert_eq!(pushes, Some("1000,16000,1000,16000,0,0,16000,0,0,0,0,0,0,0"), "{}", csv.text());

        let bins = run.report(&["--lisp", "--format", "csv", "--tables", "bins"]);
        let mut bins = bins.text().lines();
        assert_eq!(bins.next(), Some("type,category,allocs,bytes"));
        assert!(bins.next().is_some_and(|line| line.starts_with("cons,c,")));

        let json = run.report(&["--lisp", "--format", "json"]);
        for part in ["\"half\":\"lisp\"", "{\"type\":\"cons\",\"category\":\"c\",", "\"kept_bytes\":0}"] {
            assert!(json.text().contains(part), "{part}");
        }
        let page = run.report(&["--lisp", "--format", "html"]);
        assert!(page.text().contains("<td class=\"n\">c</td><td class=\"name\">cons</td></tr>"));

        // cl_boot is called through the monitor, whose frame is on the chains and is not shown.
        let raw = run.raw("mprof.data");
        let is_monitors = |frame: Frame| match frame {
            Frame::Code { module, .. } => raw.modules[module as usize].kind == ModuleKind::Monitor,
            _ => false,
        };
        assert!(raw.contexts.iter().any(|context| is_monitors(context.frame)));
        let c = run.report(&["--c", "--verbose", "--tables", "graph,direct"]);
        assert!(c.text().contains("cl_boot") && !c.text().contains("hook_boot"), "{}", c.text());
        assert!(!c.text().contains("libmprof"), "{}", c.text());
    });
}
