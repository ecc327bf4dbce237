//! What a program, its environment or a signal asks of the monitor while it runs.

use std::process::Command;

use c_tests::{Facts, Program, Status, Tools, freed, kept, totals, with_default_signals};
use mprof_format::model::Reason;

/// `api.c`, one build.
fn api(way: &str) -> Program {
    Program::c("api").flags("-O2 -pthread").args(&[way]).uncounted()
}

#[test]
fn stop() {
    api("stop").prints("stop\n").check(|run| {
        let facts = run.facts();
        assert_eq!(facts.total(), kept(100, 2000), "{:#?}", facts.chains());
        assert_eq!(facts.chain("main > before"), kept(100, 2000));
    });
}

#[test]
fn restart() {
    api("restart").prints("restart\n").check(|run| {
        assert_eq!(run.facts().total(), kept(100, 2000));
        let second = run.read("mprof.data.2");
        assert_eq!(second.total(), kept(50, 1500), "{:#?}", second.chains());
        assert_eq!(second.chain("main > after"), kept(50, 1500));
    });
}

/// Each recording has what was allocated in it, although other threads allocate all the time.
#[test]
fn restart_again() {
    // A rest that misses a thread shows in a few of a hundred runs.
    for (way, times) in [("again", 3), ("saving", 1), ("coming", 3)] {
        for _ in 0..times {
            api(way).prints(&format!("{way}\n")).varies().check(|run| {
                for part in 0..10 {
                    let facts = run.read(&format!("mprof.data.1{part}"));
                    assert_eq!(facts.chain("main > after"), kept(10 + part, 30 * (10 + part)), "{part}");
                }
            });
        }
    }
}

/// Profiles are written while threads come and go: none of their events is lost.
#[test]
fn autosave_in_a_crowd() {
    api("crowd").prints("crowd\n").varies().check(|run| {
        assert_eq!(run.facts().direct("visitor"), freed(3 * 300 * 16, 3 * 300 * 16 * 24));
    });
}

/// A child of a program that has begun anew writes beside the new file.
#[test]
fn restart_then_fork() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(api("fork").build());
    command.arg("fork").current_dir(folder.path()).env("LD_PRELOAD", &Tools::get().library);
    assert!(with_default_signals(&mut command).status().unwrap().success());
    let names = || std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
    let children: Vec<_> = names().filter(|n| n.to_string_lossy().starts_with("mprof.data.2.")).collect();
    assert_eq!((children.len(), names().count()), (1, 3));
    assert_eq!(total(&folder.path().join(&children[0])), kept(7, 490));
    assert_eq!(total(&folder.path().join("mprof.data.2")), kept(50, 1500));
}

fn total(path: &std::path::Path) -> c_tests::Totals {
    Facts::total_of(&mprof_format::read(&std::fs::read(path).unwrap()).unwrap().profile)
}

#[test]
fn autosave() {
    let killed = || Status::Signalled(libc::SIGKILL);
    let asked = api("autosave").ends(killed()).no_reference();
    let by_environment = api("saved").env("MPROF_AUTOSAVE", "100").ends(killed()).no_reference();
    for program in [asked, by_environment] {
        program.check(|run| {
            assert_eq!(run.facts().chain("main > before"), kept(200, 4000));
            assert_eq!(run.facts().profile.process.reason, Reason::Autosave);
        });
    }
}

/// The last profile is the one of the end, whatever other threads are still about.
#[test]
fn autosave_at_the_end() {
    let program = Program::c("late_saves").flags("-O2 -pthread").varies().uncounted().unverified();
    // A writing that comes too late shows in a few of a hundred runs.
    for _ in 0..5 {
        program.clone().check(|run| assert_eq!(run.raw("mprof.data").process.reason, Reason::Exit));
    }
}

#[test]
fn start_off() {
    api("off").env("MPROF_START", "off").prints("off\n").check(|run| {
        assert_eq!(run.facts().total(), kept(50, 1500), "{:#?}", run.facts().chains());
        assert_eq!(run.facts().chain("main > after"), kept(50, 1500));
    });
}

/// Only the first process leaves a profile, whatever becomes of the others.
#[test]
fn follow_off() {
    for (name, prints) in [("fork", "child ended\n"), ("spawn", "four children\n"), ("exec", "image 3\n")] {
        let program = Program::c(name).flags("-O2").env("MPROF_FOLLOW", "0").prints(prints).uncounted();
        program.any_data().check(|run| assert_eq!(run.children().len(), 0, "{name}"));
    }
}

/// `%p` is the process id, also a child's; `%%` is a `%`.
#[test]
fn data_named_by_process() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(Program::c("fork").build());
    command.current_dir(folder.path()).env("LD_PRELOAD", &Tools::get().library);
    command.env("MPROF_DATA", "%n-%p.data");
    let child = with_default_signals(&mut command).spawn().unwrap();
    let id = child.id();
    assert!(child.wait_with_output().unwrap().status.success());
    let names = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
    names.sort();
    assert!(names.contains(&format!("fork-{id}.data")), "{names:?}");
    assert!(names.len() >= 2, "{names:?}");
    for name in names {
        let digits = name.strip_prefix("fork-").and_then(|rest| rest.strip_suffix(".data"));
        assert!(digits.is_some_and(|digits| digits.parse::<u32>().is_ok()), "{name}");
    }
}

fn snapshot(way: &str) -> Program {
    let program = Program::c("snapshot").flags("-O2 -pthread").args(&[way]).env("MPROF_SIGNAL", "USR2");
    program.varies().uncounted()
}

/// A signal's snapshots are taken while four threads allocate, and the program goes on.
#[test]
fn snapshots() {
    snapshot("on").prints("went on\n").check(|run| {
        assert_eq!(run.facts().chain("main > keep_one"), kept(30, 30_000));
        assert_eq!(run.facts().profile.process.reason, Reason::Exit);
    });
}

/// The last snapshot is whole, and stays where the program is killed.
#[test]
fn snapshot_then_killed() {
    snapshot("killed").ends(Status::Signalled(libc::SIGKILL)).unverified().check(|run| {
        let facts = run.facts();
        let ours = facts.chain("main > keep_one");
        assert!((25..=30).contains(&ours.allocs) && ours.bytes == 1000 * ours.allocs, "{ours:?}");
        assert_eq!(facts.profile.process.reason, Reason::Snapshot);
    });
}

/// Asked for after each instruction of an allocation and a free in turn.
#[test]
fn snapshot_steps() {
    let program = Program::c("snapshot_steps").flags("-O2").time_limit(300).env("MPROF_SIGNAL", "USR2");
    program.prints("stepped\n").check(|run| {
        let facts = run.facts();
        assert_eq!(facts.bin(Some(48)), totals(6, 288, 6, 288));
        assert_eq!(facts.ending("stepped").allocs, 6, "{:#?}", facts.chains());
    });
}
