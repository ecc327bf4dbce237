//! The heap in the course of time: tables against golden files.

use crate::builder::ProfileBuilder;
use crate::golden::check_drawn;
use mpdisplay::analysis::curve::Clock;
use mpdisplay::analysis::part::Part;
use mpdisplay::analysis::share::Detail;
use mpdisplay::report::options::{Options, Tables};
use mpdisplay::report::view::View;
use mpdisplay::report::{write_comparison, write_report};
use mprof_format::model::{
    Ages, Category, Change, Growth, LIFETIME_CLASSES, Lifetime, Live, Peak, PeakTotals, Point, Profile,
    Rounding, Snapshot, SnapshotTotals,
};
use std::slice::from_ref;

const NO_TABLES: Tables = Tables {
    leaks: false,
    bins: false,
    direct: false,
    graph: false,
    peak: false,
    timeline: false,
    lifetime: false,
    growth: false,
};

/// A server that reads requests into buffers that grow, answers them, and keeps a cache. Its contexts: 0 is the thread's,
/// 1 main, 2 serve, 3 read, 4 answer, 5 load.
pub(crate) fn server() -> Profile {
    let mut profile = ProfileBuilder::new("server")
        .allocate("main > serve > read", 4000, 100, 100)
        .allocate("main > serve > answer", 24, 5000, 5000)
        .allocate("main > load", 300, 1000, 400)
        .build();
    let live = |context, category, objects, bytes| Live { context, category, objects, bytes };
    profile.history.peak = Some(Peak {
        totals: PeakTotals {
            bytes: 306_024,
            objects: 1002,
            number: 4100,
            ns: 1_250_000_000,
            uncertainty: 0,
            incomplete: false,
        },
        live: vec![
            live(3, Category::ExtraLarge, 1, 6000),
            live(4, Category::Small, 1, 24),
            live(5, Category::Large, 1000, 300_000),
        ],
    });
    profile.history.curve = (0..=400u64).map(point).collect();
    let lifetime = |context, category, classes: &[(usize, u64)], ages| {
        let mut lifetime = Lifetime {
            context,
            category,
            classes: [0; LIFETIME_CLASSES],
            temporary: 0,
            ages,
            young_bytes: 0,
        };
        classes.iter().for_each(|&(class, count)| lifetime.classes[class] = count);
        lifetime
    };
    profile.history.lifetimes = vec![
        lifetime(3, Category::ExtraLarge, &[(3, 90), (4, 10)], 600),
        Lifetime {
            temporary: 4800,
            young_bytes: 4950 * 24,
            ..lifetime(4, Category::Small, &[(0, 4950), (1, 50)], 50)
        },
        lifetime(5, Category::Large, &[(8, 400)], 400 * 200),
    ];
    profile.history.growth = vec![Growth {
        context: 3,
        category: Category::ExtraLarge,
        reallocations: 90,
        first: 30,
        moved: 12,
        copied_bytes: 40_000,
        smallest: 1000,
        largest: 6000,
    }];
    profile
}

/// The cache is filled in the first second, emptied in part in the last half.
fn point(tick: u64) -> Point {
    let loaded = tick.min(200) * 5 - tick.saturating_sub(300) * 4;
    let (live_bytes, live_objects) = (loaded * 300, loaded);
    Point {
        ns: tick * 5_000_000,
        live_bytes,
        live_objects,
        most_bytes: live_bytes + if tick.is_multiple_of(25) { 6024 } else { 0 },
        bytes: tick.min(200) * 1500 + tick * 1300,
        objects: tick.min(200) * 5 + tick * 12,
    }
}

fn check(report: &str, profiles: &[Profile], options: Options) {
    check_drawn("when", report, |drawn| write_report(profiles, &options, drawn));
}

#[test]
fn the_peak_is_in_the_header_and_has_a_table() {
    let tables = Tables { peak: true, ..NO_TABLES };
    check("peak", &[server()], Options { tables, ..Options::default() });
}

#[test]
fn all_tables_can_be_of_the_peak() {
    check("at-peak", &[server()], Options { at_peak: true, ..Options::default() });
}

#[test]
fn peaks_of_several_processes_are_not_at_once() {
    let tables = Tables { peak: true, ..NO_TABLES };
    let mut other = server();
    other.process.pid = 4712;
    check("two-peaks", &[server(), other], Options { tables, ..Options::default() });
}

#[test]
fn peaks_are_compared() {
    let mut before = server();
    let peak = before.history.peak.as_mut().expect("there is one");
    peak.live[2].objects = 900;
    peak.live[2].bytes = 270_000;
    (peak.totals.objects, peak.totals.bytes) = (902, 276_024);
    let after = server();
    let options = Options { tables: Tables { peak: true, ..NO_TABLES }, ..Options::default() };
    let states = [[Part::whole(&before)], [Part::whole(&after)]];
    let states = [states[0].as_slice(), states[1].as_slice()];
    let view = View::comparing(states, &options);
    check_drawn("when", "compared", |drawn| write_comparison(states, &view, &options, drawn));
}

#[test]
fn the_timeline_fits_80_by_20() {
    for (report, clock) in [
        ("timeline", Clock::Time),
        ("timeline-bytes", Clock::Bytes),
        ("timeline-allocations", Clock::Allocations),
    ] {
        let tables = Tables { timeline: true, ..NO_TABLES };
        let options = Options { tables, clock, ..Options::default() };
        let mut drawn = Vec::new();
        write_report(&[server()], &options, &mut drawn).expect("a vector takes everything");
        let text = String::from_utf8(drawn).expect("reports are text");
        let chart: Vec<&str> = text.lines().skip_while(|line| *line != "Heap over time").collect();
        assert!(chart.len() <= 20, "{} lines", chart.len());
        assert!(chart.iter().all(|line| line.chars().count() <= 80));
        check(report, &[server()], options);
    }
}

#[test]
fn lifetimes_by_path() {
    let tables = Tables { lifetime: true, ..NO_TABLES };
    check("lifetime", &[server()], Options { tables, ..Options::default() });
    let mut profile = server();
    let peak = profile.history.peak.as_mut().expect("there is one");
    peak.totals.uncertainty = 3 * 2 * 65_536;
    let mut classes = [0; 33];
    (classes[0], classes[1]) = (4800, 200);
    profile.history.ages = vec![Ages { context: 4, category: Category::Small, classes, ages: 200 }];
    let options = Options { tables, detail: Detail::Verbose, ..Options::default() };
    check("lifetime-verbose", from_ref(&profile), options);
}

#[test]
fn ages_that_wrap_are_told() {
    let mut profile = server();
    profile.counters[0].bytes = 20 << 30;
    let options = Options { tables: Tables { lifetime: true, ..NO_TABLES }, ..Options::default() };
    let mut drawn = Vec::new();
    write_report(&[profile], &options, &mut drawn).expect("a vector takes everything");
    let text = String::from_utf8_lossy(&drawn);
    assert!(text.contains("ages are modulo 16 GiB"), "{text}");
}

#[test]
fn growth_by_path() {
    let tables = Tables { growth: true, ..NO_TABLES };
    check("growth", &[server()], Options { tables, ..Options::default() });
}

#[test]
fn what_the_allocator_adds_is_a_column_of_the_bins() {
    let mut profile = server();
    profile.history.rounding =
        vec![Rounding { size: Some(300), bytes: 12_000 }, Rounding { size: None, bytes: 800 }];
    let tables = Tables { bins: true, ..NO_TABLES };
    check("added", &[profile], Options { tables, ..Options::default() });
}

#[test]
fn what_was_not_recorded_is_said() {
    let tables = Tables { peak: true, timeline: true, lifetime: true, growth: true, ..NO_TABLES };
    let profile = ProfileBuilder::new("old").allocate("main", 10, 1, 0).build();
    check("nothing", &[profile], Options { tables, ..Options::default() });
}

/// A profile with two snapshots.
pub(crate) fn with_snapshots() -> Profile {
    let mut profile = server();
    let change = |context, category, objects, bytes| Change { context, category, objects, bytes };
    let snapshot = |tick, changes: Vec<Change>| {
        let Point { ns, live_bytes, live_objects, bytes, objects, .. } = point(tick);
        let totals = SnapshotTotals { ns, live_bytes, live_objects, bytes, objects };
        Snapshot { totals, changes }
    };
    profile.history.snapshots = vec![
        snapshot(100, vec![change(5, Category::Large, 500, 150_000)]),
        snapshot(350, vec![change(4, Category::Small, 2, 48), change(5, Category::Large, 300, 90_000)]),
    ];
    profile
}
