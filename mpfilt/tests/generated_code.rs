//! Code that the program generated while it ran.

mod support;

use std::fs;
use std::time::{Duration, SystemTime};

use mprof_format::model::Frame;
use support::{Recording, Workshop, text};

const JITTED: Frame = Frame::Anonymous { address: 0x7f00_0000_1010, interrupted: false };

fn recording(workshop: &Workshop) -> Recording {
    let mut recording = Recording::of(&workshop.file("none"));
    recording.options.perf_map_directory = workshop.path();
    recording.add(JITTED);
    recording
}

#[test]
fn the_map_of_the_process_names_it() {
    let workshop = Workshop::new();
    workshop
        .write("perf-4242.map", "7f0000001000 40 LazyCompile:~stock /srv/shop.js:7\n7f0000002000 40 other\n");
    let mut recording = recording(&workshop);
    assert_eq!(text(&recording.name()), [""; 0]);
    assert_eq!(recording.function_names(JITTED), ["LazyCompile:~stock /srv/shop.js:7"]);
    let frame = recording.frames(JITTED)[0];
    assert_eq!((frame.offset, frame.file, frame.line), (0x10, None, 0));
    assert_eq!(recording.names().functions[frame.function as usize].module, None);
}

#[test]
fn without_a_map_it_stays_without_a_name() {
    let workshop = Workshop::new();
    let mut recording = recording(&workshop);
    let path = workshop.file("perf-4242.map").display().to_string();
    assert_eq!(
        text(&recording.name()),
        [format!(
            "generated code: 1 addresses have no name; let the program write {path} (node --perf-basic-prof, java \
             -XX:+DumpPerfMapAtExit, PYTHONPERFSUPPORT=1)"
        )]
    );
    assert_eq!(recording.frames(JITTED), []);
}

#[test]
fn a_map_from_before_the_process_is_anothers() {
    let workshop = Workshop::new();
    let path = workshop.write("perf-4242.map", "7f0000001000 40 old\n");
    let yesterday = SystemTime::now() - Duration::from_secs(86400);
    fs::File::options()
        .write(true)
        .open(path)
        .and_then(|file| file.set_modified(yesterday))
        .expect("modified");
    let mut recording = recording(&workshop);
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("after 1970");
    recording.profile.process.start_unix_ns = now.as_nanos() as u64;
    assert_eq!(recording.name().len(), 1);
    assert_eq!(recording.frames(JITTED), []);
}

#[test]
fn a_pipe_in_its_place_is_not_waited_for() {
    let workshop = Workshop::new();
    workshop.run("mkfifo perf-4242.map");
    let mut recording = recording(&workshop);
    assert_eq!(recording.name().len(), 1);
}
