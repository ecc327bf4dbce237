//! Suppressions, baselines, and what CI systems are told.

use crate::builder::ProfileBuilder;
use mpdisplay::analysis::leaks::{Leaks, PathOptions, Since};
use mpdisplay::analysis::part::Part;
use mpdisplay::analysis::tree::Tree;
use mpdisplay::leak_check::{Excess, Settings, junit, sarif};
use mpdisplay::report::options::{Options, Tables};
use mpdisplay::report::view::View;
use mpdisplay::report::write_view;
use mpdisplay::suppress::{Suppressions, apply, generate};
use mprof_format::model::Profile;
use serde_json::Value;
use std::slice::from_ref;

/// Leaks of a program, a library of it, the C library and a thread.
fn shop() -> Profile {
    ProfileBuilder::new("shop")
        .process(|process| {
            process.start_unix_ns = 1_767_225_599_000_000_000;
            process.elapsed_ns = 1_500_000_000;
            process.arguments = vec![b"./shop".to_vec(), b"--open".to_vec()];
        })
        .allocate("main@10 > open@20 > load{load.c}@5", 100, 3, 1)
        .allocate("main@11 > libcart.so!cart_new{cart.c}@77 > libcart.so!0x1500", 40, 4, 0)
        .allocate("main@12 > libc.so.6!puts > libc.so.6!_IO_file_doallocate", 1024, 1, 0)
        .allocate("work@30 > load{load.c}@5", 8, 1, 0)
        .allocate("main@13 > freed@1", 10, 5, 5)
        .build()
}

fn suppressions(text: &str) -> Suppressions {
    let mut all = Suppressions::default();
    all.read(text.as_bytes(), "my.supp").expect("sound");
    all
}

/// The paths that are left, and the names and kept objects of what is suppressed.
fn left(text: &str) -> (Vec<String>, Vec<(String, u64)>) {
    let tree = Tree::new(&[shop()]);
    let leaks = Settings::leaks(&tree, PathOptions::default(), &suppressions(text), None);
    let rows = leaks.sorted().into_iter().map(|(_, path)| path.to_string()).collect();
    let hidden = leaks.suppressed.iter();
    (rows, hidden.map(|hidden| (hidden.label.name.clone(), hidden.usage.kept())).collect())
}

fn record(frames: &str) -> String {
    let frames =
        frames.replace("(below main)", "(below\u{a0}main)").replace(' ', "\n").replace('\u{a0}', " ");
    format!("{{\nname\nMemcheck:Leak\n{frames}\n}}\n")
}

const LOAD: &str = "|| > main > open > load";
const CART: &str = "|| > main > cart_new > libcart.so+0x1500";
const BUFFER: &str = "|| > main > puts > _IO_file_doallocate";
const WORK: &str = "|| > work > load";

#[test]
fn without_suppressions_everything_is_a_leak() {
    assert_eq!(left("").0, [BUFFER, LOAD, CART, WORK]);
}

#[test]
fn sanitizer_patterns_match_functions_files_and_modules_anywhere() {
    assert_eq!(left("leak:load").0, [BUFFER, CART]);
    assert_eq!(left("leak:^loa$").0, [BUFFER, LOAD, CART, WORK]);
    assert_eq!(left("leak:cart.c").0, [BUFFER, LOAD, WORK]);
    assert_eq!(left("leak:libcart.so").0, [BUFFER, LOAD, WORK]);
    assert_eq!(left("leak:^main$").0, [WORK]);
    assert_eq!(left("leak:*").0, [""; 0]);
}

#[test]
fn valgrind_records_match_from_the_allocation_outwards() {
    assert_eq!(left(&record("fun:malloc fun:load fun:open")).0, [BUFFER, CART, WORK]);
    assert_eq!(left(&record("fun:load fun:open")).0, [BUFFER, CART, WORK], "the allocation may be left out");
    assert_eq!(left(&record("fun:malloc fun:open")).0.len(), 4, "not the innermost");
    assert_eq!(left(&record("fun:*alloc ... fun:open")).0, [BUFFER, CART, WORK]);
    assert_eq!(left(&record("... fun:open ...")).0, [BUFFER, CART, WORK]);
    assert_eq!(left(&record("fun:malloc obj:*/libcart.so fun:cart_new")).0, [BUFFER, LOAD, WORK]);
    assert_eq!(left(&record("fun:malloc obj:libcart.so")).0.len(), 4, "objects are whole paths");
    assert_eq!(left(&record("fun:malloc src:load.c:5 src:shop.c:30")).0, [BUFFER, LOAD, CART]);
    assert_eq!(left(&record("fun:malloc src:load.c src:shop.c:20 src:shop.c:11")).0.len(), 4);
    assert_eq!(left(&record("fun:free")).0.len(), 4);
}

#[test]
fn records_may_go_on_to_the_start_that_chains_leave_out() {
    assert_eq!(
        left(&record("fun:malloc fun:load fun:work fun:start_thread fun:clone")).0,
        [BUFFER, LOAD, CART]
    );
    assert_eq!(
        left(&record("fun:malloc fun:load fun:work obj:/lib/x86_64-linux-gnu/libc.so.6")).0,
        [BUFFER, LOAD, CART]
    );
    let below_main = record("fun:malloc fun:load fun:open fun:main fun:(below main)");
    assert_eq!(left(&below_main).0, [BUFFER, CART, WORK]);
    assert_eq!(left(&record("fun:malloc fun:load fun:work fun:main")).0.len(), 4, "main is no start");
}

#[test]
fn the_first_suppression_that_matches_is_named() {
    let (rows, hidden) = left("leak:open\nleak:load\nleak:main\n");
    assert_eq!(rows, [""; 0]);
    assert_eq!(hidden, [("leak:main".into(), 5), ("leak:open".into(), 2), ("leak:load".into(), 1)]);
}

#[test]
fn the_built_in_list_knows_stream_buffers() {
    let tree = Tree::new(&[shop()]);
    let leaks = Settings::leaks(&tree, PathOptions::default(), &Suppressions::built_in(), None);
    assert_eq!(leaks.rows.len(), 3);
    assert_eq!(leaks.suppressed[0].label.name, "C library: buffer of a stream");
    assert_eq!(leaks.suppressed[0].label.origin.to_string(), "built in");
    assert_eq!((leaks.suppressed[0].usage.kept(), leaks.suppressed[0].usage.kept_bytes()), (1, 1024));
}

/// A chain of a million callers, each of which keeps something, takes no time even with wildcards.
#[test]
fn deep_chains_take_linear_time() {
    let mut builder = ProfileBuilder::new("deep");
    let mut chain = String::from("main");
    for level in 0..1500 {
        builder.add(&chain, 8, 1, 0);
        chain += if level % 2 == 0 { " > even" } else { " > odd" };
    }
    let tree = Tree::new(&[builder.build()]);
    let rule = record(&"... fun:even ... fun:odd ".repeat(15));
    let suppressed = apply(&suppressions(&rule), &tree);
    let matched =
        tree.counts.iter().filter(|count| suppressed.rule(count.node, count.kind).is_some()).count();
    // Fifteen pairs from the inside outwards need thirty functions below main, the innermost `even`
    // or any further in.
    assert_eq!(matched, 1500 - 31);
}

#[test]
fn generated_suppressions_hide_what_they_were_made_from() {
    let tree = Tree::new(&[shop()]);
    let leaks = Leaks::new(&tree, PathOptions::default());
    let rows: Vec<_> = leaks.sorted().into_iter().map(|(row, _)| row).collect();
    for format in [generate::Format::Sanitizer, generate::Format::Valgrind] {
        let mut text = Vec::new();
        generate::write(&leaks, &rows, format, &mut text).expect("a vector takes everything");
        let text = String::from_utf8(text).expect("text");
        assert_eq!(left(&text).0, [""; 0], "{text}");
    }
    let mut text = Vec::new();
    generate::write(&leaks, &rows[..2], generate::Format::Valgrind, &mut text)
        .expect("a vector takes everything");
    assert_eq!(
        String::from_utf8(text).expect("text"),
        "# 1 object, 1024 bytes: || > main > puts > _IO_file_doallocate\n\
         {\n   _IO_file_doallocate\n   Memcheck:Leak\n   fun:*alloc\n   fun:_IO_file_doallocate\n   fun:puts\n   fun:main\n}\n\
         # 2 objects, 200 bytes: || > main > open > load\n\
         {\n   load\n   Memcheck:Leak\n   fun:*alloc\n   fun:load\n   fun:open\n   fun:main\n}\n"
    );
    let mut text = Vec::new();
    generate::write(&leaks, &rows, generate::Format::Sanitizer, &mut text)
        .expect("a vector takes everything");
    assert_eq!(
        String::from_utf8(text).expect("text"),
        "# 1 object, 1024 bytes: || > main > puts > _IO_file_doallocate\nleak:^_IO_file_doallocate$\n\
         # 2 objects, 200 bytes: || > main > open > load\nleak:^load$\n\
         # 4 objects, 160 bytes: || > main > cart_new > libcart.so+0x1500\nleak:^cart_new$\n\
         # covered above: 1 object, 8 bytes: || > work > load\n"
    );
}

/// The earlier run: one path not yet there, one with fewer objects, one with fewer bytes, one the same.
fn earlier() -> Profile {
    ProfileBuilder::new("shop")
        .allocate("main@9 > open@19 > load{load.c}@5", 100, 1, 0)
        .allocate("main@11 > libcart.so!cart_new{cart.c}@77 > libcart.so!0x1500", 30, 4, 0)
        .allocate("main@12 > libc.so.6!puts > libc.so.6!_IO_file_doallocate", 1024, 1, 0)
        .build()
}

#[test]
fn a_baseline_leaves_what_is_new_or_grown() {
    let tree = Tree::new(&[shop()]);
    let leaks = Settings::leaks(&tree, PathOptions::default(), &Suppressions::default(), Some(&[earlier()]));
    let rows: Vec<(String, Since)> =
        leaks.sorted().into_iter().map(|(row, path)| (path.to_string(), row.since)).collect();
    assert_eq!(
        rows,
        [
            (LOAD.into(), Since::Grown { objects: 1, bytes: 100 }),
            (CART.into(), Since::Grown { objects: 0, bytes: 40 }),
            (WORK.into(), Since::New),
        ]
    );
    assert_eq!(leaks.known.map(|known| (known.paths, known.usage.kept_bytes())), Some((1, 1024)));
    assert_eq!(Excess::of(&leaks), Excess { paths: 3, objects: 2, bytes: 148 });
    let same = Settings::leaks(&tree, PathOptions::default(), &Suppressions::default(), Some(&[shop()]));
    assert_eq!(Excess::of(&same), Excess::default());
}

/// The leak table alone, below its heading.
fn table(leaks: &Leaks<'_>) -> String {
    let tables = Tables { leaks: true, bins: false, direct: false, graph: false, ..Tables::default() };
    let mut drawn = Vec::new();
    let options = Options { tables, ..Options::default() };
    let shop = shop();
    let parts = [Part::whole(&shop)];
    let view = View::new(&parts, &options);
    write_view(&parts, &view, leaks, &options, &mut drawn).expect("a vector takes everything");
    let drawn = String::from_utf8(drawn).expect("text");
    drawn.split_once("Memory leaks\n\n").expect("the heading").1.to_owned()
}

#[test]
fn the_table_ends_with_what_it_does_not_count() {
    let tree = Tree::new(&[shop()]);
    let rules = suppressions("leak:libcart.so\n");
    let leaks = Settings::leaks(&tree, PathOptions::default(), &rules, Some(&[earlier()]));
    assert_eq!(
        table(&leaks),
        "  allocs     bytes (%)   grown    path\n\
         \n\
         \x20      2       200 (14)   +100    || > main > open > load\n\
         \x20      1         8 (0)     new    || > work > load\n\
         \n\
         \x20 known from the baseline: 1 path, 1 object, 1024 bytes kept\n\
         \n\
         \x20 suppressed: 4 objects, 160 bytes kept\n\
         \n\
         \x20      4       160 (11)           leak:libcart.so (my.supp:1)\n"
    );
    let leaks = Settings::leaks(&tree, PathOptions::default(), &suppressions("leak:*\n"), None);
    assert_eq!(
        table(&leaks),
        "  no objects were kept but those that are suppressed\n\
         \n\
         \x20 suppressed: 8 objects, 1392 bytes kept\n\
         \n\
         \x20      8      1392 (99)    leak:* (my.supp:1)\n"
    );
}

fn junit(leaks: &Leaks<'_>, failing: bool) -> String {
    let mut out = Vec::new();
    junit::write(from_ref(&shop()), leaks, failing, &mut out).expect("a vector takes everything");
    String::from_utf8(out).expect("text")
}

#[test]
fn junit_has_a_test_for_each_leak() {
    let tree = Tree::new(&[shop()]);
    let rules = suppressions("leak:_IO_file_doallocate\nleak:work\nleak:cart<\n");
    let leaks = Settings::leaks(&tree, PathOptions::default(), &rules, None);
    assert_eq!(
        junit(&leaks, true),
        r#"<?xml version="1.0" encoding="UTF-8"?>
<testsuites>
  <testsuite name="mprof: shop" tests="4" failures="2" errors="0" skipped="2" timestamp="2025-12-31T23:59:59" time="1.500">
    <testcase classname="shop" name="|| &gt; main &gt; open &gt; load" time="0">
      <failure message="2 objects, 200 bytes kept" type="leak">2 objects, 200 bytes kept, allocated by
    load (/src/load.c:5)
    open (/src/shop.c:20)
    main (/src/shop.c:10)
</failure>
    </testcase>
    <testcase classname="shop" name="|| &gt; main &gt; cart_new &gt; libcart.so+0x1500" time="0">
      <failure message="4 objects, 160 bytes kept" type="leak">4 objects, 160 bytes kept, allocated by
    libcart.so+0x1500 (libcart.so)
    cart_new (/src/cart.c:77)
    main (/src/shop.c:11)
</failure>
    </testcase>
    <testcase classname="shop" name="suppressed: leak:_IO_file_doallocate" time="0">
      <skipped message="1 object, 1024 bytes kept; my.supp:1"/>
    </testcase>
    <testcase classname="shop" name="suppressed: leak:work" time="0">
      <skipped message="1 object, 8 bytes kept; my.supp:2"/>
    </testcase>
  </testsuite>
</testsuites>
"#
    );
    let passing = junit(&leaks, false);
    assert!(passing.contains(r#"tests="4" failures="0""#));
    assert!(passing.contains("<system-out>4 objects, 160 bytes kept, allocated by\n"));
}

#[test]
fn junit_has_a_passed_test_where_nothing_leaks() {
    let tree = Tree::new(&[shop()]);
    let leaks = Settings::leaks(&tree, PathOptions::default(), &Suppressions::default(), Some(&[shop()]));
    let text = junit(&leaks, true);
    assert!(text.contains(r#"tests="1" failures="0" errors="0" skipped="0""#));
    assert!(text.contains(r#"<testcase classname="shop" name="no leaks" time="0"/>"#));
}

#[test]
fn sarif_has_a_result_for_each_leak_with_its_line() {
    let tree = Tree::new(&[shop()]);
    let rules = suppressions("leak:work\n");
    let leaks = Settings::leaks(&tree, PathOptions::default(), &rules, Some(&[earlier()]));
    let mut out = Vec::new();
    sarif::write(&[shop()], &leaks, true, "/src", &mut out).expect("a vector takes everything");
    let log: Value = serde_json::from_slice(&out).expect("JSON");
    assert_eq!(log["version"], "2.1.0");
    let run = &log["runs"][0];
    assert_eq!(run["originalUriBaseIds"]["%SRCROOT%"]["uri"], "file:///src/");
    assert_eq!(run["invocations"][0]["executableLocation"]["uri"], "file:///usr/bin/shop");
    assert_eq!(run["invocations"][0]["endTimeUtc"], "2026-01-01T00:00:00Z");
    let results = run["results"].as_array().expect("results");
    assert_eq!(results.len(), 3);
    assert_eq!(results[0]["level"], "error");
    assert_eq!(results[0]["baselineState"], "updated");
    let text =
        "2 objects, 200 bytes kept; 1 object, 100 bytes more than in the baseline: || > main > open > load";
    assert_eq!(results[0]["message"]["text"], text);
    let place = &results[0]["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "load.c");
    assert_eq!(place["artifactLocation"]["uriBaseId"], "%SRCROOT%");
    assert_eq!(place["region"]["startLine"], 5);
    let frames = results[1]["stacks"][0]["frames"].as_array().expect("frames");
    let names: Vec<&Value> =
        frames.iter().map(|frame| &frame["location"]["logicalLocations"][0]["fullyQualifiedName"]).collect();
    assert_eq!(names, ["libcart.so+0x1500", "cart_new", "main"]);
    assert_eq!(frames[0]["location"].get("physicalLocation"), None);
    assert_eq!(results[2]["suppressions"][0]["justification"], "leak:work (my.supp:1)");
    assert_ne!(results[0]["partialFingerprints"], results[1]["partialFingerprints"]);
}

/// What a constructor of a library keeps, and what a thread does that begins in the same library.
#[test]
fn a_librarys_constructor_is_told_from_its_threads() {
    let loader = "ld-linux-x86-64.so.2!_dl_start_user > ld-linux-x86-64.so.2!call_init";
    let profile = ProfileBuilder::new("shop")
        .allocate(&format!("{loader} > libgobject-2.0.so.0!0x1000 > libglib-2.0.so.0!g_malloc"), 16, 1, 0)
        .allocate("libc.so.6!start_thread > libgobject-2.0.so.0!run > work", 8, 1, 0)
        .build();
    let tree = Tree::new(&[profile]);
    let leaks = Settings::leaks(&tree, PathOptions::default(), &Suppressions::built_in(), None);
    let rows: Vec<String> = leaks.sorted().into_iter().map(|(_, path)| path.to_string()).collect();
    assert_eq!(rows, ["|| > run > work"]);
    assert_eq!(leaks.suppressed[0].label.name, "GLib: start of the object system");
}
