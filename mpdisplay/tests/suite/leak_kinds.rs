//! Kinds of kept objects: the column, the choice, and what counts.

use crate::builder::ProfileBuilder;
use mpdisplay::analysis::kinds::Kinds;
use mpdisplay::analysis::leaks::{Leaks, PathOptions, Since};
use mpdisplay::analysis::part::Part;
use mpdisplay::analysis::share::Detail;
use mpdisplay::analysis::tree::Tree;
use mpdisplay::export::{CsvRows, Format, Measure, Source, write};
use mpdisplay::leak_check::{Excess, Settings, junit, sarif};
use mpdisplay::report::options::{Options, Tables};
use mpdisplay::report::view::View;
use mpdisplay::report::write_view;
use mpdisplay::suppress::Suppressions;
use mprof_format::model::{Amount, Class, Kept, Profile, Reachability};
use std::slice::from_ref;

/// Ten objects of 100 bytes of which four were freed, one lost, two hang on it, three are reachable; one of 16 bytes that
/// is possible; two of 8 bytes that nothing is known of.
fn profile() -> Profile {
    let mut profile = ProfileBuilder::new("shop")
        .allocate("main > make", 100, 10, 4)
        .allocate("main > guess", 16, 1, 0)
        .allocate("main > late", 8, 2, 0)
        .build();
    let amount = |objects, size| Amount { objects, bytes: objects * size };
    let none = Amount::default();
    let classes = [[amount(1, 100), amount(2, 100), none, amount(3, 100)], [none, none, amount(1, 16), none]];
    let kept = profile.counters.iter().zip(classes);
    let kept =
        kept.map(|(counter, classes)| Kept { context: counter.context, category: counter.category, classes });
    profile.reachability = Some(Reachability { unseen_threads: 0, kept: kept.collect() });
    profile
}

fn table(options: &Options) -> String {
    let profile = profile();
    let parts = [Part::whole(&profile)];
    let tables = Tables { bins: false, direct: false, graph: false, ..Tables::default() };
    let options = Options { tables, ..options.clone() };
    let view = View::new(&parts, &options);
    let mut out = Vec::new();
    write_view(&parts, &view, &view.leaks(&options), &options, &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    text[text.find("Memory leaks").unwrap()..].to_owned()
}

#[test]
fn a_path_has_a_row_for_each_kind() {
    let expected = "\
Memory leaks

  allocs     bytes (%)   kind         path

       3       300 (47)  reachable    || > main > make
       2       200 (31)  indirect     || > main > make
       1       100 (15)  lost         || > main > make
       1        16 (2)   possible     || > main > guess
       2        16 (2)                || > main > late
";
    assert_eq!(table(&Options::default()), expected);
}

#[test]
fn what_was_freed_stands_with_the_first_kind() {
    let options = Options { detail: Detail::Verbose, ..Options::default() };
    let expected = "\
Memory leaks

  allocs     bytes     frees     freed      kept (%)   kind         path

       3       300         0         0       300 (47)  reachable    || > main > make
       2       200         0         0       200 (31)  indirect     || > main > make
       5       500         4       400       100 (15)  lost         || > main > make
       1        16         0         0        16 (2)   possible     || > main > guess
       2        16         0         0        16 (2)                || > main > late
";
    assert_eq!(table(&options), expected);
}

#[test]
fn kinds_are_chosen() {
    let kinds = Kinds::read("lost,possible");
    let text = table(&Options { kinds, ..Options::default() });
    let rows: Vec<&str> = text.lines().filter(|line| line.contains("||")).collect();
    let expected = [
        "       1       100 (15)  lost         || > main > make",
        "       1        16 (2)   possible     || > main > guess",
        "       2        16 (2)                || > main > late",
    ];
    assert_eq!(rows, expected);
}

fn leaks<'t>(tree: &'t Tree, suppressions: &str) -> Leaks<'t> {
    let mut all = Suppressions::default();
    all.read(suppressions.as_bytes(), "my.supp").expect("sound");
    Settings::leaks(tree, PathOptions::default(), &all, None)
}

#[test]
fn what_is_lost_counts() {
    let tree = Tree::new(&[profile()]);
    let leaks = leaks(&tree, "");
    let excess = |kinds: Option<&str>| {
        let kinds = kinds.map_or(Kinds::LOST, |kinds| Kinds::read(kinds).unwrap());
        let settings = Settings { kinds, limit: Some(0), ..Settings::default() };
        assert!(settings.fails(&leaks), "what is not classified counts");
        Excess::of(&settings.counted(&leaks)).to_string()
    };
    assert_eq!(excess(None), "5 objects, 316 bytes on 2 paths");
    assert_eq!(excess(Some("reachable")), "5 objects, 316 bytes on 2 paths");
    assert_eq!(excess(Some("all")), "9 objects, 632 bytes on 3 paths");
}

#[test]
fn reachable_objects_alone_do_not_fail() {
    let mut profile = profile();
    let reachability = profile.reachability.as_mut().unwrap();
    for (kept, counter) in reachability.kept.iter_mut().zip(&profile.counters) {
        kept.classes = [Amount::default(); 4];
        kept.classes[3] = Amount { objects: counter.kept(), bytes: counter.kept_bytes() };
    }
    let last = profile.counters.pop().unwrap();
    assert_eq!(last.kept(), 2);
    let tree = Tree::new(&[profile]);
    let leaks = leaks(&tree, "");
    let settings = Settings { limit: Some(0), ..Settings::default() };
    assert!(!settings.fails(&leaks));
    assert!(Settings { kinds: Kinds::ALL, ..settings }.fails(&leaks));
}

#[test]
fn suppressions_are_for_their_kinds() {
    let tree = Tree::new(&[profile()]);
    let record = "{\nname\nMemcheck:Leak\nmatch-leak-kinds: reachable,indirect\nfun:malloc\nfun:make\n}\n";
    let leaks = leaks(&tree, record);
    let left: Vec<_> = leaks.sorted().iter().map(|(row, _)| (row.kind, row.usage.kept())).collect();
    assert_eq!(left, [(Some(Class::Lost), 1), (Some(Class::Possible), 1), (None, 2)]);
    assert_eq!(leaks.suppressed.len(), 1);
    assert_eq!(leaks.suppressed[0].usage.kept(), 5);
}

#[test]
fn baselines_are_compared_by_kind_where_both_have_kinds() {
    let mut before = profile();
    // What is lost now was reachable then.
    let kept = &mut before.reachability.as_mut().unwrap().kept[0];
    kept.classes.swap(0, 3);
    let now = Tree::new(&[profile()]);
    let since = |before: Profile| {
        let settings =
            Settings::leaks(&now, PathOptions::default(), &Suppressions::default(), Some(&[before]));
        let rows = settings.sorted();
        rows.iter().map(|(row, _)| (row.kind, row.since)).collect::<Vec<_>>()
    };
    let grown = Since::Grown { objects: 2, bytes: 200 };
    assert_eq!(since(before.clone()), [(Some(Class::Reachable), grown)]);
    before.reachability = None;
    assert_eq!(since(before), []);
}

#[test]
fn reports_for_ci_systems_name_the_kind() {
    let profile = profile();
    let tree = Tree::new(from_ref(&profile));
    let leaks = leaks(&tree, "").of_kinds(Kinds::LOST);
    let mut out = Vec::new();
    junit::write(from_ref(&profile), &leaks, true, &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    assert!(text.contains("failures=\"3\""), "{text}");
    assert!(text.contains("name=\"|| &gt; main &gt; make\""), "{text}");
    assert!(text.contains("message=\"1 object, 100 bytes lost\""), "{text}");
    assert!(text.contains("name=\"|| &gt; main &gt; make (indirect)\""), "{text}");
    assert!(!text.contains("reachable"), "{text}");
    let mut out = Vec::new();
    sarif::write(from_ref(&profile), &leaks, true, "/src", &mut out).unwrap();
    let log: serde_json::Value = serde_json::from_slice(&out).unwrap();
    let results = log["runs"][0]["results"].as_array().unwrap();
    let texts: Vec<&str> = results.iter().map(|result| result["message"]["text"].as_str().unwrap()).collect();
    assert_eq!(
        texts,
        [
            "2 objects, 200 bytes indirect: || > main > make",
            "1 object, 100 bytes lost: || > main > make",
            "2 objects, 16 bytes kept: || > main > late",
        ]
    );
    let prints: Vec<_> = results.iter().map(|result| result["partialFingerprints"].to_string()).collect();
    assert_ne!(prints[0], prints[1]);
}

#[test]
fn comparisons_need_kinds_on_both_sides() {
    let [mut before, after] = [profile(), profile()];
    let comparing = |before: &Profile| {
        let tree = Tree::comparing(&[Part::whole(before)], &[Part::whole(&after)]);
        (tree.classified, tree.counts.iter().filter(|count| count.kind.is_some()).count())
    };
    assert_eq!(comparing(&before), (true, 8));
    before.reachability = None;
    assert_eq!(comparing(&before), (false, 0));
}

/// The leaks in a form for other programs.
fn exported(format: Format, options: &Options) -> String {
    let profile = profile();
    let parts = [Part::whole(&profile)];
    let view = View::new(&parts, options);
    let leaks = view.leaks(options);
    let source = Source {
        parts: &parts,
        view: &view,
        leaks: &leaks,
        options,
        measure: Measure::default(),
        csv_rows: CsvRows::Leaks,
    };
    let mut out = Vec::new();
    write(format, &source, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn other_forms_have_the_kinds() {
    let possible = Options { kinds: Kinds::read("possible"), ..Options::default() };
    let csv = exported(Format::Csv, &possible);
    let lines: Vec<&str> = csv.lines().collect();
    assert!(lines[0].ends_with(",kind,path"), "{csv}");
    assert!(lines[1].ends_with(",possible,|| > main > guess"), "{csv}");
    assert!(lines[2].ends_with(",,|| > main > late"), "{csv}");
    assert_eq!(lines.len(), 3);
    let json: serde_json::Value = serde_json::from_str(&exported(Format::Json, &Options::default())).unwrap();
    let kinds = json["tables"]["leaks"].as_array().unwrap().iter().map(|leak| leak["kind"].as_str());
    assert_eq!(
        kinds.collect::<Vec<_>>(),
        [Some("reachable"), Some("indirect"), Some("lost"), Some("possible"), None]
    );
    let page = exported(Format::Html, &possible);
    assert!(page.contains("<th scope=\"col\">kind</th><th scope=\"col\">path</th>"));
    assert!(page.contains("<td>possible</td><td class=\"name\">"));
    assert!(!page.contains("<td>reachable</td>"));
}
