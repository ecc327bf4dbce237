//! Many threads and many children.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use c_tests::{Facts, Outcome, Program, Tools, freed, kept, totals, with_default_signals};
use mprof_format::model::{Bin, Profile};

#[test]
fn threads_crowd() {
    let program = Program::c("threads_crowd").flags("-O2 -pthread").prints("10000 and 1000\n");
    program.varies().uncounted().check(|run| {
        assert_eq!(run.facts().chain("brief"), freed(10_000, 210_000));
        assert_eq!(run.facts().chain("member"), totals(3000, 66_000, 2000, 44_000));
    });
}

#[test]
fn threads_unheard() {
    let program = Program::c("threads_unheard").flags("-O2 -pthread").prints("600 ended\n");
    program.varies().check(|run| assert_eq!(run.facts().chain("worker"), kept(600, 15_600)));
}

fn children_crowd(way: &str) -> Program {
    let program = Program::c("children_crowd").flags("-O2 -pthread").args(&[way]);
    program.prints(&format!("{way}\n")).varies().uncounted().no_reference()
}

fn children(run: &Outcome) -> Vec<Profile> {
    let names = run.data_files().into_iter().filter(|name| name != "mprof.data");
    names.map(|name| run.raw(&name)).collect()
}

fn of_size(profile: &Profile, size: u64) -> u64 {
    profile.bins.iter().find(|bin: &&Bin| bin.size == Some(size)).map_or(0, |bin| bin.allocs)
}

#[test]
fn short_children() {
    children_crowd("short").check(|run| {
        let children = children(run);
        assert_eq!(children.len(), 1000);
        for child in children {
            assert_eq!(Facts::total_of(&child), kept(1, 36), "{:?}", child.process);
        }
    });
}

#[test]
fn prefork() {
    children_crowd("prefork").check(|run| {
        let children = children(run);
        assert_eq!(children.iter().map(|child| of_size(child, 38)).sum::<u64>(), 200);
        assert!(children.len() <= 4);
    });
}

/// Children that no fork handler heard of, also of threads without a heap and of such as are about to end.
#[test]
fn raw_children() {
    children_crowd("raw").check(|run| {
        let children = children(run);
        assert_eq!(children.len(), 3);
        for child in children {
            assert_eq!((of_size(&child, 39), of_size(&child, 40)), (1, 1), "{:?}", child.process);
        }
    });
}

#[test]
fn children_that_exec() {
    children_crowd("exec").check(|run| assert_eq!(run.data_files(), ["mprof.data"]));
}

/// Children and grandchildren write their profiles when their parent's is long written.
#[test]
fn children_that_outlive_their_parent() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(children_crowd("outlive").build());
    command.arg("outlive").current_dir(folder.path()).env("LD_PRELOAD", &Tools::get().library);
    assert!(with_default_signals(&mut command).status().unwrap().success());
    let written = |folder: &Path| {
        let names = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        names.filter(|path| is_of_process(path)).collect::<Vec<_>>()
    };
    let mut waited = 0;
    while written(folder.path()).len() < 6 {
        assert!(waited < 1200, "{:?}", written(folder.path()));
        std::thread::sleep(Duration::from_millis(50));
        waited += 1;
    }
    for path in written(folder.path()) {
        let profile = mprof_format::read(&std::fs::read(&path).unwrap()).unwrap().profile;
        assert_eq!(of_size(&profile, 37), 1, "{}", path.display());
    }
}

fn is_of_process(path: &Path) -> bool {
    let name = path.file_name().unwrap().to_string_lossy();
    name.strip_prefix("mprof.data.").is_some_and(|id| id.bytes().all(|byte| byte.is_ascii_digit()))
}
