//! Whole reports against `tests/golden/<case>/<report>.txt`. `MPROF_BLESS=1 cargo test -p mpdisplay --test suite golden`
//! writes the files anew: look at the difference before it is committed.

use crate::builder::ProfileBuilder;
use mpdisplay::analysis::graph::GraphKind;
use mpdisplay::analysis::leaks::{Depth, PathOptions};
use mpdisplay::analysis::share::Detail;
use mpdisplay::report::number::Marks;
use mpdisplay::report::options::{Options, Order, Page};
use mpdisplay::report::write_report;
use mprof_format::model::Profile;
use std::io;
use std::path::Path;
use std::slice::from_ref;

/// Draws the profiles' report and compares it with a golden file.
fn check(case: &str, report: &str, profiles: &[Profile], options: Options) {
    check_drawn(case, report, |drawn| write_report(profiles, &options, drawn));
}

/// Compares what is drawn with a golden file.
pub(crate) fn check_drawn(case: &str, report: &str, draw: impl FnOnce(&mut Vec<u8>) -> io::Result<()>) {
    let mut drawn = Vec::new();
    draw(&mut drawn).expect("a vector takes everything");
    let drawn = String::from_utf8(drawn).expect("reports are text");
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/{case}/{report}.txt"));
    if std::env::var_os("MPROF_BLESS").is_some() {
        std::fs::create_dir_all(file.parent().expect("the case's folder")).expect("the case's folder");
        std::fs::write(&file, &drawn).expect("the golden file is written");
        return;
    }
    let golden = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(drawn == golden, "{} differs.\n--- golden\n{golden}\n--- drawn\n{drawn}", file.display());
}

fn exact() -> Options {
    Options { graph: GraphKind::Exact, ..Options::default() }
}

/// The paper's figure 1, of whose 10000 widgets 5019 are red.
fn widgets() -> Profile {
    ProfileBuilder::new("widgets")
        .allocate("main@35 > make_red_widget@25 > make_widget+26@17", 204, 5019, 0)
        .allocate("main@33 > make_blue_widget@21 > make_widget+26@17", 204, 4981, 4981)
        .user_type(204, "widget", false)
        .build()
}

#[test]
fn widgets_as_in_figures_2_to_5() {
    check("widgets", "report", &[widgets()], Options::default());
}

#[test]
fn widgets_with_call_sites() {
    let paths = PathOptions { offsets: true, lines: true, depth: Depth::Last(2) };
    check("widgets", "sites", &[widgets()], Options { paths, ..Options::default() });
}

#[test]
fn widgets_with_frees_and_marks() {
    let options = Options { detail: Detail::Verbose, marks: Marks::Shown, ..Options::default() };
    check("widgets", "verbose-marks", &[widgets()], options);
}

/// Figure 6 and the next allocation of its text: 34 bytes over `main -> foo`.
#[test]
fn a_call_chain_as_in_figure_6() {
    let profile = ProfileBuilder::new("chain")
        .allocate("main > foo > bar", 24, 1, 1)
        .allocate("main > foo > otherbar", 10, 1, 1)
        .build();
    check("figure-6", "report", &[profile], Options::default());
}

/// Figure 7: `main`, and `F` and `G` together, are responsible for 10 bytes.
#[test]
fn recursion_as_in_figure_7() {
    let profile = ProfileBuilder::new("figure7").allocate("main > F > G > F > G", 10, 1, 0).build();
    check("figure-7", "report", from_ref(&profile), Options::default());
    check("figure-7", "exact", &[profile], exact());
}

/// Three functions call each other in turn, at different depths, and others from different places.
fn mutual_recursion() -> Profile {
    ProfileBuilder::new("mutual")
        .allocate("main > even", 8, 10, 10)
        .allocate("main > even > odd > third > even > odd > make", 100, 20, 5)
        .allocate("main > even > odd > third", 40, 7, 0)
        .allocate("main > start > third > even > even > make", 100, 3, 3)
        .allocate("main > start > third > log", 16, 1, 0)
        .allocate("main > make", 3000, 1, 0)
        .build()
}

#[test]
fn mutual_recursion_of_three() {
    check("mutual-recursion", "report", &[mutual_recursion()], Options::default());
    check("mutual-recursion", "exact", &[mutual_recursion()], exact());
}

/// Two cycles, of which one calls the other.
#[test]
fn two_cycles() {
    let profile = ProfileBuilder::new("cycles")
        .allocate("main > a > b > a > x > y > x", 64, 4, 0)
        .allocate("main > b > y", 300, 2, 1)
        .build();
    check("two-cycles", "report", &[profile], Options::default());
}

/// Direct recursion is no cycle.
#[test]
fn direct_recursion() {
    let profile = ProfileBuilder::new("recursive")
        .allocate("main > walk", 32, 4, 4)
        .allocate("main > walk > walk > walk", 32, 6, 2)
        .allocate("main > walk > walk > leaf", 500, 1, 0)
        .allocate("main > main > walk", 16, 5, 5)
        .build();
    check("direct-recursion", "report", &[profile], Options::default());
}

#[test]
fn borders_of_size_categories_and_of_bins() {
    let mut builder = ProfileBuilder::new("sizes");
    for size in [0, 1, 32, 33, 256, 257, 1024, 1025, 2048, 2049] {
        builder.add("main > allocate", size, 1, size % 2);
    }
    check("size-borders", "report", &[builder.build()], Options::default());
}

/// Kept objects of no bytes: nothing may be divided by the bytes that there are not.
#[test]
fn zero_bytes() {
    let all = ProfileBuilder::new("zero").allocate("main > zero_keep", 0, 100, 0).build();
    check("zero-bytes", "nothing-else", &[all], Options::default());
    let some = ProfileBuilder::new("zero")
        .allocate("main > zero_keep", 0, 100, 0)
        .allocate("main > freed", 50, 10, 10)
        .build();
    check("zero-bytes", "among-freed", &[some], Options::default());
    check("zero-bytes", "no-allocations", &[ProfileBuilder::new("idle").build()], Options::default());
}

/// 2 GiB objects and a sum near the end of the numbers; columns stay aligned.
#[test]
fn huge_sizes() {
    let profile = ProfileBuilder::new("huge")
        .allocate("main > huge_keep", 2_362_232_012, 1, 0)
        .allocate("main > many > huge_freed", 1 << 40, 1_048_576, 1_048_575)
        .allocate("main > many", 1_000_000_000, 1_000_000_000, 0)
        .build();
    check("huge-sizes", "report", from_ref(&profile), Options::default());
    check("huge-sizes", "verbose", &[profile], Options { detail: Detail::Verbose, ..Options::default() });
}

/// Chains that do not reach the program's start, by themselves or because they are not shown so far.
#[test]
fn unknown_and_cut_chains() {
    let profile = ProfileBuilder::new("chains")
        .allocate("[unknown]", 24, 3, 0)
        .allocate("[unknown] > f > g", 24, 5, 0)
        .allocate("... > b > c > d > e > f", 40, 1, 0)
        .allocate("main > a > b > c > d > e > f", 40, 1, 0)
        .allocate("main > b > c > d > e", 80, 1, 0)
        .allocate("... > e > f", 8, 2, 0)
        .allocate("[unknown] > v > w > x > y > z", 8, 2, 0)
        .allocate("[unknown] > u > v > w > x > y > z", 8, 3, 0)
        .build();
    check("unknown-chains", "report", from_ref(&profile), Options::default());
    let paths = PathOptions { depth: Depth::All, ..PathOptions::default() };
    check("unknown-chains", "all-callers", &[profile], Options { paths, ..Options::default() });
}

/// Frames without names, frames of generated code, inlined frames, equal names in two files.
#[test]
fn frames_without_names_and_inlined_ones() {
    let profile = ProfileBuilder::new("frames")
        .allocate("main > libz.so.1!0x4a10 > inflate", 100, 2, 0)
        .allocate("main > [jit]", 100, 3, 0)
        .allocate("main > run > [jit] > run", 100, 1, 1)
        .allocate("main > outer_host+90@40/inl_helper@12", 1321, 6, 0)
        .allocate("main > helper{a.c}", 10, 1, 0)
        .allocate("main > helper{b.c}", 10, 2, 0)
        .build();
    check("frames", "report", from_ref(&profile), Options::default());
    let paths = PathOptions { offsets: true, lines: true, ..PathOptions::default() };
    check("frames", "sites", &[profile], Options { paths, ..Options::default() });
}

/// The same program twice and another one that shares a library's function.
#[test]
fn profiles_summed() {
    let first = ProfileBuilder::new("worker")
        .allocate("main > work > libshare.so!share_alloc", 48, 10, 4)
        .allocate("main > setup", 100, 1, 0)
        .user_type(48, "share", true)
        .build();
    let second = ProfileBuilder::new("worker")
        .process(|process| process.pid = 4712)
        .allocate("main > setup", 100, 2, 1)
        .allocate("main > work > libshare.so!share_alloc", 48, 30, 30)
        .user_type(48, "job", false)
        .build();
    let third = ProfileBuilder::new("client")
        .process(|process| process.pid = 4713)
        .allocate("main > libshare.so!share_alloc", 4096, 1, 0)
        .build();
    check("summed", "report", &[first, second, third], Options::default());
}

/// Small rows are left out only if all their numbers are small; a line tells their sum.
#[test]
fn small_rows_are_left_out() {
    let mut builder = ProfileBuilder::new("many");
    builder.add("main > big > alloc", 1000, 1000, 0);
    builder.add("main > few_bytes_often > alloc", 1, 5000, 5000);
    for index in 0..7 {
        builder.add(&format!("main > small_{index} > alloc"), 2 + index, 1 + index, 0);
    }
    let profile = [builder.user_type(1000, "block", false).user_type(1000, "also_block", false).build()];
    check("small-rows", "normal", &profile, Options::default());
    check("small-rows", "terse", &profile, Options { detail: Detail::Terse, ..Options::default() });
    check("small-rows", "verbose", &profile, Options { detail: Detail::Verbose, ..Options::default() });
    let options = Options { order: Some(Order::Name), limit: Some(2), ..Options::default() };
    check("small-rows", "by-name", &profile, options);
}

/// Long names run over in a pipe and are folded on a terminal.
#[test]
fn long_names() {
    let name = "std::map<std::__cxx11::basic_string<char>, std::vector<shop::Shelf<int, 7>>>::insert(std::pair<std::__cxx11::basic_string<char>, int> const&)";
    let profile = ProfileBuilder::new("names")
        .allocate(&format!("main > shop::Shelf<int, 7>::stock(int) > {name}"), 4096, 3, 0)
        .build();
    check("long-names", "pipe", from_ref(&profile), Options::default());
    let page = Page { width: 100, fold: true, ..Page::default() };
    check("long-names", "terminal", &[profile], Options { page, ..Options::default() });
}
