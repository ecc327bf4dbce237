//! Death by a signal, where `MPROF_ON_SIGNAL=1` asks for a profile then.

use c_tests::{Program, Status, kept};
use mprof_format::model::Reason;

fn dies(way: &str) -> Program {
    Program::c("dies").also("-pthread").args(&[way]).env("MPROF_ON_SIGNAL", "1").uncounted().no_reference()
}

/// It dies of the signal, and leaves a profile that says so.
fn of(way: &str, signal: i32) {
    let program = dies(way).prints(&format!("dying by {way}\n")).ends(Status::Signalled(signal));
    program.check(|run| {
        assert_eq!(run.facts().chain("main > hold"), kept(5, 295), "{:#?}", run.facts().chains());
        let process = &run.facts().profile.process;
        assert_eq!((process.reason, process.signal), (Reason::Signal, signal as u32));
    });
}

#[test]
fn of_what_others_send() {
    let signals = [
        ("TERM", libc::SIGTERM),
        ("INT", libc::SIGINT),
        ("HUP", libc::SIGHUP),
        ("QUIT", libc::SIGQUIT),
        ("USR1", libc::SIGUSR1),
        ("PIPE", libc::SIGPIPE),
        ("ALRM", libc::SIGALRM),
        ("XCPU", libc::SIGXCPU),
        ("SEGV", libc::SIGSEGV),
    ];
    signals.into_iter().for_each(|(name, signal)| of(name, signal));
}

#[test]
fn of_faults() {
    of("null", libc::SIGSEGV);
    of("division", libc::SIGFPE);
    of("instruction", libc::SIGILL);
    of("breakpoint", libc::SIGTRAP);
    of("bus", libc::SIGBUS);
}

#[test]
fn of_an_overflow_of_the_stack() {
    of("overflow", libc::SIGSEGV);
    of("thread", libc::SIGSEGV);
}

#[test]
fn of_abort() {
    of("abort", libc::SIGABRT);
    let program = dies("freed twice").ends(Status::Signalled(libc::SIGABRT)).may_complain();
    program.check(|run| assert_eq!(run.facts().chain("main > hold"), kept(5, 295)));
}

/// The program's own handler decides; and the default action that it puts back is ours again.
#[test]
fn with_handlers_of_its_own() {
    let own = dies("own").prints("dying by own\nown handler\n").ends(Status::Exited(20 + libc::SIGTERM));
    own.check(|run| assert_eq!(run.facts().profile.process.reason, Reason::ImmediateExit));
    let chained = dies("chained").ends(Status::Exited(30));
    chained.check(|run| assert_eq!(run.facts().profile.process.reason, Reason::ImmediateExit));
    for way in ["cleaner", "restored"] {
        let program = dies(way).ends(Status::Signalled(libc::SIGTERM));
        program.check(|run| {
            assert_eq!(run.facts().chain("main > hold"), kept(5, 295), "{way}");
            assert_eq!(run.facts().profile.process.reason, Reason::Signal, "{way}");
        });
    }
}

#[test]
fn not_of_what_it_ignores_or_takes() {
    for (way, status) in [("ignored", 8), ("blocked", 9)] {
        let program = dies(way).ends(Status::Exited(status));
        program.check(|run| assert_eq!(run.facts().profile.process.reason, Reason::Exit, "{way}"));
    }
}

/// Without the variable there is no handler of ours, and no profile.
#[test]
fn unasked() {
    for (way, signal) in [("TERM", libc::SIGTERM), ("null", libc::SIGSEGV)] {
        let program = Program::c("dies").also("-pthread").args(&[way]).ends(Status::Signalled(signal));
        program.no_data().check(|_| {});
    }
}

#[test]
fn of_an_assertion() {
    let program = Program::c("assertion").ends(Status::Signalled(libc::SIGABRT)).no_reference().uncounted();
    program.check(|run| {
        assert_eq!(run.facts().chain("main"), kept(2, 154));
        assert_eq!(run.facts().profile.process.reason, Reason::Abort);
    });
}

#[test]
fn by_the_system_call_itself() {
    for way in ["group", "thread"] {
        let program = Program::c("raw_exit").args(&[way]).prints("leaving\n").ends(Status::Exited(5));
        program.check(|run| {
            assert_eq!(run.facts().chain("main > hold"), kept(4, 140), "{way}");
            assert_eq!(run.facts().profile.process.reason, Reason::ImmediateExit);
        });
    }
}

#[test]
fn by_a_thread() {
    let program = Program::c("thread_exits").also("-pthread").prints("a thread leaves\n");
    program.ends(Status::Exited(7)).varies().check(|run| {
        assert_eq!(run.facts().chain("main"), kept(2, 170));
        assert_eq!(run.facts().ending("at_end"), kept(1, 86));
    });
}
