//! How long a whole report takes: `cargo bench -p mpdisplay`. Prints the best of some runs, in milliseconds of
//! processor time.

use mpdisplay::report::options::Options;
use mpdisplay::report::write_report;
use mpdisplay::{analysis::share::Detail, analysis::tree::Tree};
use mprof_format::model::{
    Bin, Category, Context, Counter, Frame, Function, Module, Names, Profile, Site, SourceFrame, Thread,
};
use std::hint::black_box;

const RUNS: usize = 7;

/// Nanoseconds that this thread has had a processor (proc(5), schedstat): other work on the machine does not count.
fn processor_time() -> u64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").expect("the kernel keeps schedstat");
    text.split_whitespace().next().and_then(|first| first.parse().ok()).expect("a number comes first")
}

fn main() {
    measure("70000 contexts, 20000 functions", &profile(70_000, 20_000, 60));
    measure("100000 contexts, chains 20000 deep", &profile(100_000, 30_000, 20_000));
    measure("1000000 contexts, 50000 functions", &profile(1_000_000, 50_000, 200));
}

fn measure(what: &str, profile: &Profile) {
    let verbose = Options { detail: Detail::Verbose, ..Options::default() };
    let tree = best(|| {
        black_box(Tree::new([profile]));
    });
    let report = best(|| draw(profile, &Options::default()));
    let verbose = best(|| draw(profile, &verbose));
    println!("{what}: tree {tree:.0} ms, report {report:.0} ms, verbose report {verbose:.0} ms");
}

fn draw(profile: &Profile, options: &Options) {
    let mut out = Vec::new();
    write_report(std::slice::from_ref(profile), options, &mut out).expect("a vector takes everything");
    black_box(out);
}

fn best(run: impl Fn()) -> f64 {
    let time = || {
        let start = processor_time();
        run();
        (processor_time() - start) as f64 / 1e6
    };
    (0..RUNS).map(|_| time()).fold(f64::INFINITY, f64::min)
}

/// A tree grown at random places up to a depth, whose functions have call sites of their own; two of three
/// contexts allocate.
fn profile(contexts: u32, functions: u32, deepest: u32) -> Profile {
    let mut state = 1u64;
    let mut random = move |end: u32| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 33) % u64::from(end)) as u32
    };
    let mut names = Names::default();
    for number in 0..functions {
        let name = format!("module_{}::function_{number}", number % 97).into_bytes();
        names.functions.push(Function { name, module: Some(0), ..Function::default() });
    }
    let mut profile = Profile {
        modules: vec![Module { path: b"/usr/bin/synthetic".to_vec(), ..Module::default() }],
        threads: vec![Thread { count: 1, ..Thread::default() }],
        contexts: vec![Context { parent: None, frame: Frame::Thread(0) }],
        ..Profile::default()
    };
    let mut depths = vec![0];
    for id in 1..contexts {
        // The first contexts are one chain of the whole depth, the others grow anywhere.
        let parent = if id <= deepest { id - 1 } else { random(id) };
        let parent = if depths[parent as usize] < deepest { parent } else { 0 };
        depths.push(depths[parent as usize] + 1);
        let function = random(functions);
        let address = u64::from(function) * 64 + u64::from(random(4)) * 8;
        let frame = Frame::Code { module: 0, address, interrupted: false };
        let source = SourceFrame { function, file: None, line: 0, offset: address % 64 };
        names.sites.entry(frame).or_insert(Site { frames: vec![source] });
        profile.contexts.push(Context { parent: Some(parent), frame });
        if id % 3 > 0 {
            let (allocs, size) = (1 + u64::from(random(1000)), 1 + u64::from(random(3000)));
            let frees = allocs - u64::from(random(2));
            let (category, bytes) = (Category::of_size(size), allocs * size);
            let counter = Counter { context: id, category, allocs, bytes, frees, freed_bytes: frees * size };
            profile.counters.push(counter);
        }
    }
    profile.bins = (0..1024)
        .map(|size| Bin { size: Some(size), allocs: 10, frees: 5, bytes: 10 * size, freed_bytes: 5 * size })
        .collect();
    profile.names = Some(names);
    profile
}
