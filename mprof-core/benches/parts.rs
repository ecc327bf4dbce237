//! What the parts of the hot path cost, nanoseconds: `make bench-parts`.
//!
//! Each figure is the least of several rounds, so that other work on the machine shows as little as it can. Frames are
//! those of a small function that calls itself.

use std::hint::black_box;
use std::time::Instant;

use mprof_core::arena::{Zeroable, new_zeroed};
use mprof_core::chain::{Chain, Walk};
use mprof_core::header::Header;
use mprof_core::heap::{self, Heap};
use mprof_core::location::{FrameKey, Location};
use mprof_core::records;
use mprof_core::stack_bounds::StackBounds;
use mprof_core::tree::{NO_NODE, Tree};
use mprof_core::unwind::cache::RuleCache;
use mprof_core::unwind::eh_frame::{self, Workspace};
use mprof_core::unwind::{Entry, State};

const ROUNDS: usize = 9;
/// Calls a round.
const CALLS: u32 = 20_000;
/// Frames of the recursion.
const DEPTH: u32 = 256;
const SHALLOW: u32 = 8;
const MEDIUM: u32 = 40;

fn main() {
    println!("{:<58} {:>8}", "part", "ns");
    let (walked, compared) = descend(DEPTH, &mut walk_and_compare);
    row("a frame walked by its rule", walked);
    row("a frame compared with the chain before", compared);
    let [shallow, medium] = [SHALLOW, MEDIUM].map(|depth| descend(depth, &mut allocate));
    row("an allocation counted, at a chain that was seen", shallow.0);
    row("… and for each further frame of that chain", (medium.0 - shallow.0) / f64::from(MEDIUM - SHALLOW));
    row("its free counted", shallow.1);
    let (single, many) = look_up_children();
    row("a context's only child looked up", single);
    row("one of sixteen children looked up, in turn", many);
    row("a rule derived from .eh_frame, at a new location", derive_rules());
}

fn row(name: &str, nanoseconds: f64) {
    println!("{name:<58} {nanoseconds:>8.2}");
}

/// The least time of a call, nanoseconds.
fn least(calls: u32, mut call: impl FnMut(u32)) -> f64 {
    let round = |call: &mut dyn FnMut(u32)| {
        let start = Instant::now();
        (0..calls).for_each(call);
        start.elapsed().as_nanos() as f64 / f64::from(calls)
    };
    (0..ROUNDS).map(|_| round(&mut call)).fold(f64::INFINITY, f64::min)
}

/// The entry of a hook that the bottom of a recursion has called.
type AtBottom<'a, T> = &'a mut dyn FnMut(Entry) -> T;

/// Calls itself so many times, and then what is given through a shim as the library has them.
#[inline(never)]
fn descend<T: Copy>(depth: u32, at_bottom: AtBottom<'_, T>) -> T {
    let result = if depth == 0 { at_entry(at_bottom) } else { descend(depth - 1, at_bottom) };
    black_box(result)
}

fn at_entry<T: Copy>(at_bottom: AtBottom<'_, T>) -> T {
    let mut result = None;
    let mut keep = |entry| result = Some(at_bottom(entry));
    let mut keep: &mut dyn FnMut(Entry) = &mut keep;
    // SAFETY: the shim is a function of this type.
    let shim: unsafe extern "C" fn(*mut &mut dyn FnMut(Entry)) =
        unsafe { std::mem::transmute(shim as unsafe extern "C" fn()) };
    // SAFETY: the hook takes back what is given here.
    unsafe { shim(&raw mut keep) };
    result.expect("the hook was called")
}

#[unsafe(naked)]
unsafe extern "C" fn shim() {
    core::arch::naked_asm!("mov rsi, rsp", "mov rdx, rbp", "jmp {hook}", hook = sym hook)
}

unsafe extern "C" fn hook(at_bottom: *mut &mut dyn FnMut(Entry), sp: usize, bp: usize) {
    // SAFETY: `at_entry` gives this pointer, and waits.
    unsafe { (*at_bottom)(Entry { sp, bp }) }
}

fn zeroed<T: Zeroable>() -> &'static mut T {
    new_zeroed().expect("there is memory")
}

fn workspace() -> &'static mut Workspace {
    let workspace: &'static mut Workspace = zeroed();
    // SAFETY: the memory is the workspace's own.
    unsafe { Workspace::start(&raw mut *workspace) };
    workspace
}

fn walk_and_compare(entry: Entry) -> (f64, f64) {
    let chain: &mut Chain = zeroed();
    let rules: &mut RuleCache = zeroed();
    let tree: &mut Tree = zeroed();
    rules.start();
    assert!(tree.start(1_000_000), "there is memory");
    let mut bounds = StackBounds::default();
    let mut walk = Walk { rules, workspace: workspace(), tree, bounds: &mut bounds };
    // SAFETY: the hook has not returned, here and below.
    let state: State = unsafe { entry.caller() };
    let walked = least(CALLS / 10, |_| {
        chain.clear();
        // SAFETY: as above.
        black_box(unsafe { chain.find(&mut walk, state) });
    });
    let frames = chain.walked().len() as f64;
    // SAFETY: as above.
    let found = unsafe { chain.find(&mut walk, state) }.expect("there is memory");
    chain.keep(&mut walk, found, NO_NODE, true);
    let compared = least(CALLS, |_| {
        // SAFETY: as above.
        black_box(unsafe { chain.find(&mut walk, state) });
    });
    (walked / frames, compared / frames)
}

/// An allocation and its free, as the hooks count them.
fn allocate(entry: Entry) -> (f64, f64) {
    const SIZE: usize = 100;
    let (_, heap) = heap::acquire().expect("there is memory");
    // SAFETY: this thread has just acquired it, and nothing else uses it.
    let heap: &mut Heap = unsafe { &mut *heap };
    let mut record = 0;
    let allocated = least(CALLS, |_| {
        // SAFETY: the hook has not returned.
        record = black_box(unsafe { heap.allocate(entry, black_box(SIZE)) });
    });
    let chunk = records::counter(record).and_then(|counter| counter.chunk).expect("a heap's record");
    let header = Header { size: SIZE, record, offset_log2: 4, birth: heap.birth(), flags: 0 };
    let freed = least(CALLS, |_| heap.free(black_box(&raw const record).cast(), black_box(header), chunk));
    (allocated, freed)
}

fn look_up_children() -> (f64, f64) {
    let tree: &mut Tree = zeroed();
    assert!(tree.start(1_000_000), "there is memory");
    let key = |index: u32| FrameKey::code(0, Location::returning_to(0x1000 + 16 * index as usize));
    let single = tree.child(NO_NODE, key(0));
    tree.child(single, key(1));
    let one = least(CALLS, |_| {
        black_box(tree.child(single, black_box(key(1))));
    });
    let parent = tree.child(NO_NODE, key(2));
    (0..16).for_each(|index| {
        tree.child(parent, key(100 + index));
    });
    let many = least(CALLS, |call| {
        black_box(tree.child(parent, black_box(key(100 + call % 16))));
    });
    (one, many)
}

/// Locations in the functions of this program, in turn; the cache of rules is emptied each time.
fn derive_rules() -> f64 {
    const LOCATIONS: usize = 400;
    let workspace = workspace();
    let rules: &mut RuleCache = zeroed();
    rules.start();
    let start = main as *const () as usize;
    let locations: Vec<Location> = (0..4096)
        .map(|index| Location::returning_to(start + 64 * (index * 7919 % 4096)))
        .filter(|location| eh_frame::function_start(*location).is_some())
        .take(LOCATIONS)
        .collect();
    assert_eq!(locations.len(), LOCATIONS, "functions lie after `main`");
    let all = least(20, |_| {
        rules.clear();
        for location in &locations {
            black_box(rules.lookup(workspace, *location));
        }
    });
    all / LOCATIONS as f64
}
