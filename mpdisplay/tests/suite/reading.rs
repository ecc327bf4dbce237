//! Filters, wrappers, lines, parts, comparisons and annotated sources, as golden reports.

use crate::builder::ProfileBuilder;
use crate::golden::check_drawn;
use mpdisplay::analysis::annotation::Annotation;
use mpdisplay::analysis::chains::{Chains, WRAPPERS};
use mpdisplay::analysis::leaks::PathOptions;
use mpdisplay::analysis::part::{Part, Threads};
use mpdisplay::analysis::pattern::Patterns;
use mpdisplay::analysis::share::Detail;
use mpdisplay::report::options::{By, Options, Order, Tables};
use mpdisplay::report::source::{Sources, is_preferred};
use mpdisplay::report::view::View;
use mpdisplay::report::{write_comparison, write_each, write_report, write_source, write_source_comparison};
use mprof_format::model::Profile;

fn patterns(texts: &[&str]) -> Patterns {
    let parse = |text: &&str| {
        let Ok(pattern) = text.parse();
        pattern
    };
    Patterns(texts.iter().map(parse).collect())
}

fn parts(profiles: &[Profile]) -> Vec<Part<'_>> {
    profiles.iter().map(Part::whole).collect()
}

/// A shop: two libraries, wrappers, C++ and C, lines.
fn shop() -> Profile {
    ProfileBuilder::new("shop")
        .allocate("main@80 > stock@12 > libstdc++.so.6!operator new", 64, 100, 40)
        .allocate("main@81 > stock@13 > libstdc++.so.6!operator new", 200, 10, 10)
        .allocate(
            "main@82 > order@30 > stock@12 > std::allocator<Item>::allocate > libstdc++.so.6!operator new",
            64,
            20,
            0,
        )
        .allocate("main@83 > order@31 > libxml.so.2!parse > libxml.so.2!xmalloc", 1000, 5, 1)
        .allocate(
            "main@83 > order@31 > libxml.so.2!parse > libxml.so.2!parse_child > libxml.so.2!xmalloc",
            30,
            50,
            50,
        )
        .allocate("main@84 > libc.so.6!strdup", 16, 7, 0)
        .user_type(64, "Item", false)
        .build()
}

fn draw_shop(report: &str, options: Options) {
    let shop = [shop()];
    check_drawn("shop", report, |out| write_report(&shop, &options, out));
}

fn with_chains(chains: Chains) -> Options {
    Options { chains, ..Options::default() }
}

#[test]
fn chains_in_focus() {
    draw_shop("focus", with_chains(Chains { focus: patterns(&["order", "strdup"]), ..Chains::default() }));
}

#[test]
fn chains_ignored() {
    let ignore = patterns(&["module:libxml*", "shop.c:84"]);
    draw_shop("ignore", with_chains(Chains { ignore, ..Chains::default() }));
}

#[test]
fn functions_hidden() {
    let hide = patterns(&["module:libxml.so.2", "std::allocator<*>::*"]);
    draw_shop("hide", with_chains(Chains { hide, ..Chains::default() }));
}

#[test]
fn rows_shown() {
    draw_shop("show", Options { show: patterns(&["stock"]), ..Options::default() });
    let paths = PathOptions { lines: true, ..PathOptions::default() };
    draw_shop("show-lines", Options { show: patterns(&["shop.c:12"]), paths, ..Options::default() });
}

#[test]
fn wrappers_skipped() {
    let mut texts = vec!["my_alloc*"];
    texts.extend(WRAPPERS);
    draw_shop("wrappers", with_chains(Chains { wrappers: patterns(&texts), ..Chains::default() }));
}

#[test]
fn rows_by_line() {
    let paths = PathOptions { lines: true, ..PathOptions::default() };
    let wrappers = patterns(WRAPPERS);
    draw_shop("lines", Options { paths, ..with_chains(Chains { wrappers, ..Chains::default() }) });
}

#[test]
fn modules_in_place_of_functions() {
    draw_shop("modules", Options { by: By::Module, ..Options::default() });
}

#[test]
fn sorted_and_limited_rows() {
    let options = |order| Options { order: Some(order), limit: Some(2), ..Options::default() };
    draw_shop("by-allocs", options(Order::Allocs));
    draw_shop("by-kept", options(Order::Kept));
}

/// A server with threads, and what it forked.
fn server() -> Vec<Profile> {
    let server = ProfileBuilder::new("server")
        .process(|process| process.arguments = vec![b"server".to_vec(), b"--port".to_vec(), b"80".to_vec()])
        .thread("reader", 4712, 1, "read_all")
        .thread("writer 2", 4714, 3, "write_all")
        .allocate("main > setup", 500, 2, 0)
        .allocate("#1 > read_all > line", 80, 50, 45)
        .allocate("#2 > write_all > line", 80, 30, 30)
        .allocate("[unknown] > line", 10, 1, 0)
        .build();
    let child = ProfileBuilder::new("server")
        .process(|process| {
            process.pid = 4800;
            process.arguments = vec![b"server".to_vec(), b"--port".to_vec(), b"80".to_vec()];
        })
        .allocate("main > serve > line", 80, 5, 5)
        .build();
    vec![server, child]
}

fn tables_1_and_3() -> Tables {
    Tables { leaks: true, bins: false, direct: true, graph: false, ..Tables::default() }
}

#[test]
fn a_report_for_each_process() {
    let server = server();
    let options = Options { by: By::Process, tables: tables_1_and_3(), ..Options::default() };
    check_drawn("server", "processes", |out| write_each(&parts(&server), &options, out));
}

#[test]
fn a_report_for_each_thread() {
    let server = server();
    let options = Options { by: By::Thread, tables: tables_1_and_3(), ..Options::default() };
    check_drawn("server", "threads", |out| write_each(&parts(&server), &options, out));
    check_drawn("server", "threads-of-one", |out| write_each(&parts(&server[..1]), &options, out));
}

/// The sizes of one thread's objects are not known.
#[test]
fn some_threads() {
    let server = server();
    let part = Part { profile: &server[0], threads: Threads::Only(vec![Some(1), Some(2)]) };
    let options = Options::default();
    let view = View::new(std::slice::from_ref(&part), &options);
    check_drawn("server", "two-threads", |out| {
        let part = std::slice::from_ref(&part);
        mpdisplay::report::write_view(part, &view, &view.leaks(&options), &options, out)
    });
}

#[test]
fn threads_in_the_header() {
    let tables = Tables { leaks: false, bins: true, direct: false, graph: false, ..Tables::default() };
    let mut builder = ProfileBuilder::new("pool");
    for number in 0..12 {
        builder = builder.thread(&format!("worker {number}"), 5000 + number, 1, "work");
    }
    let pool = [builder.allocate("#3 > work", 10, 1, 0).build()];
    let options = Options { tables, ..Options::default() };
    check_drawn("server", "many-threads", |out| write_report(&pool, &options, out));
}

/// Of hundreds of processes the header names a few, and those with the same command line together.
#[test]
fn many_processes_in_the_header() {
    let profile = |number: u32| {
        let program = if number < 20 { "test_runner".to_owned() } else { format!("tool_{number}") };
        let chain = "main > work";
        let builder = ProfileBuilder::new(&program).process(|process| process.pid = 100 + number);
        builder.allocate(chain, 8, 1, 0).build()
    };
    let profiles: Vec<Profile> = (0..40).map(profile).collect();
    let tables = Tables { leaks: true, bins: false, direct: false, graph: false, ..Tables::default() };
    let options = Options { tables, ..Options::default() };
    check_drawn("server", "many-processes", |out| write_report(&profiles, &options, out));
}

/// Two runs of one program: leaks that are new, gone, grown, shrunk and the same.
fn runs() -> [Profile; 2] {
    let before = ProfileBuilder::new("run")
        .allocate("main > start > table", 400, 10, 5)
        .allocate("main > start > name", 20, 10, 4)
        .allocate("main > old", 100, 3, 0)
        .allocate("main > same", 50, 2, 1)
        .allocate("main > ping > pong > ping", 64, 1, 0)
        .user_type(400, "table", false)
        .build();
    let after = ProfileBuilder::new("run")
        .process(|process| process.pid = 4712)
        .allocate("main > start > table", 400, 12, 2)
        .allocate("main > start > name", 20, 10, 8)
        .allocate("main > new", 3000, 1, 0)
        .allocate("main > new > name", 20, 5, 5)
        .allocate("main > same", 50, 2, 1)
        .allocate("main > pong > ping > pong", 64, 2, 2)
        .build();
    [before, after]
}

fn compare(report: &str, options: &Options) {
    let [before, after] = runs();
    let (before, after) = ([Part::whole(&before)], [Part::whole(&after)]);
    let states: [&[Part<'_>]; 2] = [&before, &after];
    let view = View::comparing(states, options);
    check_drawn("runs", report, |out| write_comparison(states, &view, options, out));
}

#[test]
fn two_runs_compared() {
    compare("report", &Options::default());
    compare("verbose", &Options { detail: Detail::Verbose, ..Options::default() });
    let chains = Chains { focus: patterns(&["start", "new"]), ..Chains::default() };
    compare("focus", &Options { limit: Some(1), ..with_chains(chains) });
}

/// Nothing has changed between a run and itself.
#[test]
fn a_run_compared_with_itself() {
    let [before, _] = runs();
    let part = [Part::whole(&before)];
    let options = Options::default();
    let view = View::comparing([&part, &part], &options);
    check_drawn("runs", "nothing", |out| write_comparison([&part, &part], &view, &options, out));
}

/// Calls of the lines of a file that is there, of one that is not, and of a line behind the end.
fn annotated() -> ProfileBuilder {
    ProfileBuilder::new("pair")
        .sources_in("tests/golden/annotated")
        .allocate("main{pair.c}@21 > make_pair{pair.c}@10", 16, 10, 4)
        .allocate("main{pair.c}@22 > make_pair{pair.c}@10", 16, 3, 3)
        .allocate("main{pair.c}@22 > make_pair{pair.c}@11 > make_pair{pair.c}@10", 16, 1, 0)
        .allocate(
            "main{pair.c}@23 > make_pair{pair.c}@11 > make_pair{pair.c}@11 > libc.so.6!strdup",
            100,
            1,
            0,
        )
        .allocate("main{pair.c}@24 > gone{gone.c}@7", 1000, 2, 0)
        .allocate("main{pair.c}@40", 8, 1, 1)
}

fn annotate(report: &str, profile: &Profile, sources: &Sources, options: &Options) {
    let part = [Part::whole(profile)];
    let view = View::new(&part, options);
    let annotation = Annotation::new(&view.tree, |path| is_preferred(path, &[]));
    check_drawn("annotated", report, |out| write_source(&part, &view, &annotation, sources, options, out));
}

#[test]
fn sources_annotated() {
    let profile = annotated().build();
    let named = Sources::Named(vec!["pair.c".into()]);
    annotate("named", &profile, &named, &Options::default());
    annotate("largest", &profile, &Sources::Largest, &Options::default());
    annotate("limited", &profile, &Sources::Largest, &Options { limit: Some(0), ..Options::default() });
    let recorded = annotated().process(|process| process.start_unix_ns = 1).build();
    let changed = Sources::Named(vec!["pair.c".into(), "*gone.c".into()]);
    annotate("changed", &recorded, &changed, &Options::default());
    let unknown = ProfileBuilder::new("plain").allocate("main", 8, 1, 0).build();
    annotate("no-lines", &unknown, &Sources::Largest, &Options::default());
}

#[test]
fn sources_of_two_runs_compared() {
    let (before, after) = (annotated().build(), annotated().allocate("main{pair.c}@21", 5, 9, 2).build());
    let (before, after) = ([Part::whole(&before)], [Part::whole(&after)]);
    let states: [&[Part<'_>]; 2] = [&before, &after];
    let options = Options::default();
    let view = View::comparing(states, &options);
    let annotation = Annotation::new(&view.tree, |path| is_preferred(path, &[]));
    let sources = Sources::Named(vec!["pair.c".into()]);
    check_drawn("annotated", "compared", |out| {
        write_source_comparison(states, &view, &annotation, &sources, &options, out)
    });
}
