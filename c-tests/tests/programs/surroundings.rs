//! A program may take away what the monitor stands on: environment, folders, descriptors, streams.

use c_tests::{Program, Status, kept};

#[test]
fn environment_cleared() {
    Program::c("environment_cleared").prints("bare of environment\n").check(|run| {
        assert_eq!(run.facts().chain("main > in_parent"), kept(2, 340));
        let children = run.children();
        assert_eq!(children.len(), 1);
        assert_eq!(children[0].chain("main > in_child"), kept(1, 180));
    });
}

#[test]
fn folder_left() {
    Program::c("folder_left").prints("nowhere\n").check(|run| {
        assert_eq!(run.facts().chain("main > elsewhere"), kept(2, 380));
    });
}

#[test]
fn folder_removed() {
    let program = Program::c("folder_removed").prints("removed\n").ends(Status::Exited(6));
    program.says("mprof.data").no_data().check(|_| {});
}

#[test]
fn stderr_reused() {
    Program::c("stderr_reused").prints("file 2 is mine\n").no_reference().check(|run| {
        let own = std::fs::read_to_string(run.folder.join("own.log")).expect("the program wrote it");
        assert_eq!(own, "mine\n");
        assert_eq!(run.facts().chain("main"), kept(1, 15));
    });
}

/// As above, where the monitor has something to say: the file cannot be written.
#[test]
fn stderr_reused_and_nowhere_to_write() {
    let program = Program::c("stderr_reused").prints("file 2 is mine\n").no_data();
    program.env("MPROF_DATA", "/nonexistent/folder/mprof.data").check(|run| {
        let own = std::fs::read_to_string(run.folder.join("own.log")).expect("the program wrote it");
        assert_eq!(own, "mine\n");
    });
}

#[test]
fn descriptors_closed() {
    Program::c("descriptors_closed").prints("own file whole\n").check(|run| {
        let own = std::fs::read_to_string(run.folder.join("own.txt")).expect("the program wrote it");
        assert_eq!(own, "line\n".repeat(20));
        assert_eq!(run.facts().chain("main > keep_three"), kept(3, 630));
    });
}

/// Whether the profile can be written is open; where it cannot, the monitor says so.
#[test]
fn descriptors_used_up() {
    let program = Program::c("descriptors_used_up").prints("none left\n").ends(Status::Exited(7));
    program.any_data().may_complain().check(|_| {});
}
