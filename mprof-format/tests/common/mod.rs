//! What the tests share: the profile of the golden file, and files put together by hand.
#![allow(dead_code, reason = "each test file uses its own part of this")]

pub(crate) mod generate;
pub(crate) mod hostile;

use mprof_format::layout::{LITTLE_ENDIAN, MAGIC, POINTER_WIDTH, Tag, VERSION};
use mprof_format::model::*;
use mprof_format::varint::Varint;
use mprof_format::write::Sink;
use mprof_format::{read, write_profile};

/// The golden file of format version 1: [`every_kind`].
pub(crate) const EVERY_KIND_V1: &[u8] = include_bytes!("../files/v1/every-kind.mprof");

/// The golden file of the records of Lisp programs, which came later: [`lisp`].
pub(crate) const LISP_V1: &[u8] = include_bytes!("../files/v1/lisp.mprof");
/// The golden file of the records about the course of time, which came later: [`history`].
pub(crate) const HISTORY_V1: &[u8] = include_bytes!("../files/v1/history.mprof");

/// The golden file of the record of packed counters, which came later: [`history`] again.
pub(crate) const PACKED_V1: &[u8] = include_bytes!("../files/v1/packed.mprof");

/// The golden file of the record about reachability: [`reachability`].
pub(crate) const REACHABILITY_V1: &[u8] = include_bytes!("../files/v1/reachability.mprof");

/// A sink in memory.
#[derive(Debug, Default)]
pub(crate) struct Bytes(pub(crate) Vec<u8>);

impl Sink for Bytes {
    type Error = std::convert::Infallible;

    fn write_all(&mut self, bytes: &[u8]) -> Result<(), Self::Error> {
        self.0.extend_from_slice(bytes);
        Ok(())
    }
}

/// `profile` as a file.
pub(crate) fn written(profile: &Profile) -> Vec<u8> {
    let mut bytes = vec![];
    write_profile(profile, &mut bytes).unwrap();
    bytes
}

/// What an undamaged file holds.
pub(crate) fn read_whole(bytes: &[u8]) -> Profile {
    let loaded = read(bytes).unwrap();
    assert_eq!(loaded.damage, None);
    loaded.profile
}

/// A file header with a fitting checksum.
pub(crate) fn header(version: u16, order: u8, pointer: u8, flags: u32) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend(version.to_le_bytes());
    bytes.extend([order, pointer]);
    bytes.extend(flags.to_le_bytes());
    bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
    bytes
}

/// A record with a fitting checksum.
pub(crate) fn record(tag: u16, flags: u16, payload: &[u8]) -> Vec<u8> {
    let mut bytes = tag.to_le_bytes().to_vec();
    bytes.extend(flags.to_le_bytes());
    bytes.extend((payload.len() as u32).to_le_bytes());
    bytes.extend(payload);
    bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
    bytes
}

/// LEB128 numbers one after the other.
pub(crate) fn numbers(values: &[u64]) -> Vec<u8> {
    values.iter().flat_map(|&value| Varint::new(value).as_bytes().to_vec()).collect()
}

/// A whole file: a process, one module (id 0), one thread (id 0), then `records`, then the end record.
pub(crate) fn file_with(records: &[(Tag, Vec<u8>)]) -> Vec<u8> {
    let mut all = vec![(Tag::Process, vec![0; 10]), (Tag::Modules, vec![0; 7]), (Tag::Threads, vec![0; 5])];
    all.extend_from_slice(records);
    all.push((Tag::End, numbers(&[all.len() as u64])));
    let mut bytes = header(VERSION, LITTLE_ENDIAN, POINTER_WIDTH, 0);
    for (tag, payload) in all {
        bytes.extend(record(tag.number(), tag.flags(), &payload));
    }
    bytes
}

/// Where each record of a good file ends.
pub(crate) fn record_ends(bytes: &[u8]) -> Vec<usize> {
    let mut ends = vec![];
    let mut at = 20;
    while at < bytes.len() {
        at += 12 + u32::from_le_bytes(bytes[at + 4..at + 8].try_into().unwrap()) as usize;
        ends.push(at);
    }
    ends
}

pub(crate) fn code(module: u32, address: u64) -> Frame {
    Frame::Code { module, address, interrupted: false }
}

/// A profile with each kind of record and most kinds of values, the one that `docs/FORMAT.md` walks through.
pub(crate) fn every_kind() -> Profile {
    Profile {
        process: Process {
            pid: 4242,
            parent_pid: 4241,
            program: b"/home/ada/widgets".to_vec(),
            arguments: vec![b"./widgets".to_vec(), b"10000".to_vec()],
            start_unix_ns: 1_700_000_000_000_000_000,
            elapsed_ns: 12_345_678,
            reason: Reason::Exit,
            signal: 0,
            depth_limit: 0,
            reentrant_events: 1,
            unrecorded: 0,
        },
        modules: every_module(),
        threads: vec![
            Thread { name: b"widgets".to_vec(), tid: 4242, count: 1, start: None },
            Thread { name: b"painter".to_vec(), tid: 4250, count: 3, start: Some(code(0, 0x1250)) },
        ],
        contexts: every_context(),
        counters: every_counter(),
        bins: vec![
            Bin { size: Some(16), allocs: 3, frees: 3, bytes: 48, freed_bytes: 48 },
            Bin { size: Some(204), allocs: 10_000, frees: 4981, bytes: 2_040_000, freed_bytes: 1_016_124 },
            Bin { size: None, allocs: 2, frees: 1, bytes: 9000, freed_bytes: 4000 },
        ],
        collected: Collected::default(),
        history: History::default(),
        reachability: None,
        names: Some(every_name()),
        extra: vec![RawRecord { tag: 1000, flags: 0, payload: b"of a later time".to_vec() }],
        incomplete: false,
    }
}

/// A profile in which the kept objects are classified: the contexts and counters of [`every_kind`].
pub(crate) fn reachability() -> Profile {
    let amount = |objects, bytes| Amount { objects, bytes };
    let none = Amount::default();
    let kept = |context, category, classes| Kept { context, category, classes };
    Profile {
        reachability: Some(Reachability {
            unseen_threads: 2,
            kept: vec![
                kept(3, Category::Medium, [amount(1, 204), amount(2, 408), none, amount(5016, 1_023_264)]),
                kept(11, Category::ExtraLarge, [none, none, amount(1, 5000), none]),
            ],
        }),
        names: None,
        extra: vec![],
        ..every_kind()
    }
}

/// A profile with what only Lisp programs have.
pub(crate) fn lisp() -> Profile {
    let context = |parent, frame| Context { parent, frame };
    let function = |name: &[u8], package: &[u8], code| LispFunction {
        name: name.to_vec(),
        package: package.to_vec(),
        code,
    };
    let start = Frame::Code { module: 0, address: 0x10_df70, interrupted: true };
    let counter =
        |category, allocs, bytes| Counter { context: 3, category, allocs, bytes, frees: 0, freed_bytes: 0 };
    let bin = |category, name: &[u8], allocs, bytes| TypeBin { category, name: name.to_vec(), allocs, bytes };
    Profile {
        process: Process { pid: 4242, program: b"/usr/bin/ecl".to_vec(), ..Process::default() },
        modules: vec![Module {
            path: b"/usr/lib/libecl.so".to_vec(),
            length: 0x36_c000,
            ..Module::default()
        }],
        threads: vec![Thread { tid: 4242, count: 1, ..Thread::default() }],
        contexts: vec![
            context(None, Frame::Thread(0)),
            context(Some(0), Frame::Lisp(1)),
            context(Some(1), code(0, 0x10_dff0)),
            context(Some(2), Frame::Lisp(2)),
        ],
        counters: vec![counter(Category::Cons, 1000, 16_000), counter(Category::Structure, 1, 88)],
        collected: Collected {
            functions: vec![
                function(b"MAPCAR", b"COMMON-LISP", Some((start, 256))),
                function(b"(SETF AGE)", b"CL-USER", None),
                function(b"", b"", None),
            ],
            bins: vec![
                bin(Category::Cons, b"cons", 1000, 16_000),
                bin(Category::Structure, b"string", 1, 88),
            ],
        },
        ..Profile::default()
    }
}

/// A profile with all there is about the course of time: the contexts and counters of [`every_kind`].
pub(crate) fn history() -> Profile {
    let live = |context, category, objects, bytes| Live { context, category, objects, bytes };
    let point = |ns, live_bytes, live_objects, most_bytes, bytes, objects| Point {
        ns,
        live_bytes,
        live_objects,
        most_bytes,
        bytes,
        objects,
    };
    Profile {
        history: History {
            peak: Some(Peak {
                totals: PeakTotals {
                    bytes: 1_033_284,
                    objects: 5023,
                    number: 10_005,
                    ns: 12_000_000,
                    uncertainty: 131_072,
                    incomplete: false,
                },
                live: vec![
                    live(3, Category::Medium, 5019, 1_023_876),
                    live(5, Category::Medium, 2, 408),
                    live(11, Category::ExtraLarge, 2, 9000),
                ],
            }),
            curve: vec![
                point(0, 0, 0, 0, 0, 0),
                point(5_000_000, 510_000, 2500, 512_040, 1_020_000, 5000),
                point(12_345_678, 1_028_876, 5020, 1_033_284, 2_049_048, 10_005),
            ],
            snapshots: every_snapshot(),
            lifetimes: every_lifetime(),
            ages: vec![Ages {
                context: 5,
                category: Category::Medium,
                classes: at([(0, 3990), (1, 10)]),
                ages: 10,
            }],
            growth: vec![Growth {
                context: 11,
                category: Category::ExtraLarge,
                reallocations: 12,
                first: 1,
                moved: 5,
                copied_bytes: 30_000,
                smallest: 16,
                largest: 5000,
            }],
            rounding: vec![
                Rounding { size: Some(204), bytes: 120_000 },
                Rounding { size: None, bytes: 4096 },
            ],
        },
        names: None,
        extra: vec![],
        ..every_kind()
    }
}

fn every_snapshot() -> Vec<Snapshot> {
    let change = |context, category, objects, bytes| Change { context, category, objects, bytes };
    let totals = |ns, live_bytes, live_objects, bytes, objects| SnapshotTotals {
        ns,
        live_bytes,
        live_objects,
        bytes,
        objects,
    };
    vec![
        Snapshot {
            totals: totals(5_000_000, 510_408, 2502, 1_020_000, 5000),
            changes: vec![change(3, Category::Medium, 2500, 510_000), change(5, Category::Medium, 2, 408)],
        },
        Snapshot {
            totals: totals(12_000_000, 1_028_876, 5020, 2_049_048, 10_005),
            changes: vec![
                change(3, Category::Medium, 2519, 513_876),
                change(5, Category::Medium, -2, -408),
                change(11, Category::ExtraLarge, 1, 5000),
            ],
        },
    ]
}

fn every_lifetime() -> Vec<Lifetime> {
    let lifetime = |context, category, classes, temporary, ages, young_bytes| Lifetime {
        context,
        category,
        classes,
        temporary,
        ages,
        young_bytes,
    };
    vec![
        lifetime(5, Category::Medium, at([(0, 4000)]), 4000, 0, 816_000),
        lifetime(8, Category::Small, at([(0, 1), (1, 1), (10, 1)]), 0, 601, 16),
        lifetime(8, Category::Medium, at([(0, 900), (1, 81)]), 7, 81, 183_600),
        lifetime(11, Category::ExtraLarge, at([(11, 1)]), 0, 1998, 0),
    ]
}

/// Counts of classes, given those that are not 0.
fn at<const N: usize, const M: usize>(counts: [(usize, u64); M]) -> [u64; N] {
    let mut classes = [0; N];
    for (class, count) in counts {
        classes[class] = count;
    }
    classes
}

fn every_module() -> Vec<Module> {
    vec![
        Module {
            kind: ModuleKind::File,
            path: b"/home/ada/widgets".to_vec(),
            build_id: vec![0xab, 0xcd, 0xef, 0x01],
            bias: 0x5555_5555_4000,
            start: 0x5555_5555_4000,
            length: 0x5000,
        },
        Module {
            kind: ModuleKind::Vdso,
            path: b"linux-vdso.so.1".to_vec(),
            build_id: vec![],
            bias: 0x7fff_f7fc_1000,
            start: 0x7fff_f7fc_1000,
            length: 0x1000,
        },
    ]
}

fn every_context() -> Vec<Context> {
    let context = |parent, frame| Context { parent, frame };
    vec![
        context(None, Frame::Thread(0)),
        context(Some(0), code(0, 0x11d3)),
        context(Some(1), code(0, 0x1170)),
        context(Some(2), code(0, 0x1140)),
        context(Some(1), code(0, 0x119c)),
        context(Some(4), code(0, 0x1140)),
        context(None, Frame::Thread(1)),
        context(Some(6), code(0, 0x1170)),
        context(Some(7), code(0, 0x1140)),
        context(None, Frame::Special(Special::Unknown)),
        context(Some(9), Frame::Anonymous { address: 0x7fff_e000_0040, interrupted: false }),
        context(Some(10), Frame::Code { module: 1, address: 0x9a0, interrupted: true }),
    ]
}

fn every_counter() -> Vec<Counter> {
    let counter = |context, category, [allocs, bytes, frees, freed_bytes]: [u64; 4]| Counter {
        context,
        category,
        allocs,
        bytes,
        frees,
        freed_bytes,
    };
    vec![
        counter(3, Category::Medium, [5019, 1_023_876, 0, 0]),
        counter(5, Category::Medium, [4000, 816_000, 4000, 816_000]),
        counter(8, Category::Small, [3, 48, 3, 48]),
        counter(8, Category::Medium, [981, 200_124, 981, 200_124]),
        counter(11, Category::ExtraLarge, [2, 9000, 1, 4000]),
    ]
}

fn every_name() -> Names {
    let function = |name: &[u8], line| Function {
        name: name.to_vec(),
        linkage_name: vec![],
        module: Some(0),
        file: Some(0),
        line,
    };
    let frame = |function, file, line, offset| SourceFrame { function, file, line, offset };
    let vdso = Function {
        name: b"clock".to_vec(),
        linkage_name: b"__vdso_clock".to_vec(),
        module: None,
        file: None,
        line: 0,
    };
    let site = |frames: &[SourceFrame]| Site { frames: frames.to_vec() };
    Names {
        files: vec![b"/home/ada/widgets.c".to_vec(), b"/home/ada/widgets.h".to_vec()],
        functions: vec![function(b"make_widget", 15), function(b"main", 40), vdso],
        sites: [
            (code(0, 0x1140), site(&[frame(0, Some(0), 17, 26)])),
            (code(0, 0x11d3), site(&[frame(0, Some(1), 9, 131), frame(1, Some(0), 47, 131)])),
            (
                Frame::Anonymous { address: 0x7fff_e000_0040, interrupted: false },
                site(&[frame(2, None, 0, 64)]),
            ),
        ]
        .into(),
        types: vec![
            Type { size: 16, system: true, name: b"timespec".to_vec(), module: 0 },
            Type { size: 204, system: false, name: b"widget".to_vec(), module: 0 },
        ],
    }
}
