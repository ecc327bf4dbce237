//! The ways in which a process ends.

use c_tests::{Program, Status, freed, kept};
use mprof_format::model::Reason;

fn immediate_exit(how: &str) -> Program {
    Program::c("immediate_exit").args(&[how]).prints(&format!("leaving by {how}\n")).ends(Status::Exited(9))
}

#[test]
fn underscore_exit() {
    immediate_exit("_exit").check(|run| {
        assert_eq!(run.facts().total(), kept(2, 280));
        assert_eq!(run.facts().chain("main > hold"), kept(2, 280));
        assert_eq!(run.facts().profile.process.reason, Reason::ImmediateExit);
    });
}

#[test]
fn capital_exit() {
    immediate_exit("_Exit").check(|run| {
        assert_eq!(run.facts().total(), kept(2, 280));
        assert_eq!(run.facts().profile.process.reason, Reason::ImmediateExit);
    });
}

#[test]
fn quick_exit() {
    immediate_exit("quick_exit").check(|run| {
        assert_eq!(run.facts().chain("main > hold"), kept(2, 280));
        assert_eq!(run.facts().ending("at_end"), kept(1, 60));
        assert_eq!(run.facts().profile.process.reason, Reason::QuickExit);
    });
}

#[test]
fn exit_from_inside() {
    immediate_exit("exit").check(|run| {
        assert_eq!(run.facts().total(), kept(2, 280));
        assert_eq!(run.facts().profile.process.reason, Reason::Exit);
    });
}

#[test]
fn abort() {
    Program::c("abort").prints("aborting\n").ends(Status::Signalled(libc::SIGABRT)).any_data().check(|_| {});
}

#[test]
fn killed() {
    let killed = Status::Signalled(libc::SIGKILL);
    Program::c("killed").prints("about to be killed\n").ends(killed).no_data().check(|_| {});
}

#[test]
fn atexit_chain() {
    Program::c("atexit_chain").prints("main returns\n").ends(Status::Exited(4)).check(|run| {
        let facts = run.facts();
        assert_eq!(facts.chain("main"), freed(1, 1000));
        for handler in ["first", "second", "third", "fourth"] {
            assert_eq!(facts.ending(handler), kept(1, 80), "{handler}");
        }
    });
}

#[test]
fn stdio_buffers() {
    Program::c("stdio_buffers").prints("hello\n").check(|run| {
        let facts = run.facts();
        // The buffer of stdout lives for ever; both files' FILE and buffer were given back.
        assert_eq!(facts.total().allocs - facts.total().frees, 1, "{:#?}", facts.chains());
        assert_eq!(facts.beginning("main"), facts.total());
    });
}

#[test]
fn double_free() {
    let aborted = Status::Signalled(libc::SIGABRT);
    Program::c("double_free").may_complain().prints("freeing twice\n").ends(aborted).any_data().check(|_| {});
}

fn wild_free(what: &str) {
    let program = Program::c("wild_free").args(&[what]).prints(&format!("freeing {what}\n"));
    program.ends(Status::Signalled(libc::SIGABRT)).any_data().may_complain().check(|_| {});
}

#[test]
fn wild_free_of_data() {
    wild_free("data");
}

#[test]
fn wild_free_of_the_stack() {
    wild_free("stack");
}

#[test]
fn wild_free_inside_an_object() {
    wild_free("inside");
}
