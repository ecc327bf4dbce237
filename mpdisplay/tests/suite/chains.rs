//! Which frames a chain shows, and what long chains cost.

use crate::builder::ProfileBuilder;
use mpdisplay::analysis::graph::{Graph, GraphKind};
use mpdisplay::analysis::leaks::{Depth, Leaks, PathOptions};
use mpdisplay::analysis::tree::Tree;
use mprof_format::model::{ModuleKind, Profile};

const ALL: PathOptions = PathOptions { depth: Depth::All, offsets: false, lines: false };

/// The whole paths of a profile with kept objects, sorted.
fn paths(builder: ProfileBuilder) -> Vec<String> {
    let tree = Tree::new([&builder.build()]);
    let leaks = Leaks::new(&tree, ALL);
    let mut paths: Vec<String> = leaks.rows.iter().map(|row| leaks.path(row).to_string()).collect();
    paths.sort();
    paths
}

/// The path of one chain.
fn path(chain: &str) -> String {
    paths(ProfileBuilder::new("prog").allocate(chain, 8, 1, 0)).join("; ")
}

#[test]
fn the_start_above_main_is_left_out() {
    let wanted = "|| > main > f";
    assert_eq!(path("_start > libc.so.6!__libc_start_main@1 > main > f"), wanted);
    assert_eq!(
        path("_start > libc.so.6!__libc_start_main_impl > libc.so.6!__libc_start_call_main > main > f"),
        wanted
    );
    assert_eq!(path("_start > libc.so.6!0x27305 > libc.so.6!0x2724a > main > f"), wanted);
    assert_eq!(path("0x10c1 > libc.so.6!0x27305 > libc.so.6!0x2724a > main > f"), wanted);
    assert_eq!(path("main > f"), wanted);
}

#[test]
fn the_start_of_a_stripped_program_is_left_out() {
    assert_eq!(
        path("0x10c1 > libc.so.6!__libc_start_main > libc.so.6!0x2724a > 0x1189 > 0x1200"),
        "|| > prog+0x1189 > prog+0x1200"
    );
    // A coroutine's function without a name that calls a named function of libc is not the start.
    assert_eq!(path("0x1500 > libc.so.6!qsort > 0x1600"), "|| > prog+0x1500 > qsort > prog+0x1600");
}

#[test]
fn the_start_of_threads_coroutines_constructors_and_exit_handlers_is_left_out() {
    assert_eq!(path("libc.so.6!clone3 > libc.so.6!start_thread > worker > make"), "|| > worker > make");
    assert_eq!(path("libc.so.6!0x108834 > libc.so.6!0x8a043 > worker"), "|| > worker");
    assert_eq!(path("libc.so.6!clone > libc.so.6!start_thread > start_thread > f"), "|| > start_thread > f");
    assert_eq!(path("libc.so.6!__start_context > coro_body"), "|| > coro_body");
    assert_eq!(
        path(
            "ld-linux-x86-64.so.2!_dl_start_user > ld-linux-x86-64.so.2!_dl_init > ld-linux-x86-64.so.2!call_init > early"
        ),
        "|| > early"
    );
    assert_eq!(
        path(
            "_start > libc.so.6!__libc_start_main > libc.so.6!exit > libc.so.6!__run_exit_handlers > handler"
        ),
        "|| > handler"
    );
}

#[test]
fn the_runtime_inside_a_chain_is_shown() {
    assert_eq!(
        path(
            "_start > libc.so.6!__libc_start_main > main > sort_it > libc.so.6!qsort > libc.so.6!0x3f000 > compare"
        ),
        "|| > main > sort_it > qsort > libc.so.6+0x3f000 > compare"
    );
    assert_eq!(
        path("main > libc.so.6!dlopen > ld-linux-x86-64.so.2!_dl_init > plugin.so!init"),
        "|| > main > dlopen > _dl_init > init"
    );
    assert_eq!(path("[unknown] > libc.so.6!qsort > compare"), "[unknown] > qsort > compare");
}

/// Chains that are lost beyond the start are lost to nobody: the start was reached.
#[test]
fn nothing_is_unknown_beyond_the_start() {
    let loader = "ld-linux-x86-64.so.2";
    assert_eq!(
        path(&format!(
            "[unknown] > {loader}!_dl_start_user > {loader}!_dl_init > {loader}!call_init > early"
        )),
        "|| > early"
    );
    assert_eq!(path("[unknown] > libc.so.6!start_thread > worker"), "|| > worker");
    assert_eq!(path("[unknown] > main > f"), "|| > main > f");
    // Constructors may be called by dlopen, far inside.
    assert_eq!(path(&format!("[unknown] > {loader}!_dl_init > early")), "[unknown] > _dl_init > early");
}

#[test]
fn chains_that_end_in_the_runtime_show_it() {
    let builder = ProfileBuilder::new("prog")
        .allocate("libc.so.6!clone3 > libc.so.6!start_thread > worker", 8, 1, 0)
        .allocate("libc.so.6!clone3 > libc.so.6!start_thread", 8, 1, 0)
        .allocate("libc.so.6!clone3 > libc.so.6!start_thread > libc.so.6!0x99 > libc.so.6!calloc_it", 8, 1, 0)
        .allocate("ld-linux-x86-64.so.2!_dl_start > ld-linux-x86-64.so.2!dl_main > ld-linux-x86-64.so.2!_dl_new_object", 8, 1, 0);
    assert_eq!(
        paths(builder),
        [
            "|| > dl_main > _dl_new_object",
            "|| > libc.so.6+0x99 > calloc_it",
            "|| > start_thread",
            "|| > worker"
        ]
    );
}

/// The monitor passes calls on, and is no part of the program.
#[test]
fn the_monitors_frames_are_left_out() {
    let chain = "_start > libc.so.6!__libc_start_main > main > libmprof.so!hook > libecl.so!boot > make";
    let mut profile = ProfileBuilder::new("prog").allocate(chain, 8, 1, 0).build();
    let shown = |profile: &Profile| {
        let tree = Tree::new([profile]);
        let leaks = Leaks::new(&tree, ALL);
        leaks.path(&leaks.rows[0]).to_string()
    };
    assert_eq!(shown(&profile), "|| > main > hook > boot > make", "as an older monitor wrote it");
    for module in profile.modules.iter_mut().filter(|module| module.path.ends_with(b"libmprof.so")) {
        module.kind = ModuleKind::Monitor;
    }
    assert_eq!(shown(&profile), "|| > main > boot > make");
}

#[test]
fn an_empty_chain_is_unknown() {
    assert_eq!(path(""), "[unknown]");
}

#[test]
fn rusts_runtime_is_left_out_above_the_programs_own_functions() {
    let start = "_start > libc.so.6!__libc_start_main > main > std::rt::lang_start > std::rt::lang_start_internal \
                 > std::panicking::catch_unwind > std::rt::lang_start::{{closure}}";
    let mark = "std::sys::backtrace::__rust_begin_short_backtrace > core::ops::function::FnOnce::call_once";
    assert_eq!(path(&format!("{start} > {mark} > shop::main > shop::fill")), "|| > shop::main > shop::fill");
    assert_eq!(
        path(&format!("{start} > std::thread::Thread::new")),
        "|| > main > std::rt::lang_start > std::rt::lang_start_internal > std::panicking::catch_unwind > \
         std::rt::lang_start::{{closure}} > std::thread::Thread::new"
    );
    let thread = "libc.so.6!clone3 > libc.so.6!start_thread > std::sys::thread::unix::Thread::new::thread_start > \
                  <alloc::boxed::Box<F> as core::ops::function::FnOnce<A>>::call_once";
    assert_eq!(
        path(&format!(
            "{thread} > std::sys::backtrace::__rust_begin_short_backtrace > shop::main::{{{{closure}}}}"
        )),
        "|| > shop::main::{{closure}}"
    );
    assert_eq!(path("main > shop::main"), "|| > main > shop::main");
}

#[test]
fn inlined_functions_are_callers_like_others() {
    assert_eq!(path("main > outer/middle/inner"), "|| > main > outer > middle > inner");
}

#[test]
fn five_callers_are_the_function_that_allocated_and_four_above_it() {
    let tree =
        Tree::new([&ProfileBuilder::new("prog").allocate("main > a > b > c > d > e", 8, 1, 0).build()]);
    let leaks = Leaks::new(&tree, PathOptions::default());
    assert_eq!(leaks.path(&leaks.rows[0]).to_string(), "... > a > b > c > d > e");
}

/// A chain of 60 000 different functions, and one that comes back to its beginning.
#[test]
fn long_chains_need_no_stack() {
    let functions: Vec<String> = (0..60_000).map(|number| format!("f{number}")).collect();
    let chain = functions.join(" > ");
    let builder = ProfileBuilder::new("deep").allocate(&chain, 8, 1, 0);
    let tree = Tree::new([&builder.build()]);
    let graph = Graph::new(&tree, GraphKind::Merged);
    assert_eq!((graph.entries.len(), graph.cycles.len()), (60_000, 0));
    let leaks = Leaks::new(&tree, ALL);
    assert_eq!(leaks.path(&leaks.rows[0]).callers.len(), 60_000);

    let builder = ProfileBuilder::new("deep").allocate(&format!("{chain} > f0"), 8, 1, 0);
    let tree = Tree::new([&builder.build()]);
    let graph = Graph::new(&tree, GraphKind::Merged);
    assert_eq!(graph.cycles.len(), 1);
    assert_eq!(graph.cycles[0].members.len(), 60_000);
    assert_eq!(graph.entries[0].total.usage.bytes, 8);
}
