//! What is written is what is read.
#![cfg(feature = "std")]

mod common;

use common::generate::profile;
use common::{Bytes, code, every_kind, read_whole, record_ends, written};
use mprof_format::layout::{FILE_INCOMPLETE, Tag};
use mprof_format::model::*;
use mprof_format::read;
use mprof_format::write::{
    BEFORE_RECORD, Entry, FunctionRef, LispFunctionRef, MIN_BUFFER, ModuleRef, ProcessRef, Sink, ThreadRef,
    TypeRef, WriteError, Writer,
};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_profile_comes_back(numbers in prop::collection::vec(any::<u64>(), 0..1500)) {
        let profile = profile(&numbers);
        prop_assert_eq!(&read_whole(&written(&profile)), &profile);
    }
}

/// A writer after header and process.
fn writer(buffer: &mut [u8]) -> Writer<'_, Bytes> {
    let mut writer = Writer::new(Bytes::default(), buffer);
    writer.header(0).unwrap();
    writer.process(&ProcessRef { pid: 42, program: b"/bin/widgets", ..ProcessRef::default() }).unwrap();
    writer
}

#[test]
fn an_empty_profile_comes_back() {
    let names = Some(Names::default());
    for profile in [Profile::default(), Profile { names, ..Profile::default() }] {
        assert_eq!(read_whole(&written(&profile)), profile);
    }
}

#[test]
fn the_smallest_buffer_gives_the_same_profile_in_more_records() {
    let mut buffer = [0; MIN_BUFFER];
    let mut small = writer(&mut buffer);
    for argument in [&b"widgets"[..], b"-n", b"10"] {
        small.argument(argument).unwrap();
    }
    for module in 0..1000 {
        let path = format!("/lib/lib{module}.so");
        let path = path.as_bytes();
        assert_eq!(small.module(&ModuleRef { path, ..ModuleRef::default() }), Ok(module));
    }
    assert_eq!(small.thread(&ThreadRef { name: b"main", count: 1, ..ThreadRef::default() }), Ok(0));
    assert_eq!(small.context(None, Frame::Thread(0)), Ok(0));
    for id in 1..20_000 {
        assert_eq!(small.context(Some(id / 2), code(id % 100, (id / 7).into())), Ok(id));
    }
    let counter = |context| Counter {
        context,
        category: Category::of_size(context.into()),
        allocs: 1,
        bytes: context.into(),
        frees: 0,
        freed_bytes: 0,
    };
    for context in (0..20_000).rev() {
        small.counter(&counter(context)).unwrap();
    }
    for size in 0..=LAST_BIN {
        small.bin(&Bin { size: Some(size), allocs: 1, bytes: size, ..Bin::default() }).unwrap();
    }
    let bytes = small.finish().unwrap().0;
    assert!(record_ends(&bytes).len() > 20);

    let profile = read_whole(&bytes);
    assert_eq!(profile.process.arguments, [&b"widgets"[..], b"-n", b"10"]);
    assert_eq!(profile.modules.len(), 1000);
    assert_eq!(profile.modules[99].path, b"/lib/lib99.so");
    assert_eq!(profile.contexts.len(), 20_000);
    for (id, context) in (0..).zip(&profile.contexts).skip(1) {
        assert_eq!(*context, Context { parent: Some(id / 2), frame: code(id % 100, (id / 7).into()) });
    }
    assert_eq!(profile.counters, (0..20_000).map(counter).collect::<Vec<_>>());
    assert_eq!(profile.bins.len(), 1025);
    assert_eq!(profile.bins[1024], Bin { size: Some(1024), allocs: 1, bytes: 1024, ..Bin::default() });
    assert_eq!(read_whole(&written(&profile)), profile);
}

#[test]
fn counters_of_one_context_and_category_are_summed_without_wrapping() {
    let mut buffer = [0; MIN_BUFFER];
    let mut out = writer(&mut buffer);
    out.thread(&ThreadRef::default()).unwrap();
    for _ in 0..2 {
        out.context(None, Frame::Thread(0)).unwrap();
    }
    let counter = |context, category, allocs, frees| Counter {
        context,
        category,
        allocs,
        bytes: allocs,
        frees,
        freed_bytes: frees,
    };
    let written = [
        counter(1, Category::Small, 5, 2),
        counter(0, Category::Large, 1, 1),
        counter(1, Category::Small, 7, 4),
        counter(0, Category::Small, u64::MAX, 1),
        counter(0, Category::Small, 2, u64::MAX),
    ];
    for counter in &written {
        out.counter(counter).unwrap();
    }
    let summed = [
        counter(0, Category::Small, u64::MAX, u64::MAX),
        counter(0, Category::Large, 1, 1),
        counter(1, Category::Small, 12, 6),
    ];
    assert_eq!(read_whole(&out.finish().unwrap().0).counters, summed);
}

#[test]
fn what_is_told_twice_of_a_context_is_summed() {
    let mut buffer = [0; MIN_BUFFER];
    let mut out = writer(&mut buffer);
    out.thread(&ThreadRef::default()).unwrap();
    for _ in 0..2 {
        out.context(None, Frame::Thread(0)).unwrap();
    }
    let category = Category::Small;
    out.peak(&PeakTotals::default()).unwrap();
    for (context, objects) in [(1, 2), (0, 7), (1, 3), (0, u64::MAX)] {
        let live = Live { context, category, objects, bytes: 8 * (objects % 8) };
        out.entry(&Entry { live: Some(&live), ..Entry::default() }).unwrap();
    }
    let mut classes = [0; LIFETIME_CLASSES];
    classes[0] = 1;
    for (context, temporary) in [(1, 1), (0, 0), (1, 0)] {
        let (ages, young_bytes) = (0, 16);
        let lifetime = Lifetime { context, category, classes, temporary, ages, young_bytes };
        out.entry(&Entry { lifetime: Some(&lifetime), ..Entry::default() }).unwrap();
    }
    let growth = |smallest, largest| Growth {
        context: 0,
        category,
        reallocations: 2,
        first: 1,
        moved: 1,
        copied_bytes: 10,
        smallest,
        largest,
    };
    out.growth(&growth(8, 100)).unwrap();
    out.growth(&growth(16, 200)).unwrap();
    let history = read_whole(&out.finish().unwrap().0).history;
    let live = |context, objects, bytes| Live { context, category, objects, bytes };
    assert_eq!(history.peak.unwrap().live, [live(0, u64::MAX, 112), live(1, 5, 40)]);
    let sums =
        history.lifetimes.iter().map(|sum| (sum.context, sum.classes[0], sum.temporary, sum.young_bytes));
    assert!(sums.eq([(0, 1, 0, 16), (1, 2, 1, 32)]));
    let [growth] = history.growth[..] else { panic!("{:?}", history.growth) };
    assert_eq!((growth.reallocations, growth.smallest, growth.largest), (4, 8, 200));
}

#[test]
fn over_long_strings_are_cut_by_the_writer_but_not_by_write_profile() {
    let long = vec![b'x'; 1 << 20];
    let mut buffer = [0; MIN_BUFFER];
    let mut out = Writer::new(Bytes::default(), &mut buffer);
    out.header(0).unwrap();
    out.process(&ProcessRef { program: &long, ..ProcessRef::default() }).unwrap();
    out.argument(&long).unwrap();
    out.module(&ModuleRef { path: &long, build_id: &long, ..ModuleRef::default() }).unwrap();
    out.thread(&ThreadRef { name: &long, ..ThreadRef::default() }).unwrap();
    out.names().unwrap();
    out.file(&long).unwrap();
    out.function(&FunctionRef { name: &long, linkage_name: &long, ..FunctionRef::default() }).unwrap();
    out.user_type(&TypeRef { name: &long, ..TypeRef::default() }).unwrap();
    let profile = read_whole(&out.finish().unwrap().0);
    let cut = vec![b'x'; 4471];
    assert_eq!(profile.process.program, cut);
    assert_eq!(profile.process.arguments, std::slice::from_ref(&cut));
    assert_eq!(profile.modules[0].path, cut);
    assert_eq!(profile.modules[0].build_id, cut);
    assert_eq!(profile.threads[0].name, cut);
    let names = profile.names.unwrap();
    assert_eq!(names.files[0], cut);
    assert_eq!(names.functions[0].linkage_name, cut);
    assert_eq!(names.types[0].name, cut);

    let mut profile = every_kind();
    profile.process.arguments.push(long.clone());
    profile.names.as_mut().unwrap().functions[0].linkage_name = long;
    assert_eq!(read_whole(&written(&profile)), profile);
}

#[test]
fn a_site_with_more_inlined_functions_than_a_record_holds_is_written_whole_by_write_profile() {
    let mut profile = every_kind();
    let frames = vec![SourceFrame { function: 1, file: Some(1), line: u32::MAX, offset: u64::MAX }; 100_000];
    profile.names.as_mut().unwrap().sites.insert(code(1, 7), Site { frames });
    assert_eq!(read_whole(&written(&profile)), profile);
}

#[test]
fn what_breaks_a_rule_is_left_out_and_the_writer_goes_on() {
    let mut buffer = [0; MIN_BUFFER];
    let mut out = writer(&mut buffer);
    let invalid = |result: Result<(), WriteError<std::convert::Infallible>>| {
        assert!(matches!(result, Err(WriteError::Invalid(_))), "{result:?}");
    };
    invalid(out.context(None, Frame::Thread(0)).map(drop));
    out.thread(&ThreadRef::default()).unwrap();
    out.context(None, Frame::Thread(0)).unwrap();
    invalid(out.context(Some(0), code(0, 1)).map(drop));
    invalid(out.context(Some(1), Frame::Special(Special::Unknown)).map(drop));
    invalid(out.context(Some(u32::MAX), Frame::Special(Special::Unknown)).map(drop));
    invalid(out.context(Some(0), Frame::Thread(0)).map(drop));
    invalid(out.context(None, Frame::Anonymous { address: 1, interrupted: false }).map(drop));
    invalid(out.thread(&ThreadRef { start: Some(code(0, 1)), ..ThreadRef::default() }).map(drop));
    invalid(out.context(Some(0), Frame::Lisp(0)).map(drop));
    let start = Some((Frame::Code { module: 7, address: 0, interrupted: true }, 1));
    invalid(out.lisp_function(&LispFunctionRef { code: start, ..LispFunctionRef::default() }).map(drop));
    invalid(out.thread(&ThreadRef { start: Some(Frame::Thread(0)), ..ThreadRef::default() }).map(drop));
    let [allocs, bytes, frees, freed_bytes] = [1; 4];
    invalid(out.counter(&Counter {
        context: 1,
        category: Category::Small,
        allocs,
        bytes,
        frees,
        freed_bytes,
    }));
    out.bin(&Bin { size: Some(8), ..Bin::default() }).unwrap();
    invalid(out.bin(&Bin { size: Some(8), ..Bin::default() }));
    invalid(out.bin(&Bin { size: Some(LAST_BIN + 1), ..Bin::default() }));
    out.bin(&Bin { size: None, ..Bin::default() }).unwrap();
    invalid(out.bin(&Bin { size: None, ..Bin::default() }));
    let category = Category::Small;
    invalid(out.entry(&Entry::default()));
    let live = Live { context: 0, category, objects: 1, bytes: 1 };
    invalid(out.entry(&Entry { live: Some(&live), ..Entry::default() }));
    out.peak(&PeakTotals::default()).unwrap();
    invalid(out.peak(&PeakTotals::default()));
    invalid(out.entry(&Entry { live: Some(&Live { context: 1, ..live }), ..Entry::default() }));
    let other = Counter { context: 0, category: Category::Large, allocs, bytes, frees, freed_bytes };
    invalid(out.entry(&Entry { counter: Some(&other), live: Some(&live), lifetime: None }));
    out.point(&Point { ns: 7, ..Point::default() }).unwrap();
    invalid(out.point(&Point { ns: 6, bytes: 1, ..Point::default() }));
    invalid(out.change(0, &Change { context: 0, category, objects: 1, bytes: 1 }));
    assert_eq!(out.snapshot(&SnapshotTotals::default()), Ok(0));
    assert_eq!(out.snapshot(&SnapshotTotals::default()), Ok(1));
    out.change(1, &Change { context: 0, category, objects: 1, bytes: 1 }).unwrap();
    invalid(out.change(0, &Change { context: 0, category, objects: 1, bytes: 1 }));
    invalid(out.ages(&Ages { context: 1, category, classes: [0; AGE_CLASSES], ages: 0 }));
    out.rounding(&Rounding { size: None, bytes: 1 }).unwrap();
    invalid(out.rounding(&Rounding { size: Some(8), bytes: 1 }));
    invalid(out.function(&FunctionRef { file: Some(0), ..FunctionRef::default() }).map(drop));
    invalid(out.function(&FunctionRef { module: Some(0), ..FunctionRef::default() }).map(drop));
    out.function(&FunctionRef::default()).unwrap();
    let anonymous = Frame::Anonymous { address: 1, interrupted: true };
    let frame = SourceFrame::default();
    invalid(out.site(anonymous, &[]));
    invalid(out.site(Frame::Thread(0), &[frame]));
    invalid(out.site(anonymous, &[frame, SourceFrame { function: 1, ..frame }]));
    invalid(out.site(anonymous, &[frame, SourceFrame { file: Some(0), ..frame }]));
    assert_eq!(out.site(anonymous, &[frame; 1000]), Err(WriteError::TooLarge));
    invalid(out.user_type(&TypeRef::default()));
    invalid(out.raw(Tag::Bins.number(), 0, b""));

    let profile = read_whole(&out.finish().unwrap().0);
    assert_eq!(profile.contexts, [Context { parent: None, frame: Frame::Thread(0) }]);
    assert_eq!((profile.threads.len(), profile.counters.len(), profile.bins.len()), (1, 0, 2));
    assert_eq!((profile.history.curve.len(), profile.history.snapshots[1].changes.len()), (1, 1));
    assert_eq!(profile.names.unwrap(), Names { functions: vec![Function::default()], ..Names::default() });
}

#[test]
fn a_profile_that_breaks_a_rule_is_refused_by_write_profile() {
    let mut profile = every_kind();
    profile.counters[0].context = 12;
    let error = mprof_format::write_profile(&profile, &mut vec![]).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput);
    assert_eq!(error.to_string(), "not a valid profile: what is told of a context comes after it");
}

#[test]
fn too_small_a_buffer_is_an_error() {
    for length in (0..MIN_BUFFER).step_by(101).chain(BEFORE_RECORD - 10..BEFORE_RECORD + 300) {
        let mut buffer = vec![0; length];
        let mut out = Writer::new(Bytes::default(), &mut buffer);
        out.header(0).unwrap();
        let result = out.process(&ProcessRef { program: b"/bin/widgets", ..ProcessRef::default() });
        assert!(
            matches!(result, Err(WriteError::TooLarge)) || length > BEFORE_RECORD + 100,
            "{length}: {result:?}"
        );
        out.context(None, Frame::Special(Special::Unknown)).ok();
        let counter =
            Counter { context: 0, category: Category::Small, allocs: 1, bytes: 1, frees: 0, freed_bytes: 0 };
        assert!(out.counter(&counter).is_err(), "{length}");
    }
}

#[test]
fn a_writer_is_small_enough_for_the_stack_of_any_thread() {
    assert!(size_of::<Writer<'_, Bytes>>() <= 850, "{} bytes", size_of::<Writer<'_, Bytes>>());
}

#[test]
fn the_sink_s_error_comes_through() {
    struct Full(usize);
    impl Sink for Full {
        type Error = &'static str;
        fn write_all(&mut self, bytes: &[u8]) -> Result<(), &'static str> {
            self.0 = self.0.checked_sub(bytes.len()).ok_or("no space left")?;
            Ok(())
        }
    }
    let mut buffer = [0; MIN_BUFFER];
    let mut out = Writer::new(Full(100), &mut buffer);
    out.header(0).unwrap();
    out.process(&ProcessRef::default()).unwrap();
    out.argument(&[b'x'; 180]).unwrap();
    assert_eq!(out.flush(), Err(WriteError::Sink("no space left")));
}

#[test]
fn a_profile_made_from_an_incomplete_one_says_so() {
    let bytes = written(&every_kind());
    let loaded = read(&bytes[..bytes.len() - 1]).unwrap();
    assert!(loaded.profile.incomplete);
    let again = written(&loaded.profile);
    assert_eq!(again[12..16], FILE_INCOMPLETE.to_le_bytes());
    assert_eq!(read_whole(&again), loaded.profile);
}
