//! Leaks told by the library itself, when the program ends: `MPROF_LEAK_EXIT` and `MPROF_REPORT`.

use crate::scratch::{Done, Scratch, done, source};
use c_tests::Tools;
use std::fs;
use std::os::unix::fs::symlink;

/// A folder with the program, and an installation of the library and mpdisplay in `usr`.
fn installed() -> Scratch {
    let scratch = Scratch::new();
    let program = source("ends_with_leak.c");
    scratch.compile(&["-O0", "-g", "-o", "ends", program.to_str().expect("text"), "-lpthread"]);
    for folder in ["usr/lib", "usr/bin"] {
        fs::create_dir_all(scratch.file(folder)).expect("made");
    }
    fs::copy(&Tools::get().library, scratch.file("usr/lib/libmprof.so")).expect("copied");
    symlink(&Tools::get().mpdisplay, scratch.file("usr/bin/mpdisplay")).expect("linked");
    scratch
}

/// Runs `ends` with these words and variables (`NAME=VALUE`) under the library.
fn run(scratch: &Scratch, words: &str, variables: &[&str]) -> Done {
    let mut command = scratch.command("./ends");
    command.args(words.split_whitespace()).env("LD_PRELOAD", "./usr/lib/libmprof.so");
    // No mpdisplay of the machine's.
    command.env("PATH", "/nonexistent");
    for variable in variables {
        let (name, value) = variable.split_once('=').expect("NAME=VALUE");
        command.env(name, value);
    }
    done(command.output().expect("it runs"))
}

const ONE_LEAK: &str = "mpdisplay: leaks: 1 object, 100 bytes on 1 path\n";

#[test]
fn a_leak_becomes_the_exit_status() {
    let scratch = installed();
    let all = ["return", "_exit", "quick_exit", "thread", "watching", "ignoring", "full"];
    for way in all {
        let ended = run(&scratch, way, &["MPROF_LEAK_EXIT=23"]);
        assert_eq!(
            (ended.stdout.as_str(), ended.stderr.as_str(), ended.status),
            ("done\n", ONE_LEAK, 23),
            "{way}"
        );
        let clean = run(&scratch, &format!("{way} 0 0"), &["MPROF_LEAK_EXIT=23"]);
        // A thread's stack and the like, which the C library keeps on purpose.
        assert_eq!((clean.stdout.as_str(), clean.stderr.as_str(), clean.status), ("done\n", "", 0), "{way}");
    }
    for way in ["return", "_exit", "quick_exit"] {
        let failed = run(&scratch, &format!("{way} 3"), &["MPROF_LEAK_EXIT=23"]);
        assert_eq!(
            (failed.stdout.as_str(), failed.stderr.as_str(), failed.status),
            ("done\n", "", 3),
            "{way}"
        );
        let zero = run(&scratch, &format!("{way} 256"), &["MPROF_LEAK_EXIT=255"]);
        assert_eq!((zero.stderr.as_str(), zero.status), (ONE_LEAK, 255), "{way}");
    }
    let aborted = run(&scratch, "abort", &["MPROF_LEAK_EXIT=23", "MPROF_REPORT=1"]);
    assert_eq!((aborted.stderr.as_str(), aborted.status), ("", -6));
    let off = run(&scratch, "return", &["MPROF_LEAK_EXIT=0", "MPROF_REPORT=0"]);
    assert_eq!((off.stderr.as_str(), off.status), ("", 0));
}

#[test]
fn the_table_is_printed() {
    let scratch = installed();
    for way in ["return", "_exit", "quick_exit"] {
        let ended = run(&scratch, way, &["MPROF_REPORT=1"]);
        assert_eq!((ended.stdout.as_str(), ended.status), ("done\n", 0), "{way}");
        let table = ended.stderr.split_once("\nMemory leaks\n").expect("a table").1;
        let expected = "\n  allocs     bytes (%)     path\n\n       1       100 (99)    || > main\n";
        assert_eq!(table, format!("{expected}{ONE_LEAK}"), "{way}");
    }
    let failed = run(&scratch, "return 3", &["MPROF_REPORT=1", "MPROF_LEAK_EXIT=23"]);
    assert_eq!(failed.status, 3);
    assert!(failed.stderr.contains("|| > main\n"), "{}", failed.stderr);
    let clean = run(&scratch, "return 0 0", &["MPROF_REPORT=1"]);
    assert_eq!((clean.stderr.as_str(), clean.status), ("mprof: no objects were kept\n", 0));
}

#[test]
fn suppressions_are_obeyed_wherever_the_program_goes() {
    let scratch = installed();
    scratch.write("known.supp", "leak:^main$\n");
    for way in ["return", "elsewhere"] {
        let ended = run(&scratch, way, &["MPROF_LEAK_EXIT=23", "MPROF_SUPPRESSIONS=known.supp"]);
        assert_eq!((ended.stderr.as_str(), ended.status), ("", 0), "{way}");
    }
    let ended = run(&scratch, "return", &["MPROF_LEAK_EXIT=23", "MPROF_SUPPRESSIONS=missing.supp"]);
    assert_eq!(ended.status, 23, "what was not checked has not passed");
    assert!(ended.stderr.starts_with("mpdisplay: missing.supp: "), "{}", ended.stderr);
}

#[test]
fn forked_processes_have_leaks_of_their_own() {
    let scratch = installed();
    let ended = run(&scratch, "fork", &["MPROF_LEAK_EXIT=23"]);
    assert_eq!((ended.stdout.as_str(), ended.status), ("done\nchild: 23\n", 23));
    assert_eq!(ended.stderr, format!("mpdisplay: leaks: 1 object, 7 bytes on 1 path\n{ONE_LEAK}"));
    let ended = run(&scratch, "fork", &["MPROF_LEAK_EXIT=23", "MPROF_FOLLOW=0"]);
    assert_eq!((ended.stdout.as_str(), ended.stderr.as_str()), ("done\nchild: 0\n", ONE_LEAK));
    let ended = run(&scratch, "vfork", &["MPROF_LEAK_EXIT=23"]);
    assert_eq!((ended.stdout.as_str(), ended.stderr.as_str()), ("done\nchild: 0\n", ONE_LEAK));
}

#[test]
fn a_descriptor_of_the_programs_is_not_written_to() {
    let scratch = installed();
    for way in ["closed", "reused"] {
        let ended = run(&scratch, way, &["MPROF_LEAK_EXIT=23", "MPROF_REPORT=1"]);
        assert_eq!((ended.stdout.as_str(), ended.stderr.as_str(), ended.status), ("done\n", "", 23), "{way}");
    }
    assert_eq!(scratch.read("own.txt"), "");
}

#[test]
fn where_no_process_can_be_made_one_line_says_so() {
    let scratch = installed();
    let filter = "a system call filter of the program's forbids it";
    for (way, reason) in [
        ("no-processes", "permission denied"),
        ("no-programs", "permission denied"),
        ("deadly-processes", filter),
        ("deadly-programs", filter),
    ] {
        let ended = run(&scratch, way, &["MPROF_LEAK_EXIT=23"]);
        if ended.status == 77 {
            return crate::scratch::skipped("seccomp filters are not allowed here");
        }
        let line =
            format!("mprof: leaks are neither named nor suppressed: mpdisplay cannot be run: {reason}\n");
        assert_eq!((ended.stdout.as_str(), ended.stderr, ended.status), ("done\n", line, 23), "{way}");
    }
}

#[test]
fn without_mpdisplay_addresses_are_printed() {
    let scratch = installed();
    fs::remove_file(scratch.file("usr/bin/mpdisplay")).expect("removed");
    let ended = run(&scratch, "return", &["MPROF_REPORT=1", "MPROF_LEAK_EXIT=23"]);
    assert_eq!(ended.status, 23);
    let (reason, table) = ended.stderr.split_once('\n').expect("lines");
    let library = scratch.path().canonicalize().expect("it is there").join("usr/lib/libmprof.so");
    let expected = format!(
        "mprof: leaks are neither named nor suppressed: mpdisplay is not beside {}, in ../bin or on PATH",
        library.display()
    );
    assert_eq!(reason, expected);
    let table = table.strip_prefix("\nMemory leaks\n\n  allocs     bytes    path\n\n").expect("a heading");
    assert!(table.starts_with("       1       100    || > ends+0x"), "{table}");
    assert_eq!(table.lines().count(), 1, "{table}");
    // The innermost is `main`.
    let address = table.trim_end().rsplit_once("ends+").expect("an address").1;
    let line = scratch.command("addr2line").args(["-f", "-e", "ends", address]).output();
    if let Ok(line) = line {
        assert!(done(line).stdout.starts_with("main\n"));
    }
}

/// What the child is given: nothing of ours but the suppressions, no descriptors, no ignored signals of the program.
#[test]
fn the_child_is_not_profiled() {
    let scratch = installed();
    fs::remove_file(scratch.file("usr/bin/mpdisplay")).expect("removed");
    let script = "#!/bin/sh\nenv | grep -E '^(MPROF_|LD_)' > child.txt\n\
                  for number in 50 200 500; do test -e /proc/$$/fd/$number && echo $number >> child.txt; done\n\
                  printf '%s\\n' \"$@\" >> child.txt\ngrep SigBlk /proc/self/status >> child.txt\nexit 1\n";
    scratch.script("usr/bin/mpdisplay", script);
    let ended =
        run(&scratch, "full", &["MPROF_LEAK_EXIT=23", "MPROF_SUPPRESSIONS=a.supp", "PATH=/usr/bin:/bin"]);
    assert_eq!((ended.stderr.as_str(), ended.status), ("", 23));
    let data = scratch.path().canonicalize().expect("it is there").join("mprof.data");
    let expected = format!(
        "MPROF_SUPPRESSIONS=a.supp\n--no-pager\n--fail-on-leak\n--tables\nleaks\n--\n{}\n\
         SigBlk:\t0000000000000000\n",
        data.display()
    );
    assert_eq!(scratch.read("child.txt"), expected);
    assert_eq!(scratch.data_files(), ["mprof.data"]);
}

#[test]
fn wrong_values_are_told_and_left_out() {
    let scratch = installed();
    let ended = run(&scratch, "return", &["MPROF_LEAK_EXIT=256", "MPROF_REPORT=yes"]);
    assert_eq!(ended.status, 0);
    assert_eq!(
        ended.stderr,
        "mprof: MPROF_REPORT=yes is none of 0, 1; it is left out\n\
         mprof: MPROF_LEAK_EXIT=256 is no exit status (1 to 255); it is left out\n"
    );
}
