//! What is written is what is read.

use mprof_format::kinds::{Bin, Category, Counter, Frame, Special};
use mprof_format::layout::MAGIC;
use mprof_format::model::{Context, Module, Process, Profile, Thread};
use mprof_format::write::{MIN_BUFFER, ModuleRef, ProcessRef, Sink, ThreadRef, Writer};
use mprof_format::{read, write_profile};

/// A sink in memory.
#[derive(Default)]
struct Bytes(Vec<u8>);

impl Sink for Bytes {
    type Error = std::convert::Infallible;
    fn write_all(&mut self, bytes: &[u8]) -> Result<(), Self::Error> {
        self.0.extend_from_slice(bytes);
        Ok(())
    }
}

#[test]
fn the_writer_s_calls_give_the_reader_s_profile() {
    let mut buffer = [0; MIN_BUFFER];
    let mut writer = Writer::new(Bytes::default(), &mut buffer);
    writer.header(0).unwrap();
    writer.process(&ProcessRef { pid: 42, program: b"/bin/widgets", ..ProcessRef::default() }).unwrap();
    writer.argument(b"widgets").unwrap();
    writer.argument(b"-n").unwrap();
    writer.module(&ModuleRef { path: b"/bin/widgets", bias: 0x5555_0000, ..ModuleRef::default() }).unwrap();
    writer.thread(&ThreadRef { name: b"main", tid: 42, count: 1, start: None }).unwrap();
    let root = writer.context(None, Frame::Thread(0)).unwrap();
    let code = Frame::Code { module: 0, address: 0x1234, interrupted: false };
    let main = writer.context(Some(root), code).unwrap();
    let counter = Counter {
        context: main,
        category: Category::Medium,
        allocs: 10_000,
        bytes: 2_040_000,
        frees: 4981,
        freed_bytes: 1_016_124,
    };
    writer.counter(&counter).unwrap();
    let bin = Bin { size: Some(204), allocs: 10_000, frees: 4981, bytes: 2_040_000, freed_bytes: 1_016_124 };
    writer.bin(&bin).unwrap();
    let bytes = writer.finish().unwrap().0;

    let loaded = read(&bytes).unwrap();
    assert_eq!(loaded.damage, None);
    let expected = Profile {
        process: Process {
            pid: 42,
            program: b"/bin/widgets".to_vec(),
            arguments: vec![b"widgets".to_vec(), b"-n".to_vec()],
            ..Process::default()
        },
        modules: vec![Module { path: b"/bin/widgets".to_vec(), bias: 0x5555_0000, ..Module::default() }],
        threads: vec![Thread { name: b"main".to_vec(), tid: 42, count: 1, start: None }],
        contexts: vec![
            Context { parent: None, frame: Frame::Thread(0) },
            Context { parent: Some(0), frame: code },
        ],
        counters: vec![counter],
        bins: vec![bin],
        ..Profile::default()
    };
    assert_eq!(loaded.profile, expected);

    let mut again = vec![];
    write_profile(&expected, &mut again).unwrap();
    assert_eq!(read(&again).unwrap().profile, expected);
    assert!(again.starts_with(&MAGIC));
    let _ = Special::Unknown;
}
