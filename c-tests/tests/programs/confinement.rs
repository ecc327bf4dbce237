//! Limits: system call filters, memory, files and folders that cannot be had.

use std::process::Command;

use c_tests::{Facts, Program, Status, Tools, kept, with_default_signals};
use mprof_format::model::Reason;

/// A filter that forbids to open files: the profile is written before it is set.
#[test]
fn filtered() {
    for way in ["error", "trap", "kill", "strict"] {
        let program = Program::c("filtered").flags("-O2").args(&[way]).prints("confined\n").uncounted();
        program.no_reference().may_complain().check(|run| {
            let facts = run.facts();
            assert_eq!(facts.chain("main"), kept(3, 213), "{way}: {:#?}", facts.chains());
            assert_eq!(facts.bin(Some(72)).allocs, 200, "{way}: before the filter");
            assert_eq!(facts.profile.process.reason, Reason::Snapshot, "{way}");
        });
    }
    let program = Program::c("filtered").flags("-O2").args(&["refused"]).prints("confined\n");
    program.check(|run| {
        assert_eq!(run.facts().bin(Some(72)).allocs, 400);
        assert_eq!(run.facts().profile.process.reason, Reason::Exit);
    });
}

/// The kernel gives the monitor no more memory: what it cannot record it counts.
#[test]
fn no_mappings() {
    for way in ["first", "then", "threads"] {
        let program = Program::c("no_mappings").flags("-O2 -pthread").args(&[way]).prints("went on\n");
        program.any_data().may_complain().uncounted().check(|run| {
            let Ok(bytes) = std::fs::read(run.data()) else {
                assert!(run.output.stderr.contains("mprof: "), "{way}: neither a file nor a word");
                return;
            };
            let profile = mprof_format::read(&bytes).unwrap().profile;
            let total = Facts::total_of(&profile);
            // 100 + 300 + 40 + 64 × (memalign, malloc), and what the C library needs for threads. The realloc of an
            // object that could not be recorded is the C library's own.
            let seen = total.allocs + profile.process.unrecorded;
            assert!(
                (568..650).contains(&seen),
                "{way}: {} recorded, {} not",
                total.allocs,
                profile.process.unrecorded
            );
        });
    }
}

#[test]
fn file_limit() {
    let program = Program::c("file_limit").flags("-O2").prints("limited\n").says("mprof.data").no_data();
    program.check(|_| {});
}

/// In another root the way to the data file leads nowhere.
#[test]
fn changed_root() {
    // SAFETY: takes nothing.
    if unsafe { libc::geteuid() } != 0 {
        return eprintln!("SKIPPED: only root may change the root folder");
    }
    let program = Program::c("changed_root").flags("-O2").prints("elsewhere\n").ends(Status::Exited(12));
    program.says("mprof.data").no_data().check(|_| {});
}

/// A folder in which nobody can make a file.
#[test]
fn read_only_folder() {
    let program = Program::c("plain").flags("-O2").prints("plain\n").ends(Status::Exited(3)).no_data();
    program.env("MPROF_DATA", "/proc/self/mprof.data").says("/mprof.data").check(|_| {});
}

/// A full file system: one line, nothing half-written, and the program's own status.
#[test]
fn full_folder() {
    let mut probe = Command::new("unshare");
    probe.args(["-m", "mount", "-t", "tmpfs", "none", "/mnt"]);
    if !probe.output().is_ok_and(|output| output.status.success()) {
        return eprintln!("SKIPPED: no file system can be mounted here");
    }
    let program = Program::c("plain").flags("-O2").build();
    let script = "mount -t tmpfs -o size=4k,nr_inodes=8 none /mnt && cd /mnt && \
        head -c 8192 /dev/zero >filler 2>/dev/null; LD_PRELOAD=\"$1\" \"$0\"; echo \"status $?\"; ls";
    let mut command = Command::new("unshare");
    command.args(["-m", "sh", "-c", script]).arg(&program).arg(&Tools::get().library);
    let output = with_default_signals(&mut command).output().unwrap();
    let [out, err] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    assert_eq!(out, "plain\nstatus 3\nfiller\n", "{err}");
    assert_eq!(err.lines().count(), 1, "{err}");
    assert!(err.starts_with("mprof: ") && err.contains("/mnt/mprof.data"), "{err}");
}
